/** Stores what is true: new, confirmed, or in place of what was believed before. */
import type { Sql } from "../adapters/db/port.ts";
import { DECAY_PER_DAY, type Permanence } from "../domain/decay.ts";
import { invalid, notFound } from "../domain/errors.ts";
import { next } from "../domain/lifecycle.ts";
import { isPerson } from "../domain/person.ts";
import type { Found } from "../domain/redact.ts";
import { canSee, writableScope } from "../domain/scope.ts";
import { judgeFact } from "../domain/supersede.ts";
import { normaliseKey } from "../domain/text.ts";
import { atMost, MOST_CONFIDENT, type Trust, vouched } from "../domain/trust.ts";
import { type Episode, findEpisode } from "../store/episodes.ts";
import { changeFact, type Fact, type FactChange, insertFact, lockLiveFact } from "../store/facts.ts";
import { insertLinks, type Link } from "../store/links.ts";
import { setVisibility } from "../store/vectors.ts";
import { birth } from "./birth.ts";
import { claimBefore, contradictedNote, doubtFact, echoNote } from "./contradict-fact.ts";
import { factText, file, foldSoon, shelfOf, unfile, vectorsOf, visibleUntil } from "./filing.ts";
import type { Call } from "./memory.ts";
import { openRedactor } from "./privacy.ts";
import { relatedLinks } from "./related.ts";
import { type Writing, write } from "./write.ts";

export interface FactInput {
  readonly subject: string;
  readonly predicate: string;
  readonly content: string;
  readonly importance?: number | undefined;
  readonly permanence?: Permanence | undefined;
  readonly scope?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly confidence?: number | undefined;
  readonly valid_from?: Date | undefined;
  readonly valid_to?: Date | undefined;
  readonly source_episode_id?: string | undefined;
  readonly metadata?: Record<string, unknown> | undefined;
  readonly trust?: Trust | undefined;
}

export interface FactAnswer {
  readonly id: string;
  readonly status: "created" | "confirmed" | "superseded";
  readonly superseded_id: string | null;
  readonly state: Fact["validity"];
  readonly subject: string;
  readonly predicate: string;
  readonly scope: string;
  readonly redactions: readonly Found[];
  /** The fact of a better source that says otherwise, and stays. */
  readonly contradicts_id?: string;
  /** Why nothing was changed. */
  readonly note?: string;
}

