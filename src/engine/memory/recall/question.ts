/**
 * Prepares a question for both arms of a search: the postings of its words and its vector, fetched at the same time, and the
 * people it names. Names are left out of what is embedded, as they are of the memories themselves (engine/domain/text/names.ts).
 */
import { answerTurn } from "../../adapters/turns.ts";
import { withTheirs } from "../../domain/ranking/recipe.ts";
import type { BestFirst } from "../../domain/ranking/words/best-first.ts";
import type { Members, Statistics } from "../../domain/ranking/words/bm25.ts";
import { lexemes } from "../../domain/text/lexemes.ts";
import { possibleNames, withoutNames } from "../../domain/text/names.ts";
import { alone } from "../../domain/text/remembered.ts";
import { type Embedded, queryVector } from "../embed.ts";
import type { Call, Memory } from "../memory.ts";
import type { DepthOf, Ranked, SearchIndex } from "./search-index.ts";

export type Mode = "hybrid" | "semantic" | "keyword";

export interface Asked {
  readonly names: readonly string[];
  /** What they said, if lists of it are wanted. */
  readonly said: Members | undefined;
  /** One ranking for each group of shelves; undefined when words were not asked for. */
  readonly rankings: readonly BestFirst[] | undefined;
  readonly statistics: Statistics | undefined;
  readonly embedded: Embedded | undefined;
  readonly embedMs: number;
  /** Why the search is limited, for the answer to say. */
  readonly degraded: string | undefined;
}

/** All but the vector. */
export type Worded = Pick<Asked, "names" | "said" | "rankings" | "statistics">;

export interface Asking {
  readonly text: string;
  readonly mode: Mode;
  readonly scopes: readonly string[] | undefined;
  /** Shelves that are searched together; embedding does not wait for them. */
  readonly groups: Promise<readonly (readonly number[])[]>;
  /** How deep the rankings of words will be read. */
  readonly depth: DepthOf;
  /** More candidates are taken of what the people named said. */
  readonly withTheirs: boolean;
  /** Called with what is known while the model has the question, where that is soon: in memory. */
  readonly onWords?: ((found: Worded) => Promise<void>) | undefined;
  /** Called as soon as the question is embedded, which may be long before its words are read. */
  readonly onEmbedded?: ((embedded: Embedded) => void) | undefined;
  /** Called as soon as it is known whom the question names. */
  readonly onNames?: ((names: readonly string[]) => void) | undefined;
}

export const NO_VECTOR = "no embedding model: results are by keyword only. Run `butler model pull`.";

export async function ask(call: Call, index: SearchIndex, asking: Asking): Promise<Asked> {
  const { memory, caller } = call;
  const { text, mode } = asking;
  const ranked = async () => index.rank(wordsOf(text), await asking.groups, asking.depth);
  const possible = mode === "keyword" ? [] : namesAsked(text);
  const started = performance.now();
  let embedMs = 0;
  const embed = async (names: readonly string[]) => {
    const made = await queryVector(memory, withoutNames(text, names));
    embedMs = performance.now() - started;
    return made;
  };
  // Where the store must be asked who speaks, names that are known from earlier questions are used at once, so that embedding does
  // not wait for it; if the store disagrees, the question is embedded again.
  const guess =
    index.guessSpeakers?.(asking.scopes, possible) ??
    (index.inMemory
      ? await index.speakers(asking.scopes, possible)
      : possible.filter((name) => knownNames(memory, caller.tenant).has(name)));
  const embedding = mode === "keyword" ? undefined : embed(guess);
  const { onEmbedded } = asking;
  // Whoever waits for the embedding hears of a failure.
  if (onEmbedded) embedding?.then((made) => made && onEmbedded(made)).catch(() => undefined);
  if (possible.length === 0) asking.onNames?.([]);
  const first = mode === "semantic" ? undefined : ranked();
  const people = async () => {
    const names = await index.speakers(asking.scopes, possible);
    asking.onNames?.(names);
    const wanted =
      asking.withTheirs && names.length > 0 && ((await first)?.statistics.n ?? 0) > memory.recipe.theirsAbove;
    const said = wanted ? await index.saidBy(names, (await asking.groups).flat()) : undefined;
    // While the model has the question: a ranking in memory remembers what it was asked for last.
    if (said !== undefined && index.inMemory) await bestOfTheirs(await first, said, asking.depth);
    return { names, said };
  };
  const named = possible.length === 0 ? { names: [], said: undefined } : people();
  const { onWords } = asking;
  const lookAhead = async () => {
    const [ranked, found] = await Promise.all([first, named]);
    if (ranked !== undefined) await onWords?.({ ...ranked, ...found });
  };
  const [found, { names, said }, guessed] = await Promise.all([
    first,
    named,
    embedding,
    embedding !== undefined && index.inMemory ? lookAhead() : undefined,
  ]);
  remember(memory, caller.tenant, possible, names);
  const embedded = guessed !== undefined && !sameNames(guess, names) ? await embed(names) : guessed;
  const degraded =
    mode === "keyword" ? undefined : (memory.versions.degraded ?? (embedded === undefined ? NO_VECTOR : undefined));
  const read = found ?? (degraded === undefined ? undefined : await ranked());
  await answerTurn();
  return {
    names,
    said,
    rankings: read?.rankings,
    statistics: read?.statistics,
    embedded,
    embedMs,
    degraded,
  };
}

async function bestOfTheirs(ranked: Ranked | undefined, said: Members, depth: DepthOf): Promise<void> {
  if (ranked === undefined) return;
  const { theirs } = withTheirs(depth(ranked.statistics.n));
  await Promise.all(ranked.rankings.map((ranking) => ranking.topAmong(theirs, said)));
}

/** A whole prompt may be the query. Its first words say what it is about, and each word costs a lookup on every shelf. */
const MAX_WORDS = 64;
const QUERY_CHARS = 4000;

export const namesAsked = (text: string): string[] => possibleNames(text.slice(0, QUERY_CHARS));

export function wordsOf(text: string): string[] {
  const words = lexemes(text.slice(0, QUERY_CHARS));
  const kept = new Set([...new Set(words)].slice(0, MAX_WORDS));
  return words.filter((word) => kept.has(word));
}

const sameNames = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((name) => b.includes(name));

function knownNames(memory: Memory, tenant: string): Set<string> {
  const known = memory.knownNames.get(tenant) ?? new Set();
  memory.knownNames.set(tenant, known);
  return known;
}

const MOST_KNOWN = 10_000;

function remember(memory: Memory, tenant: string, asked: readonly string[], names: readonly string[]): void {
  const known = knownNames(memory, tenant);
  for (const name of asked) if (!names.includes(name)) known.delete(name);
  if (known.size < MOST_KNOWN) for (const name of names) known.add(alone(name));
}
