/** Writes what was decided: rows, links and events of one batch, inside its transaction. */

import { integrity } from "../../domain/errors.ts";
import type { Fact } from "../../domain/fact.ts";
import type { Change, Lowered, RuleDraft } from "../../domain/learning/change.ts";
import { MOST_SURE_RULE, saidAgain } from "../../domain/learning/sureness.ts";
import { isWeaker, MOST_CONFIDENT, type Trust, vouched } from "../../domain/learning/trust.ts";
import { next } from "../../domain/lifecycle/lifecycle.ts";
import { reviewEnd, type Source } from "../../domain/lifecycle/quarantine.ts";
import type { Link } from "../../domain/link.ts";
import { setVisibility } from "../../store/index/vectors.ts";
import { changeFact, findFact, insertFact } from "../../store/memories/facts.ts";
import { insertLinks } from "../../store/memories/links.ts";
import { changeRule, findRule, insertRule, lockTwinRule, ruleJson } from "../../store/memories/rules.ts";
import type { Call } from "../memory.ts";
import { openRedactor } from "../privacy.ts";
import { doubtFact } from "../remember/contradict-fact.ts";
import { reviewedBy } from "../remember/corroborate.ts";
import { retire } from "../remember/fact-key.ts";
import { type Indexed, indexMemories, shelfOf, visibleUntil } from "../remember/index-memory.ts";
import { linkOf, relatedLinks } from "../remember/links.ts";
import { factFrom } from "../remember/store-fact.ts";
import { repeatRule, ruleFrom, ruleKey } from "../remember/store-rule.ts";
import { indexedFact, sealedFact } from "../sealing.ts";
import { eventOf, type Writing } from "../write.ts";
import type { Embeddings } from "./known.ts";

interface Applying {
  readonly call: Call;
  readonly writing: Writing;
  readonly run: string;
  readonly embeddings: Embeddings;
  /** The requests that the episodes were stored for, by episode. */
  readonly requests: ReadonlyMap<string, string>;
  /** In which session and when they were said, by episode. */
  readonly sessions: ReadonlyMap<string, Pick<Source, "session" | "at">>;
  /** What was stored and is not in the indexes of search yet: they take many at once in a third of the time. */
  readonly unindexed: Indexed[];
}

/** Returns the ids of the facts and rules that were stored or changed, in the order of the changes. */
export async function applyChanges(told: Omit<Applying, "unindexed">, changes: readonly Change[]): Promise<string[]> {
  const applying: Applying = { ...told, unindexed: [] };
  const ids: string[] = [];
  for (const change of changes) ids.push(await apply(traced(applying, change), change));
  await indexStored(applying);
  return ids;
}

async function indexStored({ call, writing, unindexed }: Applying): Promise<void> {
  if (unindexed.length > 0) await indexMemories(writing.sql, call.memory, unindexed.splice(0));
}

/** Events of a change carry the request id of its last episode that has one, unless the call has a request id of its own. */
function traced(applying: Applying, { episodes }: Change): Applying {
  const { call, writing, requests } = applying;
  const request_id = episodes.flatMap((id) => requests.get(id) ?? []).at(-1);
  if (call.request !== undefined || request_id === undefined) return applying;
  const under: Call = { ...call, request: { request_id } };
  const tell: Writing["tell"] = (happened) => writing.record(eventOf(under, happened));
  return { ...applying, call: under, writing: { ...writing, tell } };
}

function apply(applying: Applying, change: Change): Promise<string> {
  switch (change.kind) {
    case "create_fact":
      return storeFact(applying, change, [], change.contradicts);
    case "supersede_fact":
      return storeFact(applying, change, change.replaced, []);
    case "confirm_fact":
      return confirmFact(applying, change);
    case "contradict_fact":
      return doubt(applying, change.lowered.id, {
        links: change.episodes.map((id) =>
          linkOf(applying.call, ["episode", id], "contradicts", ["fact", change.lowered.id]),
        ),
        claim: change.claim,
      });
    case "create_rule":
      return storeRule(applying, change);
    case "confirm_rule":
      return confirmRule(applying, change);
  }
}

const thresholdOf = ({ memory }: Call): number => memory.settings.facts.retrieval_confidence_threshold;
const lastOf = (episodes: readonly string[]): string | undefined => episodes.at(-1);

