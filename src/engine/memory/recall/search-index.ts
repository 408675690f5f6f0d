/** What a search asks for: words, names, and candidates with what a reranker reads of them. From the store, or from memory (read-model/). */
import type { Db } from "../../adapters/db/port.ts";
import type { Look } from "../../domain/present.ts";
import type { BestFirst } from "../../domain/ranking/words/best-first.ts";
import type { Hit, Members, Statistics } from "../../domain/ranking/words/bm25.ts";
import type { Surroundings } from "../../store/index/evidence.ts";
import { bringNear, gatherCandidates } from "../../store/index/gather.ts";
import { type Filters, type Near, nearestVectors, theirVectors, type VectorArm } from "../../store/index/nearest.ts";
import { rankWords } from "../../store/index/rank-words.ts";
import type { Answered, Candidate, Gathered } from "../../store/index/search.ts";
import { type LexicalEntry, lexicalEntryOf, type VectorRank, vectorRankOf } from "../../store/index/why.ts";
import { saidBy, speakersAmong } from "../../store/memories/names.ts";
import { type Origin, originsOf } from "../../store/memories/origins.ts";
import { type ProfileItem, readProfile } from "../../store/memories/profile.ts";

export interface Ranked {
  readonly rankings: readonly BestFirst[];
  readonly statistics: Statistics;
}

export type DepthOf = (memories: number) => number;

export interface SearchIndex {
  /** It answers without leaving this process. */
  readonly inMemory: boolean;
  /** Of which state of the memory it is, where that is known. */
  revision?(): Promise<object | undefined>;
  /** One ranking for each group of shelves. How deep each will be asked for at first, by the number of memories. */
  rank(words: readonly string[], groups: readonly (readonly number[])[], depth: DepthOf): Promise<Ranked>;
  /** The same as `speakers`, of a moment ago: where it takes a question to the store, the model is handed a question meanwhile. */
  guessSpeakers?(scopes: readonly string[] | undefined, words: readonly string[]): string[];
  /** Those of the words that are the first name of somebody who speaks in these scopes. */
  speakers(scopes: readonly string[] | undefined, words: readonly string[]): Promise<string[]>;
  /** What these people said, on these shelves; undefined when there is nothing, or too much of it. */
  saidBy(names: readonly string[], sks: readonly number[]): Promise<Members | undefined>;
  /** The vector arm alone, where it can be asked beside the words: on a server. */
  nearest?(arm: VectorArm, filters: Filters): Promise<readonly Near[]>;
  /** Of it, what the people said whom the question names. */
  theirs?(arm: VectorArm, filters: Filters): Promise<readonly Near[]>;
  /** The candidates of what is near alone, unless that would hold up others. */
  bring?(near: readonly Near[], arm: VectorArm, filters: Filters, around: Surroundings): Promise<Answered> | undefined;
  /**
   * Looks at what the words found while the model has the question, and gives the candidates among it: `candidates` of the same question need not look
   * again. In memory alone.
   */
  lookAhead?(
    hits: () => Promise<readonly Hit[]>,
    filters: Filters,
    around: Surroundings | undefined,
  ): Promise<readonly Candidate[]>;
  candidates(
    hits: readonly Hit[],
    arm: VectorArm | undefined,
    filters: Filters,
    around: Surroundings | undefined,
  ): Promise<Gathered>;
  /** What a block says whatever the prompt is. */
  profile(look: Look, limit: number): Promise<ProfileItem[]>;
  /** The words of one memory, as they are filed. */
  wordsOf(id: string): Promise<LexicalEntry | undefined>;
  /** How many of these shelves are nearer than one memory. */
  placeByMeaning(id: string, arm: VectorArm, sks: readonly number[], filters: Filters): Promise<VectorRank | undefined>;
  /** Where these facts and rules were learned. */
  origins(ids: readonly string[], until: Date): Promise<Origin[]>;
}

export const sqlIndex = (sql: Db, tenant: string): SearchIndex => ({
  inMemory: false,
  ...(sql.kind === "postgres" && {
    nearest: (arm, filters) => nearestVectors(sql, arm, filters),
    theirs: (arm, filters) => theirVectors(sql, arm, filters),
    bring: (near, arm, filters, around) => bringNear(sql, near, arm, filters, around),
  }),
  rank: (words, groups, depth) => rankWords(sql, words, groups, depth),
  speakers: (scopes, words) => speakersAmong(sql, tenant, scopes, words),
  saidBy: (names, sks) => saidBy(sql, tenant, names, sks),
  candidates: (hits, arm, filters, around) => gatherCandidates(sql, hits, arm, filters, around),
  profile: (look, limit) => readProfile(sql, { tenant, ...look, limit }),
  wordsOf: (id) => lexicalEntryOf(sql, id),
  placeByMeaning: (id, arm, sks, filters) => vectorRankOf(sql, id, arm, sks, filters),
  origins: (ids, until) => originsOf(sql, tenant, ids, until),
});
