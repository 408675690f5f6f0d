/** Stores episodes: one or many, each once. */

import { createHash } from "node:crypto";
import type { Sql } from "../../adapters/db/port.ts";
import { mapAhead, mapInTurns } from "../../adapters/turns.ts";
import type { Episode } from "../../domain/episode.ts";
import type { MemoryError } from "../../domain/errors.ts";
import { type Trust, trustOfEpisode } from "../../domain/learning/trust.ts";
import { expiryOf, seenUntil, type Tier } from "../../domain/lifecycle/tiers.ts";
import type { Optional } from "../../domain/memory-types.ts";
import type { Found } from "../../domain/redaction/redact.ts";
import { firstName } from "../../domain/text/names.ts";
import { contentKey } from "../../domain/text/text.ts";
import { dropLexical, type Filed } from "../../store/index/lexical.ts";
import {
  deleteEpisodes,
  type EpisodeTwin,
  episodeJson,
  findTwins,
  insertEpisodes,
  type NewEpisode,
  nextOrdinals,
} from "../../store/memories/episodes.ts";
import { sessionNames } from "../../store/memories/names.ts";
import { spokenText, type Vectors, vectorsOf } from "../embed.ts";
import { stopIfCancelled, tellShare } from "../following.ts";
import type { Call } from "../memory.ts";
import { openRedactor } from "../privacy.ts";
import { givenEpisode } from "../read-model/given.ts";
import { tierPolicy } from "../settings.ts";
import { type Asked, type Writing, type Written, writeTogether } from "../write.ts";
import { foldSoon, type Indexed, indexMemories, shelfOf } from "./index-memory.ts";
import { newMemory } from "./new-memory.ts";

export type EpisodeInput = Pick<Episode, "content"> &
  Optional<Pick<Episode, "session_id" | "importance" | "tags" | "speaker" | "occurred_at" | "metadata" | "tier">>;

export interface EpisodeAnswer {
  readonly id: string;
  readonly tier: Tier;
  readonly expires_at: string;
  readonly duplicate: boolean;
  readonly redactions: readonly Found[];
  readonly [key: string]: unknown;
}

export interface PreparedEpisode {
  /** Who stores it. */
  readonly call: Call;
  readonly row: NewEpisode;
  readonly vector: Vectors | undefined;
  readonly redactions: readonly Found[];
}

/** The answer is kept under its key in the same form as for a row of a batch, so that an event told by both tools is stored once. */
export async function rememberEpisode(
  call: Call,
  tool: string,
  asked: unknown,
  input: EpisodeInput,
): Promise<Written<EpisodeAnswer>> {
  const [prepared] = await prepareEpisodes(call, [input]);
  if (!prepared) throw new Error("an episode was not prepared");
  const sk = await shelfOf(call, call.caller.butler, "episode");
  const written = await storeSoon({ call, tool, input: asked, prepared, sk });
  foldSoon(call.memory, sk, written.repeated ? 0 : 1);
  return written;
}

interface Waiting extends Asked {
  readonly tool: string;
  readonly prepared: PreparedEpisode;
  readonly sk: number;
}

/**
 * Episodes that come while one is being written are written together, in the next transaction: it takes little longer for twenty than for
 * one. An episode that comes alone waits for nobody.
 */
function storeSoon(one: Waiting): Promise<Written<EpisodeAnswer>> {
  const { memory, caller } = one.call;
  return memory.groups.add(JSON.stringify([caller.tenant, caller.butler, one.tool]), one, storeGroup);
}

const storeGroup = (group: readonly Waiting[]): Promise<readonly (Written<EpisodeAnswer> | MemoryError)[]> =>
  writeTogether(group[0]?.tool ?? "", group, (writing, fresh) => {
    const [first] = fresh;
    if (first === undefined) return Promise.resolve([]);
    const prepared = fresh.map((one) => one.prepared);
    return storeEpisodes(first.call, writing, prepared, first.sk);
  });

export async function prepareEpisodes(call: Call, inputs: readonly EpisodeInput[]): Promise<PreparedEpisode[]> {
  const drafts = await mapInTurns(inputs, contentChars, (input) => {
    stopIfCancelled(call);
    return draft(call, input);
  });
  const texts = await spokenTexts(
    call,
    drafts.map(({ row }) => row),
  );
  let done = 0;
  return mapAhead(drafts, async (drawn, index) => {
    stopIfCancelled(call);
    const vector = await vectorsOf(call.memory, texts[index] ?? drawn.row.content);
    done += 1;
    if (inputs.length > 1) tellShare(call, done, inputs.length, "read and embedded");
    return { ...drawn, vector, call };
  });
}

const contentChars = ({ content }: { readonly content: string }): number => content.length;

/** The text of each row that is embedded: without the names of the speakers of its session, in this call or before it. */
async function spokenTexts({ memory, caller }: Call, rows: readonly NewEpisode[]): Promise<string[]> {
  if (memory.versions.written.length === 0) return rows.map(({ content }) => content);
  const names = new Map<string, Set<string>>();
  for (const { session_id, speaker } of rows) {
    const name = firstName(speaker);
    if (session_id !== null && name !== undefined)
      names.set(session_id, (names.get(session_id) ?? new Set<string>()).add(name));
  }
  for (const [session, stored] of await sessionNames(memory.db, caller.tenant, [...names.keys()]))
    for (const name of stored) names.get(session)?.add(name);
  return mapInTurns(rows, contentChars, ({ content, session_id, speaker }) =>
    spokenText(content, speaker, session_id === null ? [] : [...(names.get(session_id) ?? [])]),
  );
}

