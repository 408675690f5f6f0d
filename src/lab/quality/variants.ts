/** What can be changed about a search while the store stays the same, and the list that an ablation goes through. */
import { type Recipe, withoutTokens } from "../../engine/domain/ranking/recipe.ts";
import type { Mode } from "../../engine/memory/recall/retrieve.ts";
import type { Settings } from "../../engine/memory/settings.ts";

export const RERANKS = ["late-interaction", "cross-encoder", "none"] as const;
export type Rerank = (typeof RERANKS)[number];

export interface Change {
  readonly settings?: (settings: Settings) => Settings;
  readonly mode?: Mode;
  readonly recipe?: (recipe: Recipe) => Recipe;
  /** Searches as if there were no embedding model. */
  readonly noModel?: boolean;
}

export interface Variant {
  readonly name: string;
  readonly words: string;
  readonly change: Change;
}

export const FULL: Variant = { name: "full", words: "everything as it is set", change: {} };

const part = (name: string, words: string, recipe: (recipe: Recipe) => Recipe): Variant => ({
  name,
  words,
  change: { recipe },
});

const second = (recipe: Recipe, change: Partial<Recipe["second"]>): Recipe => ({
  ...recipe,
  second: { ...recipe.second, ...change },
});

/** Each part of late interaction off, one at a time. */
const PARTS: readonly Variant[] = [
  part("no token bits", "words and vectors only", withoutTokens),
  part("no neighbours", "each turn by itself", (r) => ({ ...r, around: { keywords: {}, tokens: {}, meaning: {} } })),
  part("no keyword signal", "keywords find candidates only", (r) => ({ ...r, keywords: { always: 0, short: 0 } })),
  part("no meaning signal", "vectors find candidates only", (r) => ({ ...r, meaning: { always: 0, long: 0 } })),
  part("fixed weights", "the same for short and long memories", (r) => ({
    ...r,
    keywords: { ...r.keywords, short: 0 },
    meaning: { ...r.meaning, long: 0 },
    longPieces: Infinity,
  })),
  part("no lists by person", "candidates whoever said them", (r) => ({ ...r, theirsAbove: Infinity })),
  part("no people", "who said it, and who took part, do not count", (r) => ({ ...r, speaker: 0, person: 0 })),
  part("no questions", "questions and answers count alike", (r) => ({ ...second(r, { answer: 0 }), question: 0 })),
  part("no second round", "dates, told times, first person, session and answer do not count", (r) =>
    second(r, { answer: 0, self: 0, time: { always: 0, asked: 0 }, session: 0, date: 0 }),
  ),
  part("no dates", "when something was said does not count", (r) => second(r, { date: 0 })),
  part("no told times", "what tells a time is not preferred", (r) => second(r, { time: { always: 0, asked: 0 } })),
  part("no first person", "what somebody tells of themselves is not preferred", (r) => second(r, { self: 0 })),
  part("no session", "a relevant session does not help its turns", (r) => second(r, { session: 0 })),
];

/** The variants that these settings allow, the full recipe first. */
export function variantsOf(settings: Settings): readonly Variant[] {
  const { rerank, diversify } = settings.retrieval;
  const set = (change: Partial<Settings["retrieval"]>) => (s: Settings) => ({
    ...s,
    retrieval: { ...s.retrieval, ...change },
  });
  const plain: Variant = {
    name: "no reranking",
    words: "ranks of the two arms fused, nothing after it",
    change: { settings: set({ rerank: "none" }) },
  };
  const undiversified: Variant = {
    name: "no diversification",
    words: "one subject may fill the list",
    change: { settings: set({ diversify: false }) },
  };
  return [
    FULL,
    ...(rerank === "none" ? [] : PARTS),
    ...(diversify ? [undiversified] : []),
    { name: "no model", words: "words alone, with their neighbours", change: { noModel: true } },
    ...(rerank === "none" ? [] : [plain]),
    { name: "keyword only", words: "plain BM25", change: { mode: "keyword" } },
    { name: "semantic only", words: "plain vectors", change: { mode: "semantic" } },
  ];
}

export function withRerank(settings: Settings, rerank: Rerank): Settings {
  return { ...settings, retrieval: { ...settings.retrieval, rerank } };
}