export async function rememberFact(call: Call, input: FactInput): Promise<FactAnswer> {
  const { memory } = call;
  const redactor = openRedactor(memory);
  const drawn = factFrom(call, input, redactor);
  const vector = await vectorsOf(memory, factText(drawn));
  const sk = await shelfOf(call, drawn.scope, "fact");
  const redactions = redactor.redactions;

  const { answer } = await write(call, "memory_store_fact", input, async (writing) => {
    const fact = asGoodAs(await checkSource(call, writing.sql, input.source_episode_id), drawn);
    const key = { tenant: fact.tenant_id, scope: fact.scope, subject: fact.subject, predicate: fact.predicate };
    const live = await lockLiveFact(writing.sql, key);
    const told = { content: fact.content, validTo: fact.valid_to ?? undefined, trust: fact.trust };
    const verdict = judgeFact(told, live, call.now);
    if (verdict === "echo" && live) {
      const echo = { by: fact.trust, ...(input.source_episode_id ? { in: input.source_episode_id } : {}) };
      writing.tell({ type: "fact.echoed", entity: { type: "fact", id: live.id }, scope: live.scope, payload: echo });
      return { ...answerOf(live.id, "confirmed", null, live.validity), note: echoNote(live) };
    }
    if (verdict === "contradict" && live) return { ...(await claim(live)), note: contradictedNote(live) };
    if (verdict === "confirm" && live) {
      await confirmLive(call, writing, live, input, fact.trust);
      return answerOf(live.id, "confirmed", null, "active");
    }
    if (verdict === "supersede" && live) {
      await retire(call, writing, live, fact.id);
      await insert({ ...fact, supersedes_id: live.id });
      return answerOf(fact.id, "superseded", live.id, fact.validity);
    }
    const born: Fact = verdict === "history" ? { ...fact, validity: "expired" } : fact;
    await insert(born);
    return answerOf(born.id, "created", null, born.validity);

    /** Kept in no live state: it can be looked at, and restored once the fact is gone. */
    async function claim(holder: Fact): Promise<FactAnswer> {
      const contradicts_id = holder.id;
      const before = await claimBefore(call, writing, holder, fact.content);
      if (before) return { ...answerOf(before.id, "confirmed", null, before.validity), contradicts_id };
      await insert({ ...fact, validity: "expired" }, holder.id);
      await doubtFact(call, writing, holder, { claim: fact.content, by: fact.id });
      return { ...answerOf(fact.id, "created", null, "expired"), contradicts_id };
    }

    function related(row: Fact): Promise<Link[]> {
      const episodes = row.source_episode_id ? [row.source_episode_id] : [];
      return relatedLinks(call, writing.sql, { type: "fact", ...row }, episodes);
    }

    async function insert(row: Fact, against?: string): Promise<void> {
      await insertFact(writing.sql, row);
      const until = visibleUntil(memory, row, row.valid_to);
      await file(writing.sql, memory, [{ id: row.id, sk, text: factText(row), vector, visibleUntil: until }]);
      if (row.validity === "expired") await unfile(writing.sql, [row.id], call.now);
      const links = [...linksFrom(call, row, against), ...(against === undefined ? await related(row) : [])];
      await insertLinks(writing.sql, links);
      writing.tell({
        type: "fact.stored",
        entity: { type: "fact", id: row.id },
        scope: row.scope,
        payload: { row, links, redactions },
      });
    }
  });
  foldSoon(memory, sk, 1);
  return answer;

  function answerOf(
    id: string,
    status: FactAnswer["status"],
    superseded_id: string | null,
    state: Fact["validity"],
  ): FactAnswer {
    const { subject, predicate, scope } = drawn;
    return { id, status, superseded_id, state, subject, predicate, scope, redactions };
  }
}

export function factFrom(call: Call, input: FactInput, redactor: ReturnType<typeof openRedactor>): Fact {
  const { caller, now } = call;
  const permanence = input.permanence ?? "standard";
  const subjectText = redactor.text(input.subject).trim();
  const predicateText = redactor.text(input.predicate).trim();
  const subject = normaliseKey(subjectText);
  const predicate = normaliseKey(predicateText);
  if (subject === "") throw invalid("subject", "subject has no letters or digits to know it by.");
  if (predicate === "") throw invalid("predicate", "predicate has no letters or digits to know it by.");
  return {
    subject,
    predicate,
    subject_text: subjectText,
    predicate_text: predicateText,
    content: redactor.text(input.content),
    scope: writableScope(caller, input.scope, isPerson(subject)),
    validity: "active",
    permanence,
    supersedes_id: null,
    superseded_at: null,
    valid_from: input.valid_from ?? null,
    valid_to: input.valid_to ?? null,
    confidence: input.confidence ?? 1,
    decay_rate: DECAY_PER_DAY[permanence],
    last_confirmed_at: now,
    ...birth(call, redactor, { ...input, source: sourceOf(call, input.source_episode_id) }),
  };
}

export function sourceOf(call: Call, episode: string | undefined): string {
  if (episode !== undefined) return `episode:${episode}`;
  return call.caller.session === undefined ? "manual" : `session:${call.caller.session}`;
}

/** Provenance must be real: an episode that the caller cannot see cannot be cited. */
export async function checkSource(call: Call, sql: Sql, episodeId: string | undefined): Promise<Episode | undefined> {
  if (episodeId === undefined) return undefined;
  const episode = await findEpisode(sql, call.caller.tenant, episodeId);
  if (!episode || episode.expires_at <= call.now || !canSee(call.caller, episode.butler))
    throw notFound(
      `source_episode_id ${episodeId} is not an episode that you can see; leave it out or store the episode first.`,
    );
  return episode;
}

