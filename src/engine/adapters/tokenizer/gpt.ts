import { readFile } from "node:fs/promises";
import { CL100K_TOKEN_SPLIT_REGEX, O200K_TOKEN_SPLIT_REGEX } from "gpt-tokenizer/encodingParams/constants";
import { isMissing } from "../../domain/errors.ts";
import { alone, REMEMBERED_CHARACTERS, remembered } from "../../domain/text/remembered.ts";
import { pieceEnd } from "./ascii-pieces.ts";
import { tokenCounter } from "./count-tokens.ts";
import type { Tokenizer } from "./port.ts";
import { packTokens, type Ranks, type TokenTable, unpackTokens } from "./token-table.ts";

const encodings = {
  o200k_base: { split: O200K_TOKEN_SPLIT_REGEX, pieceEnd, ranks: () => import("gpt-tokenizer/bpeRanks/o200k_base") },
  cl100k_base: {
    split: CL100K_TOKEN_SPLIT_REGEX,
    pieceEnd: undefined,
    ranks: () => import("gpt-tokenizer/bpeRanks/cl100k_base"),
  },
} as const satisfies Record<
  string,
  { split: RegExp; pieceEnd: typeof pieceEnd | undefined; ranks(): Promise<{ default: Ranks }> }
>;

export type TokenizerName = keyof typeof encodings;
export const TOKENIZERS = Object.keys(encodings) as TokenizerName[];

/**
 * Where every encoding breaks a text: between two lines, and between two strings of a list in JSON. A long text is counted in such parts: those of
 * a block were counted before, as lines of this block or of an earlier one. (A loop: the matches of a pattern left 120 KB behind for each block.)
 */
function afterBreak(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === NEWLINE) {
      const next = text.charCodeAt(at + 1);
      if (next > BLANK && next < DELETE && next !== SLASH) return at + 1;
    } else if (code === QUOTE && text.charCodeAt(at + 1) === COMMA && text.charCodeAt(at + 2) === QUOTE) {
      const kind = kindOf(text.charCodeAt(at + 3));
      if (kind === LETTER || kind === DIGIT) return at + 3;
    }
  }
  return text.length;
}

const NEWLINE = 10;
const BLANK = 32;
const QUOTE = 34;
const COMMA = 44;
const SLASH = 47;
const DELETE = 127;

/**
 * Merging is quadratic in a run without a break: the library took 13 s for 50,000 Chinese characters, 25 s for 200,000 letters.
 * Runs beyond this length are counted in parts of it. Greedy merging is not optimal, so a cut can also save tokens
 * (up to 2 in a run of random words): each part counts CUT more, so that a budget is overestimated, never exceeded.
 */
const RUN = 512;
const CUT = 2;
const LONG_RUN = new RegExp(`[\\p{L}\\p{M}]{${RUN + 1},}|[^\\p{L}\\p{M}\\p{N}\\s]{${RUN + 1},}|\\s{${RUN + 1},}`, "gu");
const PART = new RegExp(`[^]{1,${RUN}}`, "gu");

/** A run beyond the limit holds two neighbours of every so many places, and all between them. */
const STRIDE = RUN / 2;

/** Quickly no for nearly all texts: the pattern above took a fifth of counting a block. What is not ASCII may be anything. */
function mayHaveLongRun(text: string): boolean {
  for (let at = STRIDE; at + STRIDE <= text.length; at += STRIDE) {
    if (runEnd(text, at) >= at + STRIDE) return true;
  }
  return false;
}

const UNKNOWN = 0;
const LETTER = 1;
const DIGIT = 2;
const KIND_OF = Uint8Array.from({ length: 128 }, (_, code) => {
  const char = String.fromCharCode(code);
  return /[A-Za-z]/.test(char) ? LETTER : /[0-9]/.test(char) ? DIGIT : /\s/.test(char) ? 3 : 4;
});
const kindOf = (code: number): number => (code < 128 ? (KIND_OF[code] as number) : UNKNOWN);

function runEnd(text: string, from: number): number {
  const kind = kindOf(text.charCodeAt(from));
  let end = from + 1;
  while (end < from + STRIDE && end < text.length && isSameRun(kind, kindOf(text.charCodeAt(end)))) end++;
  return end;
}

const isSameRun = (a: number, b: number): boolean => a === b || a === UNKNOWN || b === UNKNOWN;

export async function openTokenizer(name: TokenizerName): Promise<Tokenizer> {
  const countTokens = tokenCounter(await tableOf(name), encodings[name].split, encodings[name].pieceEnd);
  function countParts(text: string): number {
    if (text.length <= RUN || !mayHaveLongRun(text)) return countTokens(text);
    let total = 0;
    let from = 0;
    for (const run of text.matchAll(LONG_RUN)) {
      if (run.index > from) total += countTokens(text.slice(from, run.index));
      for (const part of run[0].matchAll(PART)) total += countTokens(part[0]) + CUT;
      from = run.index + run[0].length;
    }
    return from < text.length ? total + countTokens(text.slice(from)) : total;
  }

  const counted = remembered(countParts, alone);
  return {
    name,
    count(text) {
      if (text.length <= REMEMBERED_CHARACTERS) return counted(text);
      let total = 0;
      for (let from = 0, end = 0; from < text.length; from = end) {
        end = afterBreak(text, from);
        total += counted(text.slice(from, end));
      }
      return total;
    },
  };
}

/** The file that the build wrote; running from the sources before a build, the same from the library's own tables. */
async function tableOf(name: TokenizerName): Promise<TokenTable> {
  try {
    return unpackTokens(await readFile(tokenFile(name)));
  } catch (error) {
    if (!isMissing(error)) throw error;
    return unpackTokens(await packedTokens(name));
  }
}

export function tokenFile(name: TokenizerName): URL {
  const dist = import.meta.url.endsWith(".ts") ? "../../../../dist" : "../../..";
  return new URL(`${dist}/tokens/${name}.bin`, import.meta.url);
}

/** What the build writes into `tokenFile`. */
export const packedTokens = async (name: TokenizerName): Promise<Uint8Array> =>
  packTokens((await encodings[name].ranks()).default);