async function draft(call: Call, input: EpisodeInput): Promise<Omit<PreparedEpisode, "vector" | "call">> {
  const { memory, caller, now } = call;
  const redactor = openRedactor(memory);
  const content = await redactor.longText(input.content);
  const session = input.session_id ?? caller.session ?? null;
  const tier = input.tier ?? "eden";
  const speaker = input.speaker === undefined ? null : redactor.text(input.speaker);
  const trust = trustOfEpisode(caller.voice, speaker);
  const row: NewEpisode = {
    butler: caller.butler,
    session_id: session,
    ordinal: null,
    speaker,
    content,
    content_key: episodeKey(content, session, speaker, input.occurred_at, trust),
    summary: null,
    tier,
    promoted_at: null,
    consolidation_status: "pending",
    consolidation_attempts: 0,
    last_consolidation_error: null,
    next_consolidation_retry_at: null,
    validity: "active",
    occurred_at: input.occurred_at ?? now,
    // Counted from now, not from when it happened: a back-filled episode would have expired before it was ever read.
    expires_at: expiryOf(tierPolicy(memory.settings, tier), now),
    ...newMemory(call, redactor, {
      ...input,
      source: session === null ? "manual" : `session:${session}`,
      trust,
    }),
  };
  return { row, redactions: redactor.redactions };
}

/**
 * Episodes with equal keys are one. The same words in another session, by another speaker or with another given time are another
 * episode; so are those of a less trusted source: the user's own words must not count as a repetition of a tool's.
 */
function episodeKey(
  content: string,
  session: string | null,
  speaker: string | null,
  at: Date | undefined,
  trust: Trust,
): Buffer {
  const own = trust === "user" ? [] : [trust];
  const parts = [session ?? "", speaker ?? "", at?.toISOString() ?? "", contentKey(content), ...own];
  return createHash("sha256").update(JSON.stringify(parts)).digest().subarray(0, 16);
}

export async function storeEpisodes(
  call: Call,
  writing: Writing,
  prepared: readonly PreparedEpisode[],
  sk: number,
): Promise<EpisodeAnswer[]> {
  const { sql, tell } = writing;
  const { memory, caller } = call;
  const keys = prepared.map((p) => p.row.content_key);
  const [found, rows] = await Promise.all([
    findTwins(sql, caller.tenant, caller.butler, keys),
    withOrdinals(sql, caller.tenant, prepared),
  ]);
  const twins = await liveTwins(call, writing, found);

  const fresh = rows.filter(({ row }) => !twins.has(keyText(row.content_key)));
  const firsts = [...new Map(fresh.toReversed().map((p) => [keyText(p.row.content_key), p])).values()].toReversed();
  for (const { row } of firsts) twins.set(keyText(row.content_key), row);
  const indexed = firsts.map(({ row, vector }) => ({
    id: row.id,
    sk,
    text: row.content,
    vector,
    visibleUntil: seenUntil(row.expires_at),
  }));
  const inserting = insertEpisodes(
    sql,
    firsts.map((p) => p.row),
  );
  const [made, words] = await Promise.all([inserting, indexMemories(sql, memory, indexed)]);
  if (made.size < firsts.length) throw Object.assign(new Error("a twin was stored meanwhile"), { code: "23505" });
  writing.give(firsts.map(({ row }, at) => givenEpisode(row, indexed[at] as Indexed, words[at] as Filed)));
  return rows.map(({ row, redactions, call: by }) => {
    const twin = twins.get(keyText(row.content_key)) ?? row;
    const duplicate = twin.id !== row.id;
    const entity = { type: "episode", id: twin.id } as const;
    if (duplicate)
      tell({ type: "episode.repeated", entity, scope: row.butler, payload: { session_id: row.session_id } }, by);
    else
      tell({ type: "episode.stored", entity, scope: row.butler, payload: { row: episodeJson(row), redactions } }, by);
    return { id: twin.id, tier: twin.tier, expires_at: twin.expires_at.toISOString(), duplicate, redactions };
  });
}

const keyText = (key: Uint8Array): string => Buffer.from(key).toString("hex");

/** A twin that has expired is found by no read; it is deleted, and the new episode stored. */
async function liveTwins(
  call: Call,
  { sql, tell }: Writing,
  found: readonly EpisodeTwin[],
): Promise<Map<string, Pick<EpisodeTwin, "id" | "tier" | "expires_at">>> {
  const over = found.filter((twin) => twin.expires_at <= call.now);
  if (over.length > 0) {
    const ids = over.map((twin) => twin.id);
    await dropLexical(sql, ids);
    await deleteEpisodes(sql, ids);
    for (const id of ids)
      tell({
        type: "episode.deleted",
        entity: { type: "episode", id },
        scope: call.caller.butler,
        payload: { why: "expired" },
      });
  }
  return new Map(found.filter((t) => !over.includes(t)).map((twin) => [keyText(twin.content_key), twin]));
}

async function withOrdinals(
  sql: Sql,
  tenant: string,
  prepared: readonly PreparedEpisode[],
): Promise<PreparedEpisode[]> {
  const sessions = [...new Set(prepared.flatMap(({ row }) => (row.session_id === null ? [] : [row.session_id])))];
  const next = await nextOrdinals(sql, tenant, sessions);
  return prepared.map((p) => {
    const session = p.row.session_id;
    if (session === null) return p;
    const ordinal = next.get(session) ?? 0;
    next.set(session, ordinal + 1);
    return { ...p, row: { ...p.row, ordinal } };
  });
}
