/** Stores a fact: a new one, a confirmation, or one that supersedes what was believed before. */

import type { Sql } from "../../adapters/db/port.ts";
import type { Episode } from "../../domain/episode.ts";
import { invalid, notFound } from "../../domain/errors.ts";
import type { Claim, Fact } from "../../domain/fact.ts";
import { isPerson } from "../../domain/learning/person.ts";
import { toldByHand } from "../../domain/learning/sureness.ts";
import { atMost, MOST_CONFIDENT, vouched } from "../../domain/learning/trust.ts";
import { DECAY_PER_DAY } from "../../domain/lifecycle/decay.ts";
import { isLive, next } from "../../domain/lifecycle/lifecycle.ts";
import { reviewAtBirth, type Source } from "../../domain/lifecycle/quarantine.ts";
import { judgeTold } from "../../domain/lifecycle/supersede.ts";
import type { Link, Relation } from "../../domain/link.ts";
import type { MemoryType, Optional } from "../../domain/memory-types.ts";
import { waitsFor } from "../../domain/present.ts";
import type { Found } from "../../domain/redaction/redact.ts";
import { canSee, ladderOf, writableScope } from "../../domain/scope.ts";
import { normaliseKey } from "../../domain/text/text.ts";
import { setVisibility } from "../../store/index/vectors.ts";
import { findEpisode } from "../../store/memories/episodes.ts";
import { changeFact, type FactChange, insertFact } from "../../store/memories/facts.ts";
import { insertLinks } from "../../store/memories/links.ts";
import { vectorsOf } from "../embed.ts";
import type { Call } from "../memory.ts";
import { openRedactor } from "../privacy.ts";
import { indexedFact, sealedFact } from "../sealing.ts";
import { type Writing, write } from "../write.ts";
import { claimBefore, contradictedNote, doubtFact, echoNote } from "./contradict-fact.ts";
import { reviewedBy } from "./corroborate.ts";
import { holdersOf, retire, stepOf } from "./fact-key.ts";
import { foldSoon, hideFromSearch, indexMemories, shelfOf, visibleUntil } from "./index-memory.ts";
import { linkOf, relatedLinks } from "./links.ts";
import { newMemory } from "./new-memory.ts";

export type FactInput = Claim &
  Optional<Pick<Fact, "importance" | "permanence" | "scope" | "tags" | "confidence" | "valid_from" | "valid_to">> &
  Optional<Pick<Fact, "source_episode_id" | "metadata" | "trust">>;

export interface FactAnswer extends Pick<Fact, "id" | "scope" | "subject" | "predicate"> {
  readonly status: "created" | "confirmed" | "superseded";
  readonly superseded_id: string | null;
  readonly state: Fact["validity"];
  readonly redactions: readonly Found[];
  /** From when on it is true, if that lies ahead. */
  readonly begins?: string;
  /** The fact of a better trusted source that says otherwise, and stays. */
  readonly contradicts_id?: string;
  /** Why nothing was changed. */
  readonly note?: string;
}

export async function rememberFact(call: Call, input: FactInput): Promise<FactAnswer> {
  const { memory } = call;
  const redactor = openRedactor(memory);
  const drawn = factFrom(call, input, redactor);
  const vector = await vectorsOf(memory, indexedFact(memory, drawn));
  const redactions = redactor.redactions;
  // Shelves are created before the transaction: one that is rolled back would create them again at each attempt.
  await memory.shelves.of(call.caller.tenant, [drawn.scope, ...ladderOf(call.caller.butler)]);

  const { answer } = await write(call, "memory_store_fact", input, async (writing) => {
    const source = await checkSource(call, writing.sql, input.source_episode_id);
    let fact = limitTrust(call, source, drawn);
    fact = { ...fact, scope: await stepOf(call, writing, fact, input.scope) };
    const held = await holdersOf(call, writing, fact);
    const { verdict, holder, replaced } = judgeTold(fact, held, call.now);
    if (verdict === "echo" && holder) {
      const echo = { by: fact.trust, ...(input.source_episode_id ? { in: input.source_episode_id } : {}) };
      const entity = { type: "fact", id: holder.id } as const;
      writing.tell({ type: "fact.echoed", entity, scope: holder.scope, payload: echo });
      return { ...answerOf(holder, "confirmed"), note: echoNote(holder) };
    }
    if (verdict === "contradict" && holder) return { ...(await claim(holder)), note: contradictedNote(call, holder) };
    if (verdict === "confirm" && holder)
      return answerOf(await confirmLive(call, writing, holder, input, saidBy(call, fact, source)), "confirmed");
    for (const old of replaced) await retire(call, writing, old, fact.id);
    const [first] = replaced;
    if (first) {
      await insert({ ...fact, supersedes_id: first.id }, replaced.slice(1));
      return answerOf(fact, "superseded", first.id);
    }
    const stored: Fact = verdict === "history" ? { ...fact, validity: "expired" } : fact;
    await insert(stored);
    return answerOf(stored, "created");

    /** The claim is stored as expired: it can be read, and restored once the other fact is gone. */
    async function claim(holder: Fact): Promise<FactAnswer> {
      const contradicts_id = holder.id;
      const before = await claimBefore(call, writing, holder, fact.content);
      if (before) return { ...answerOf(before, "confirmed"), contradicts_id };
      const claimed: Fact = { ...fact, validity: "expired" };
      await insert(claimed, [], holder.id);
      await doubtFact(call, writing, holder, { claim: fact.content, by: fact.id });
      return { ...answerOf(claimed, "created"), contradicts_id };
    }

    function related(row: Fact): Promise<Link[]> {
      const episodes = row.source_episode_id ? [row.source_episode_id] : [];
      return relatedLinks(call, writing.sql, { type: "fact", ...row }, episodes);
    }

    async function insert(row: Fact, alsoReplaced: readonly Fact[] = [], against?: string): Promise<void> {
      const sk = await shelfOf(call, row.scope, "fact", writing.sql);
      const stored = sealedFact(call, row);
      await insertFact(writing.sql, stored);
      const until = visibleUntil(memory, row, row.valid_to);
      await indexMemories(writing.sql, memory, [
        { id: row.id, sk, text: indexedFact(memory, row), vector, visibleUntil: until },
      ]);
      if (row.validity === "expired") await hideFromSearch(writing.sql, [row.id], call.now);
      const told = linksFrom(call, row, alsoReplaced, against);
      const links = [...told, ...(against === undefined ? await related(row) : [])];
      await insertLinks(writing.sql, links);
      writing.tell({
        type: "fact.stored",
        entity: { type: "fact", id: row.id },
        scope: row.scope,
        payload: { row: stored, links, redactions },
      });
    }
  });
  foldSoon(memory, await shelfOf(call, answer.scope, "fact"), 1);
  return answer;

  function answerOf(about: Fact, status: FactAnswer["status"], superseded_id: string | null = null): FactAnswer {
    const { id, validity: state, subject, predicate, scope, waits_until } = about;
    const begins = waits_until === null || !isLive(state) ? {} : { begins: waits_until.toISOString() };
    return { id, status, superseded_id, state, subject, predicate, scope, redactions, ...begins };
  }
}

