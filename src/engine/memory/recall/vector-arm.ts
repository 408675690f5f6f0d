/** The vector arm of a search: which shelves it compares, how deep it goes, and when it is asked for. */
import { rerankArm, withTheirs } from "../../domain/ranking/recipe.ts";
import type { Filters, Near, VectorArm } from "../../store/index/search.ts";
import { comparedAs } from "../../store/index/vectors.ts";
import type { Embedded } from "../embed.ts";
import type { Call } from "../memory.ts";
import type { Asked } from "./question.ts";
import { type Reranking, surroundings } from "./rerank.ts";
import type { RetrieveQuery } from "./retrieve.ts";
import type { SearchIndex } from "./search-index.ts";

/** Candidates of each arm: 500 raised candidate recall from 90 to 98 %, but the quality of results only by half a point. */
const ARM = 100;
/** Below this many memories on the shelves all vectors are compared: about 2 ms on the embedded store, no more than an index takes. */
const EXACT_BELOW = 1000;

export interface Searching {
  readonly call: Call;
  readonly query: RetrieveQuery;
  readonly reranking: Reranking;
  readonly groups: readonly (readonly number[])[];
}

/** How many memories each group of shelves holds, and all of them. */
export interface Sizes {
  readonly all: number;
  readonly each: readonly number[];
}

export const sizesOf = ({ statistics, rankings }: Pick<Asked, "statistics" | "rankings">): Sizes => ({
  all: statistics?.n ?? 0,
  each: rankings?.map(({ n }) => n) ?? [],
});

/** How deep each arm goes. */
export function depthOf({ query, reranking }: Pick<Searching, "query" | "reranking">, memories: number): number {
  const { perType, wanted } = query;
  return perType ? wanted : Math.max(reranking === "none" ? ARM : rerankArm(memories), wanted);
}

/** How deep the lists of everything go, and those of what the people said whom the question names. */
export function depthsOf(search: Searching, { said }: Pick<Asked, "said">, { all }: Sizes) {
  const depth = depthOf(search, all);
  const parts = withTheirs(depth);
  return { all: said === undefined ? depth : Math.max(parts.all, search.query.wanted), theirs: parts.theirs };
}

export function vectorArm(
  search: Searching,
  asked: Pick<Asked, "said" | "names"> & { readonly embedded: Embedded },
  sizes: Sizes,
): VectorArm {
  const { call, query, groups } = search;
  const { embedded, said, names } = asked;
  const { version, vector } = embedded;
  const { all, theirs } = depthsOf(search, asked, sizes);
  const shelves = vectorGroups(query, groups).map((members) => ({
    sks: members.flatMap((index) => groups[index] ?? []),
    exact: members.reduce((sum, index) => sum + (sizes.each[index] ?? Infinity), 0) <= EXACT_BELOW,
    limit: all * members.length,
  }));
  const faded = query.minConfidence < call.memory.settings.facts.retrieval_confidence_threshold;
  return {
    version,
    as: comparedAs(call.memory.db.kind, vector.length),
    query: vector,
    groups: shelves,
    faded,
    theirs: said && { tenant: call.caller.tenant, names, limit: theirs },
  };
}

/** Facts and rules share one index scan, which takes 2 ms: they are few compared with episodes, so that it finds enough of both. */
function vectorGroups({ perType, types }: RetrieveQuery, groups: readonly unknown[]): number[][] {
  const all = [...groups.keys()];
  if (!perType) return [all];
  const episodes = types.indexOf("episode");
  return [all.filter((index) => index === episodes), all.filter((index) => index !== episodes)].filter(
    (members) => members.length > 0,
  );
}

const keyOf = (groups: Searching["groups"]): string => groups.join(" ");

/** For the next question of the same shelves. */
export const noteSizes = ({ call, groups }: Searching, asked: Asked): void =>
  call.memory.knownSizes.set(keyOf(groups), sizesOf(asked));

interface Begun {
  readonly arm: VectorArm;
  readonly found: Promise<readonly Near[]>;
  brought?: VectorArm["brought"];
}

/**
 * A server finds the nearest vectors while the words are read, if it is known from an earlier question how deep to go. Where the question names
 * somebody, fewer of them are taken, and what that person said is asked for as soon as that is known. Where the guess was wrong, all are asked for again with the
 * candidates. Where the words take longer, and the question names nobody, it is asked for the candidates of what was found too.
 */
export function askEarly(search: Searching, index: SearchIndex, filters: Filters) {
  const { call, query, groups, reranking } = search;
  const sizes = call.memory.knownSizes.get(keyOf(groups));
  if (index.nearest === undefined || sizes === undefined || query.mode !== "hybrid") return undefined;
  const { nearest } = index;
  let begun: Begun | undefined;
  let tellNames: (names: readonly string[]) => void = () => undefined;
  const named = new Promise<readonly string[]>((resolve) => {
    tellNames = resolve;
  });
  let isAwaited = false;
  const bring = async (one: Begun) => {
    const [near, names] = await Promise.all([one.found, named]);
    if (isAwaited || names.length > 0 || reranking === "none") return;
    one.brought = index.bring?.(near, one.arm, filters, surroundings(call, [], query.perType ?? false));
    one.brought?.catch(() => undefined);
  };
  return {
    noteNames: tellNames,
    begin: (embedded: Embedded) => {
      const arm = vectorArm(search, { embedded, said: undefined, names: [] }, sizes);
      begun = { arm, found: nearest(arm, filters) };
      // Its failure is told to the search that waits for it; where none does, it does not matter.
      bring(begun).catch(() => undefined);
    },
    foundBy(arm: VectorArm): Pick<VectorArm, "found" | "brought"> | undefined {
      isAwaited = true;
      if (begun === undefined || begun.arm.query !== arm.query) return undefined;
      const { found, brought } = begun;
      if (arm.theirs === undefined) return isSame(begun.arm, arm) ? { found, brought } : undefined;
      const limit = shallower(begun.arm, arm);
      if (limit === undefined || index.theirs === undefined) return undefined;
      const both = Promise.all([found, index.theirs(arm, filters)]).then(([all, theirs]) =>
        withoutTwins([...nearestOf(all, limit), ...theirs]),
      );
      both.catch(() => undefined);
      return { found: both };
    },
  };
}

const isSame = (a: VectorArm, b: VectorArm): boolean => JSON.stringify(a.groups) === JSON.stringify(b.groups);

/** The depth of the second, if it has one list, of the same shelves and compared in the same way, that begins the first's. */
function shallower({ groups: [deep, ...others] }: VectorArm, { groups: [wanted, ...more] }: VectorArm) {
  if (deep === undefined || wanted === undefined || others.length + more.length > 0) return undefined;
  const { limit } = wanted;
  return limit <= deep.limit && JSON.stringify({ ...deep, limit }) === JSON.stringify(wanted) ? limit : undefined;
}

/** As they were found, where two are equally near. */
const nearestOf = (near: readonly Near[], limit: number): readonly Near[] =>
  near.toSorted(([, a], [, b]) => a - b).slice(0, limit);

const withoutTwins = (near: readonly Near[]): readonly Near[] => [...new Map(near).entries()];
