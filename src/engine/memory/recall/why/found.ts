/** Whether the arms of a search found a memory, and if not, how far away it was. */
import type { BestFirst } from "../../../domain/ranking/words/best-first.ts";
import { eachForward, h40 } from "../../../domain/ranking/words/postings.ts";
import { lexemes } from "../../../domain/text/lexemes.ts";
import type { LexicalEntry, VectorRank } from "../../../store/index/why.ts";
import type { Call } from "../../memory.ts";
import { indexFor } from "../../read-model/index-for.ts";
import { wordsOf } from "../question.ts";
import { lookOf, type Retrieved, type RetrieveQuery, type Trace } from "../retrieve.ts";
import type { SearchIndex } from "../search-index.ts";
import { listed, quoted, round, type Step, step } from "./step.ts";

interface Arm {
  /** How the arm found it; undefined when it did not. */
  readonly by: string | undefined;
  readonly words: string;
}

export interface FoundStep extends Step {
  /** "by its words (place 2) and by its meaning (place 1)"; empty when nothing found it. */
  readonly by: string;
}

export async function foundStep(
  call: Call,
  id: string,
  query: RetrieveQuery,
  trace: Trace,
  retrieved: Retrieved | undefined,
): Promise<FoundStep> {
  const index = await indexFor(call);
  const lexical = await index.wordsOf(id);
  const arms = [
    await byWords(id, query, trace, lexical, retrieved),
    await byMeaning(call, index, id, query, trace, lexical, retrieved),
  ];
  const beside =
    retrieved !== undefined && retrieved.candidate.keyword === null && retrieved.candidate.distance === null;
  const ways = [
    ...arms.flatMap((arm) => arm.by ?? []),
    ...(beside ? ["beside a turn of its session that was found"] : []),
  ];
  const by = listed(ways);
  const head = retrieved === undefined ? "The search did not find it" : `Found ${by}`;
  const words = `${head}. ${arms.map((arm) => arm.words).join(" ")}`;
  return { ...step("found", retrieved !== undefined, words), by };
}

const SHOWN_WORDS = 8;

async function byWords(
  id: string,
  { text, mode }: RetrieveQuery,
  { asked, groups, keywordDepth }: Trace,
  lexical: LexicalEntry | undefined,
  retrieved: Retrieved | undefined,
): Promise<Arm> {
  if (asked.rankings === undefined) return { by: undefined, words: `Words are not compared in mode ${mode}.` };
  if (lexical === undefined) return { by: undefined, words: "Its words are not in the index." };
  const shared = sharedWords(text, lexical.words);
  const ranking = asked.rankings[groups.findIndex((sks) => sks.includes(lexical.sk))];
  const place = ranking && (await placeIn(ranking, id, lexical));
  if (shared.length === 0 || place === undefined)
    return { by: undefined, words: "By words: it shares none with the question." };
  const said = quoted(shared.slice(0, SHOWN_WORDS));
  const rank = retrieved?.arms.keywordRank(retrieved.candidate.id);
  const where = `By words: it shares ${said} and is place ${place.at} of ${place.of} that share any`;
  if (rank !== undefined) return { by: `by its words (place ${rank})`, words: `${where}.` };
  return { by: undefined, words: `${where}; the first ${keywordDepth} are looked at.` };
}

/** The words of the question, as they were asked, that the memory has in some form. */
function sharedWords(text: string, forward: Uint8Array): string[] {
  const own = new Set<number>();
  eachForward(forward, (hash) => own.add(hash));
  const asked = new Set(wordsOf(text));
  const meets = (word: string) => lexemes(word).some((lexeme) => asked.has(lexeme) && own.has(h40(lexeme)));
  const words = text.match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}'’_-]*/gu) ?? [];
  return [...new Set(words.filter(meets).map((word) => word.toLowerCase()))];
}

/** Its place among all memories on the shelves; equal scores share a place. */
async function placeIn(
  best: BestFirst,
  id: string,
  { sk, slot }: LexicalEntry,
): Promise<{ at: number; of: number } | undefined> {
  const slots = new Map(slot === null ? [] : [[sk, new Set([slot])]]);
  const ranking = await best.whole();
  const [own] = ranking.topAmong(1, { slots, ids: new Set([id]) });
  return own && { at: ranking.above(own.score) + 1, of: ranking.total };
}

async function byMeaning(
  call: Call,
  index: SearchIndex,
  id: string,
  { mode, tags, tier, ladder }: RetrieveQuery,
  { arm, groups }: Trace,
  lexical: LexicalEntry | undefined,
  retrieved: Retrieved | undefined,
): Promise<Arm> {
  if (mode === "keyword") return { by: undefined, words: "Meaning is not compared in mode keyword." };
  if (arm === undefined) return { by: undefined, words: "By meaning: there is no embedding model to compare with." };
  const group = arm.groups.find(({ sks }) => lexical !== undefined && sks.includes(lexical.sk));
  const filters = { ...lookOf(call, ladder), tags, tier };
  const own = await index.placeByMeaning(id, arm, group?.sks ?? groups.flat(), filters);
  if (own === undefined) return { by: undefined, words: "By meaning: it has no vector yet." };
  const rank = retrieved?.arms.semanticRank(retrieved.candidate.id);
  const where = `By meaning: its cosine is ${round(1 - own.distance)}, ${placeAmong(own, rank)}`;
  if (rank !== undefined) return { by: `by its meaning (place ${rank})`, words: `${where}.` };
  if (!own.seen) return { by: undefined, words: `${where}, but its vector is filed as faded.` };
  const taken = group?.limit ?? 0;
  const reached = own.nearer < taken;
  const missed = group?.exact ? "others as near were taken first" : "the approximate index passed it over";
  return { by: undefined, words: `${where}; the nearest ${taken} are taken${reached ? `, and ${missed}` : ""}.` };
}

/** Of a sample the numbers are told roughly, and a place that the search itself gave is told instead. */
function placeAmong({ nearer, of, estimated }: VectorRank, rank: number | undefined): string {
  if (!estimated) return `place ${nearer + 1} of ${of}`;
  const roughly = (n: number) => Number(n.toPrecision(2)).toLocaleString("en");
  return rank === undefined
    ? `about ${roughly(nearer)} of about ${roughly(of)} are nearer`
    : `place ${rank} of about ${roughly(of)}`;
}