export function factFrom(call: Call, input: FactInput, redactor: ReturnType<typeof openRedactor>): Fact {
  const { caller, now } = call;
  const permanence = input.permanence ?? "standard";
  const waits_until = waitsFor(input.valid_from, now);
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
    waits_until,
    confidence: input.confidence ?? 1,
    decay_rate: DECAY_PER_DAY[permanence],
    // A fact does not fade before it begins.
    last_confirmed_at: waits_until ?? now,
    ...reviewAtBirth(input.trust ?? caller.voice, now),
    ...newMemory(call, redactor, { ...input, source: sourceOf(call, input.source_episode_id) }),
  };
}

export function sourceOf(call: Call, episode: string | undefined): string {
  if (episode !== undefined) return `episode:${episode}`;
  return call.caller.session === undefined ? "manual" : `session:${call.caller.session}`;
}

/** A caller can only cite an episode that it can see. It is locked: whoever erases it comes before, or sees what cites it. */
export async function checkSource(call: Call, sql: Sql, episodeId: string | undefined): Promise<Episode | undefined> {
  if (episodeId === undefined) return undefined;
  const episode = await findEpisode(sql, call.caller.tenant, episodeId, "for share");
  if (!episode || episode.expires_at <= call.now || !canSee(call.caller, episode.butler))
    throw notFound(
      `source_episode_id ${episodeId} is not an episode that you can see; leave it out or store the episode first.`,
    );
  return episode;
}

/** A fact that cites an episode is trusted no more than the episode, and the confidence in a tool's words is limited. */
function limitTrust({ now }: Call, source: Episode | undefined, fact: Fact): Fact {
  const trust = atMost(fact.trust, source?.trust ?? fact.trust);
  const confidence = trust === "tool" ? Math.min(fact.confidence, MOST_CONFIDENT.tool) : fact.confidence;
  return { ...fact, trust, confidence, ...reviewAtBirth(trust, now) };
}

/** Who says it, and where: in the session of the episode that is cited, or in that of the call. */
export const saidBy = (
  { caller, now }: Call,
  { trust }: Pick<Fact, "trust">,
  source: Pick<Episode, "session_id" | "occurred_at"> | undefined,
): Source =>
  source === undefined
    ? { trust, session: caller.session ?? null, at: now }
    : { trust, session: source.session_id, at: source.occurred_at };

function linksFrom(call: Call, row: Fact, alsoReplaced: readonly Fact[], against: string | undefined): Link[] {
  const link = (relation: Relation, type: MemoryType, id: string) =>
    linkOf(call, ["fact", row.id], relation, [type, id]);
  return [
    ...(row.source_episode_id ? [link("derived_from", "episode", row.source_episode_id)] : []),
    ...(row.supersedes_id ? [link("supersedes", "fact", row.supersedes_id)] : []),
    ...alsoReplaced.map(({ id }) => link("supersedes", "fact", id)),
    ...(against ? [link("contradicts", "fact", against)] : []),
  ];
}

/** The fact was told again: `last_confirmed_at` moves to now, and what was given explicitly this time is taken over. */
async function confirmLive(
  call: Call,
  { sql, tell }: Writing,
  live: Fact,
  input: FactInput,
  said: Source,
): Promise<Fact> {
  const set: FactChange = {
    trust: vouched(live.trust, said.trust),
    ...(await reviewedBy(call, sql, live, [said])),
    validity: next(live.validity, "confirm"),
    last_confirmed_at: live.waits_until ?? call.now,
    confidence: Math.max(
      live.confidence,
      input.confidence ?? 0,
      toldByHand(live, call.memory.settings.facts.retrieval_confidence_threshold).confidence ?? 0,
    ),
    ...(input.importance === undefined ? {} : { importance: input.importance }),
    ...(input.permanence === undefined
      ? {}
      : { permanence: input.permanence, decay_rate: DECAY_PER_DAY[input.permanence] }),
    // A fact that is true now stays true now, also when it is told again with a later valid_from.
    ...(input.valid_from === undefined || input.valid_from > call.now ? {} : { valid_from: input.valid_from }),
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
  return after;
}

function supportFrom(call: Call, fact: Fact, episode: string | undefined): Link[] {
  return episode === undefined ? [] : [linkOf(call, ["episode", episode], "supports", ["fact", fact.id])];
}