async function storeFact(
  applying: Applying,
  change: Extract<Change, { kind: "create_fact" | "supersede_fact" }>,
  replaced: readonly string[],
  contradicts: readonly Lowered[],
): Promise<string> {
  const { call, writing, run, embeddings } = applying;
  const { memory, caller } = call;
  const redactor = openRedactor(memory);
  const { valid_from, valid_to, learned, ...draft } = change.fact;
  const told = {
    ...{ ...draft, valid_from: valid_from ?? undefined, valid_to: valid_to ?? undefined },
    metadata: { learned },
  };
  const row: Fact = {
    ...factFrom(call, { ...told, source_episode_id: lastOf(change.episodes) }, redactor),
    source: `consolidation:${run}`,
    supersedes_id: replaced[0] ?? null,
  };
  for (const id of replaced) {
    const old = await findFact(writing.sql, caller.tenant, id, true);
    if (old === undefined) throw integrity(`the fact ${id} that is to be superseded is gone.`);
    await retire(call, writing, old, row.id);
  }
  const stored = sealedFact(call, row);
  await insertFact(writing.sql, stored);
  const sk = await shelfOf(call, row.scope, "fact", writing.sql);
  const until = visibleUntil(memory, row, row.valid_to);
  const vector = embeddings.facts[change.nth];
  applying.unindexed.push({ id: row.id, sk, text: indexedFact(memory, row), vector, visibleUntil: until });
  const links = [
    ...change.episodes.map((id) => linkOf(call, ["fact", row.id], "derived_from", ["episode", id])),
    ...replaced.map((id) => linkOf(call, ["fact", row.id], "supersedes", ["fact", id])),
    ...contradicts.map(({ id }) => linkOf(call, ["fact", row.id], "contradicts", ["fact", id])),
    ...change.disputers.map((id) => linkOf(call, ["episode", id], "contradicts", ["fact", row.id])),
    ...(await relatedLinks(call, writing.sql, { type: "fact", ...row }, change.episodes)),
  ];
  await insertLinks(writing.sql, links);
  writing.tell({
    type: "fact.stored",
    entity: { type: "fact", id: row.id },
    scope: row.scope,
    payload: { row: stored, links, redactions: redactor.redactions, run },
  });
  for (const lowered of contradicts)
    await doubt(applying, lowered.id, { by: row.id }, { ...lowered, trust: row.trust });
  return row.id;
}

async function confirmFact(
  applying: Applying,
  { id, episodes, trust, voices }: Extract<Change, { kind: "confirm_fact" }>,
): Promise<string> {
  const { call, writing, run } = applying;
  const fact = await findFact(writing.sql, call.caller.tenant, id, true);
  if (fact === undefined) throw integrity(`the fact ${id} that is to be confirmed is gone.`);
  const set = {
    validity: next(fact.validity, "confirm"),
    last_confirmed_at: fact.waits_until ?? call.now,
    trust: vouched(fact.trust, trust),
    ...saidAgain(fact, MOST_CONFIDENT[trust], thresholdOf(call)),
    ...(await reviewedBy(call, writing.sql, fact, saidIn(applying, episodes, voices))),
  };
  await changeFact(writing.sql, id, fact.validity, set);
  await setVisibility(writing.sql, id, visibleUntil(call.memory, { ...fact, ...set }, fact.valid_to));
  const links = episodes.map((episode) => linkOf(call, ["episode", episode], "supports", ["fact", id]));
  await insertLinks(writing.sql, links);
  const payload = { set, from: fact.validity, links, run };
  writing.tell({ type: "fact.confirmed", entity: { type: "fact", id }, scope: fact.scope, payload });
  return id;
}

const saidIn = ({ call, sessions }: Applying, episodes: readonly string[], voices: readonly Trust[]): Source[] =>
  episodes.map((id, at) => ({
    ...(sessions.get(id) ?? { session: null, at: call.now }),
    trust: voices[at] ?? "tool",
  }));

/** `by`: the trust of the contradicting fact and the confidence it leaves, which counts if it is trusted as much. */
async function doubt(
  { call, writing, run }: Applying,
  id: string,
  why: { readonly links?: readonly Link[]; readonly claim?: string; readonly by?: string },
  by?: Lowered & { readonly trust: Trust },
): Promise<string> {
  const fact = await findFact(writing.sql, call.caller.tenant, id, true);
  if (fact === undefined) throw integrity(`the fact ${id} that is contradicted is gone.`);
  const confidence = by === undefined || isWeaker(by.trust, fact.trust) ? undefined : by.confidence;
  await doubtFact(call, writing, fact, { ...why, run, confidence });
  return id;
}

