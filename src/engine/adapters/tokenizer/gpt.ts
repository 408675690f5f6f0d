import { lruCache } from "../../domain/lru-cache.ts";
import type { Tokenizer } from "./port.ts";

export type TokenizerName = "o200k_base" | "cl100k_base";

/** Loading costs 67 MB (o200k) or 41 MB (cl100k) and 0.1 to 0.2 s, so only the one asked for is imported. */
const encodings = {
  o200k_base: () => import("gpt-tokenizer/encoding/o200k_base"),
  cl100k_base: () => import("gpt-tokenizer/encoding/cl100k_base"),
} as const satisfies Record<TokenizerName, unknown>;

/** Text such as `<|endoftext|>` is counted as plain text: by default the library throws on it. */
const PLAIN = { disallowedSpecial: new Set<string>() };

const CACHED_TEXTS = 4_096;
const CACHED_CHARACTERS = 2_000;

/**
 * The library's merge is quadratic in a run without a break: 50,000 Chinese characters took 13 s, 200,000 letters 25 s.
 * Runs beyond this length are counted in parts of it. Greedy merging is not optimal, so a cut can also save tokens
 * (up to 2 in a run of random words): each part counts CUT more, so that a budget is overestimated, never exceeded.
 */
const RUN = 512;
const CUT = 2;
const LONG_RUN = new RegExp(`[\\p{L}\\p{M}]{${RUN + 1},}|[^\\p{L}\\p{M}\\p{N}\\s]{${RUN + 1},}|\\s{${RUN + 1},}`, "gu");
const PART = new RegExp(`[^]{1,${RUN}}`, "gu");

export async function openTokenizer(name: TokenizerName): Promise<Tokenizer> {
  const { countTokens } = await encodings[name]();
  const known = lruCache<string, number>(CACHED_TEXTS);

  function countParts(text: string): number {
    if (text.length <= RUN) return countTokens(text, PLAIN);
    let total = 0;
    let from = 0;
    for (const run of text.matchAll(LONG_RUN)) {
      if (run.index > from) total += countTokens(text.slice(from, run.index), PLAIN);
      for (const part of run[0].matchAll(PART)) total += countTokens(part[0], PLAIN) + CUT;
      from = run.index + run[0].length;
    }
    return from < text.length ? total + countTokens(text.slice(from), PLAIN) : total;
  }

  return {
    name,
    count(text) {
      if (text.length > CACHED_CHARACTERS) return countParts(text);
      const before = known.get(text);
      if (before !== undefined) return before;
      const count = countParts(text);
      known.set(text, count);
      return count;
    },
  };
}
