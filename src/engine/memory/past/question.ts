/** Prepares a question for both arms as recall/question.ts does, from the words and the speakers known at that moment. */

import type { MemoryType } from "../../domain/memory-types.ts";
import type { Timeline } from "../../domain/past/timeline.ts";
import { type Members, type Postings, rank, statisticsOf } from "../../domain/ranking/bm25.ts";
import { countHashes } from "../../domain/ranking/postings.ts";
import { withoutNames } from "../../domain/text/names.ts";
import { MOST_SAID } from "../../store/memories/names.ts";
import { queryVector } from "../embed.ts";
import type { Call } from "../memory.ts";
import { type Asked, NO_VECTOR, namesAsked, wordsOf } from "../recall/question.ts";
import { groupsOf, type RetrieveQuery, rerankingOf, takesTheirs } from "../recall/retrieve.ts";
import type { PastMemory, PastView } from "./past.ts";
import { type SpokenThen, spokenThen } from "./spoken.ts";

export interface AskedThen {
  readonly asked: Asked;
  readonly groups: readonly (readonly number[])[];
  readonly typeOf: (sk: number) => MemoryType | undefined;
  /** The words of the question. */
  readonly words: ReadonlySet<number>;
  /** The sessions of speakers whom the question may name. */
  readonly spoken: readonly SpokenThen[];
}

export async function askThen(
  call: Call,
  query: RetrieveQuery,
  timeline: Timeline,
  view: PastView,
): Promise<AskedThen> {
  const { memory, now } = call;
  const { text, mode, types, scopes } = query;
  const groups = groupsOf(
    query,
    types.map((type, sk) => ({ type, sk })),
  );
  const possible = mode === "keyword" ? [] : namesAsked(text);
  const spoken = spokenThen(timeline, { names: possible, sessions: [] }, now);
  const here = spoken.filter(({ scope }) => scopes === undefined || scopes.includes(scope));
  const names = [...new Set(here.map(({ name }) => name))].sort();

  const started = performance.now();
  const embedded = mode === "keyword" ? undefined : await queryVector(memory, withoutNames(text, names));
  const embedMs = performance.now() - started;
  const degraded =
    mode === "keyword" ? undefined : (memory.versions.degraded ?? (embedded === undefined ? NO_VECTOR : undefined));
  const read = mode === "semantic" && degraded === undefined ? undefined : postingsThen(text, types, view);
  const withTheirs = takesTheirs(rerankingOf(call, mode), query) && view.lines.length > memory.recipe.theirsAbove;
  const asked: Asked = {
    names,
    said: withTheirs ? saidThen(view, names) : undefined,
    rankings: read && groups.map((sks) => rank(onlyOf(read, sks))),
    statistics: read && statisticsOf(read),
    embedded,
    embedMs,
    degraded,
  };
  return { asked, groups, typeOf: (sk) => types[sk], words: new Set(countHashes(wordsOf(text)).keys()), spoken };
}

const onlyOf = (read: Postings, sks: readonly number[]): Postings => ({
  ...read,
  shelves: read.shelves.filter(({ sk }) => sks.includes(sk)),
  fresh: read.fresh.filter(({ sk }) => sks.includes(sk)),
});

/** As `saidBy` finds it in the rows of now. */
function saidThen(view: PastView, names: readonly string[]): Members | undefined {
  const ids = view.saidBy(names).map(({ id }) => id);
  return ids.length === 0 || ids.length > MOST_SAID ? undefined : { slots: new Map(), ids: new Set(ids) };
}

export const sessionKey = ({ scope, session }: Pick<PastMemory | SpokenThen, "scope" | "session">): string =>
  `${scope} ${session}`;

/** Sessions in which somebody spoke whom the question names. */
export const namedSessions = (spoken: readonly SpokenThen[], names: readonly string[]): ReadonlySet<string> =>
  new Set(spoken.filter(({ name }) => names.includes(name)).map(sessionKey));

/**
 * The formula of the index over rows that are all unfolded; each type is a shelf, numbered by its place in `types`. Those that have no word
 * of the question are only counted.
 */
function postingsThen(text: string, types: readonly MemoryType[], view: PastView): Postings {
  const terms = [...countHashes(wordsOf(text))].map(([hash, count]) => ({ hash, count }));
  const asked = new Set(terms.map(({ hash }) => hash));
  const others = types.map((type, sk) => ({ sk, ...view.sizeOf(type), slots: 0 }));
  const fresh = view.withAnyOf(asked).map((line) => {
    const sk = types.indexOf(view.typeOf(line));
    const words = view.wordsOf(line, asked);
    const shelf = others[sk];
    if (shelf !== undefined) {
      shelf.n -= 1;
      shelf.tl -= words.len;
    }
    return { id: uuidBytes(line.id), sk, ...words };
  });
  return { terms, shelves: others, blocks: [], fresh, gone: [] };
}

const uuidBytes = (id: string): Uint8Array => Buffer.from(id.replaceAll("-", ""), "hex");
