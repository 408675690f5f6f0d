/** Prepares a question for both arms as recall/question.ts does, from the words and the speakers known at that moment. */

import type { MemoryType } from "../../../src/engine/domain/memory-types.ts";
import { readWhole } from "../../../src/engine/domain/ranking/words/best-first.ts";
import { type Members, type Postings, statisticsOf } from "../../../src/engine/domain/ranking/words/bm25.ts";
import { countHashes } from "../../../src/engine/domain/ranking/words/postings.ts";
import { rank } from "../../../src/engine/domain/ranking/words/sums.ts";
import { firstName, withoutNames } from "../../../src/engine/domain/text/names.ts";
import { queryVector } from "../../../src/engine/memory/embed.ts";
import type { Call } from "../../../src/engine/memory/memory.ts";
import { type Asked, NO_VECTOR, namesAsked, wordsOf } from "../../../src/engine/memory/recall/question.ts";
import { groupsOf, type RetrieveQuery, rerankingOf, takesTheirs } from "../../../src/engine/memory/recall/retrieve.ts";
import { MOST_SAID } from "../../../src/engine/store/memories/names.ts";
import type { PastMemory } from "./past.ts";
import { type SpokenThen, speakersThen } from "./steps.ts";

export interface AskedThen {
  readonly asked: Asked;
  readonly groups: readonly (readonly number[])[];
  readonly typeOf: (sk: number) => MemoryType | undefined;
  /** The sessions of speakers whom the question may name. */
  readonly spoken: readonly SpokenThen[];
}

export async function askThen(call: Call, query: RetrieveQuery, memories: readonly PastMemory[]): Promise<AskedThen> {
  const { memory, caller, now } = call;
  const { text, mode, types, scopes } = query;
  const groups = groupsOf(
    query,
    types.map((type, sk) => ({ type, sk })),
  );
  const possible = mode === "keyword" ? [] : namesAsked(text);
  const spoken =
    possible.length === 0 ? [] : await speakersThen(memory.db, caller.tenant, { names: possible, sessions: [] }, now);
  const here = spoken.filter(({ scope }) => scopes === undefined || scopes.includes(scope));
  const names = [...new Set(here.map(({ name }) => name))].sort();

  const started = performance.now();
  const embedded = mode === "keyword" ? undefined : await queryVector(memory, withoutNames(text, names));
  const embedMs = performance.now() - started;
  const degraded =
    mode === "keyword" ? undefined : (memory.versions.degraded ?? (embedded === undefined ? NO_VECTOR : undefined));
  const read = mode === "semantic" && degraded === undefined ? undefined : postingsThen(text, types, memories);
  const withTheirs = takesTheirs(rerankingOf(call, mode), query) && memories.length > memory.recipe.theirsAbove;
  const asked: Asked = {
    names,
    said: withTheirs ? saidThen(memories, names) : undefined,
    rankings:
      read && groups.map((sks) => readWhole(rank({ ...read, fresh: read.fresh.filter(({ sk }) => sks.includes(sk)) }))),
    statistics: read && statisticsOf(read),
    embedded,
    embedMs,
    degraded,
  };
  return { asked, groups, typeOf: (sk) => types[sk], spoken };
}

/** As `saidBy` finds it in the rows of now. */
function saidThen(memories: readonly PastMemory[], names: readonly string[]): Members | undefined {
  const ids = memories.filter(({ speaker }) => names.includes(firstName(speaker) ?? "")).map(({ id }) => id);
  return ids.length === 0 || ids.length > MOST_SAID ? undefined : { slots: new Map(), ids: new Set(ids) };
}

export const sessionKey = ({ scope, session }: Pick<PastMemory | SpokenThen, "scope" | "session">): string =>
  `${scope} ${session}`;

/** Sessions in which somebody spoke whom the question names. */
export const namedSessions = (spoken: readonly SpokenThen[], names: readonly string[]): ReadonlySet<string> =>
  new Set(spoken.filter(({ name }) => names.includes(name)).map(sessionKey));

/** The formula of the index over rows that are all unfolded; each type is a shelf, numbered by its place in `types`. */
function postingsThen(text: string, types: readonly MemoryType[], memories: readonly PastMemory[]): Postings {
  const terms = [...countHashes(wordsOf(text))].map(([hash, count]) => ({ hash, count }));
  const fresh = memories.map(({ id, type, words }) => ({ id: uuidBytes(id), sk: types.indexOf(type), ...words }));
  return { terms, shelves: [], blocks: [], unread: [], fresh, gone: [] };
}

const uuidBytes = (id: string): Uint8Array => Buffer.from(id.replaceAll("-", ""), "hex");