/** What is told because of an episode is no better than the episode, and of a tool's words nobody is sure. */
function asGoodAs(source: Episode | undefined, fact: Fact): Fact {
  const trust = atMost(fact.trust, source?.trust ?? fact.trust);
  const confidence = trust === "tool" ? Math.min(fact.confidence, MOST_CONFIDENT.tool) : fact.confidence;
  return { ...fact, trust, confidence };
}

function linksFrom(call: Call, row: Fact, against: string | undefined): Link[] {
  const base = {
    tenant_id: row.tenant_id,
    source_type: "fact",
    source_id: row.id,
    request_id: call.request?.request_id ?? null,
    created_at: call.now,
  } as const;
  const links: Link[] = [];
  if (row.source_episode_id)
    links.push({ ...base, target_type: "episode", target_id: row.source_episode_id, relation: "derived_from" });
  if (row.supersedes_id)
    links.push({ ...base, target_type: "fact", target_id: row.supersedes_id, relation: "supersedes" });
  if (against) links.push({ ...base, target_type: "fact", target_id: against, relation: "contradicts" });
  return links;
}

/** Said again: the anchor moves, and what was told explicitly this time is taken over. */
async function confirmLive(
  call: Call,
  { sql, tell }: Writing,
  live: Fact,
  input: FactInput,
  trust: Trust,
): Promise<void> {
  const set: FactChange = {
    trust: vouched(live.trust, trust),
    validity: next(live.validity, "confirm"),
    last_confirmed_at: call.now,
    confidence: Math.max(live.confidence, input.confidence ?? 0),
    ...(input.importance === undefined ? {} : { importance: input.importance }),
    ...(input.permanence === undefined
      ? {}
      : { permanence: input.permanence, decay_rate: DECAY_PER_DAY[input.permanence] }),
    ...(input.valid_from === undefined ? {} : { valid_from: input.valid_from }),
    ...(input.valid_to === undefined ? {} : { valid_to: input.valid_to }),
  };
  const after: Fact = { ...live, ...set };
  if (after.valid_from !== null && after.valid_to !== null && after.valid_to < after.valid_from)
    throw invalid("valid_to", `valid_to is before the fact's valid_from, ${after.valid_from.toISOString()}.`);
  await changeFact(sql, live.id, live.validity, set);
  await setVisibility(sql, live.id, visibleUntil(call.memory, after, after.valid_to));
  const links = supportFrom(call, live, input.source_episode_id);
  await insertLinks(sql, links);
  tell({
    type: "fact.repeated",
    entity: { type: "fact", id: live.id },
    scope: live.scope,
    payload: {
      set,
      from: live.validity,
      ...(input.source_episode_id ? { links, supported_by: input.source_episode_id } : {}),
    },
  });
}

function supportFrom(call: Call, fact: Fact, episode: string | undefined): Link[] {
  if (episode === undefined) return [];
  return [
    {
      tenant_id: fact.tenant_id,
      source_type: "episode",
      source_id: episode,
      target_type: "fact",
      target_id: fact.id,
      relation: "supports",
      request_id: call.request?.request_id ?? null,
      created_at: call.now,
    },
  ];
}

export async function retire(call: Call, { sql, tell }: Writing, live: Fact, by: string): Promise<void> {
  const set: FactChange = { validity: next(live.validity, "supersede"), superseded_at: call.now };
  await changeFact(sql, live.id, live.validity, set);
  await unfile(sql, [live.id], call.now);
  tell({
    type: "fact.superseded",
    entity: { type: "fact", id: live.id },
    scope: live.scope,
    payload: { set, from: live.validity, superseded_by: by },
  });
}