async function storeRule(
  applying: Applying,
  change: {
    readonly rule: RuleDraft;
    readonly nth: number;
    readonly episodes: readonly string[];
    readonly contradicts: readonly Lowered[];
  },
): Promise<string> {
  const { call, writing, run, embeddings } = applying;
  const { memory, caller } = call;
  const redactor = openRedactor(memory);
  const source_episode_id = lastOf(change.episodes);
  const { learned, confidence, ...told } = change.rule;
  const row = {
    ...ruleFrom(call, { ...told, source_episode_id }, redactor),
    ...{ source: `consolidation:${run}`, metadata: { learned } },
    ...(confidence === undefined ? {} : { confidence }),
  };
  const sk = await shelfOf(call, row.scope, "rule", writing.sql);
  // A twin is not among the known rules if it has expired or become a warning.
  const twin = await lockTwinRule(writing.sql, caller.tenant, row.scope, ruleKey(row.content));
  if (twin !== undefined) {
    if (twin.maturity === "anti_pattern") return twin.id;
    // It may be one of this answer.
    await indexStored(applying);
    const voices = change.episodes.map(() => row.trust);
    await repeatRule(call, writing, twin, sk, row.trust, saidIn(applying, change.episodes, voices));
    return confirmRule(applying, { id: twin.id, episodes: change.episodes, trust: row.trust, voices });
  }
  await insertRule(writing.sql, row);
  const until = visibleUntil(memory, row);
  const vector = embeddings.rules[change.nth];
  applying.unindexed.push({ id: row.id, sk, text: row.content, vector, visibleUntil: until });
  const links = [
    ...change.episodes.map((id) => linkOf(call, ["rule", row.id], "derived_from", ["episode", id])),
    ...change.contradicts.map(({ id }) => linkOf(call, ["rule", row.id], "contradicts", ["rule", id])),
    ...(await relatedLinks(call, writing.sql, { type: "rule", id: row.id, scope: row.scope }, change.episodes)),
  ];
  await insertLinks(writing.sql, links);
  writing.tell({
    type: "rule.stored",
    entity: { type: "rule", id: row.id },
    scope: row.scope,
    payload: { row: ruleJson(row), links, redactions: redactor.redactions, run },
  });
  for (const { id, confidence } of change.contradicts) await moveRule(applying, id, "contradicted", { confidence }, []);
  return row.id;
}

function confirmRule(
  applying: Applying,
  { id, episodes, trust, voices }: Omit<Extract<Change, { kind: "confirm_rule" }>, "kind" | "nth">,
): Promise<string> {
  const said = saidIn(applying, episodes, voices);
  const links = episodes.map((episode) => linkOf(applying.call, ["episode", episode], "supports", ["rule", id]));
  return moveRule(applying, id, "confirmed", { last_confirmed_at: applying.call.now, trust }, links, said);
}

async function moveRule(
  applying: Applying,
  id: string,
  what: "confirmed" | "contradicted",
  told: { readonly confidence: number } | { readonly last_confirmed_at: Date; readonly trust: Trust },
  links: readonly Link[],
  said: readonly Source[] = [],
): Promise<string> {
  const { call, writing, run } = applying;
  const rule = await findRule(writing.sql, call.caller.tenant, id, true);
  if (rule === undefined) throw integrity(`the rule ${id} is gone.`);
  const validity = what === "confirmed" ? (next(rule.validity, "confirm") as typeof rule.validity) : rule.validity;
  const risen =
    "trust" in told
      ? {
          ...{ trust: vouched(rule.trust, told.trust), ...saidAgain(rule, MOST_SURE_RULE, thresholdOf(call)) },
          ...(await reviewedBy(call, writing.sql, rule, said)),
        }
      : { review_until: reviewEnd(call.now) };
  const set = { ...told, validity, ...risen };
  await changeRule(writing.sql, id, rule.validity, set);
  await setVisibility(writing.sql, id, visibleUntil(call.memory, { ...rule, ...set }));
  await insertLinks(writing.sql, links);
  const payload = { set, from: rule.validity, ...(links.length === 0 ? {} : { links }), run };
  writing.tell({ type: `rule.${what}`, entity: { type: "rule", id }, scope: rule.scope, payload });
  return id;
}
