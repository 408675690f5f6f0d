import fc from "fast-check";
import cl100kRanks from "gpt-tokenizer/bpeRanks/cl100k_base";
import o200kRanks from "gpt-tokenizer/bpeRanks/o200k_base";
import { countTokens as exactCl100k } from "gpt-tokenizer/encoding/cl100k_base";
import { encode, countTokens as exactO200k } from "gpt-tokenizer/encoding/o200k_base";
import { O200K_TOKEN_SPLIT_REGEX } from "gpt-tokenizer/encodingParams/constants";
import { beforeAll, describe, expect, it } from "vitest";
import { END, pieceEnd } from "../../src/engine/adapters/tokenizer/ascii-pieces.ts";
import { openTokenizer, TOKENIZERS } from "../../src/engine/adapters/tokenizer/gpt.ts";
import type { Tokenizer } from "../../src/engine/adapters/tokenizer/port.ts";
import { NO_TOKEN, packTokens, unpackTokens } from "../../src/engine/adapters/tokenizer/token-table.ts";

const plain = { disallowedSpecial: new Set<string>() };

describe("openTokenizer", () => {
  let o200k: Tokenizer;
  let cl100k: Tokenizer;
  beforeAll(async () => {
    [o200k, cl100k] = await Promise.all([openTokenizer("o200k_base"), openTokenizer("cl100k_base")]);
  });

  it("carries its name", () => {
    expect([o200k.name, cl100k.name]).toEqual(TOKENIZERS);
  });

  it("counts known texts, differently per vocabulary", () => {
    expect(o200k.count("")).toBe(0);
    expect(o200k.count("hello world")).toBe(2);
    expect(cl100k.count("hello world")).toBe(2);
    const chinese = "今天天气很好，我们去公园散步吧。";
    expect(o200k.count(chinese)).toBeLessThan(cl100k.count(chinese));
  });

  it("takes special tokens as ordinary text", () => {
    const text = "before <|endoftext|> <|im_start|> <|fim_prefix|> after";
    expect(() => encode(text)).toThrow();
    expect(o200k.count(text)).toBe(exactO200k(text, plain));
    expect(o200k.count("<|endoftext|>")).toBeGreaterThan(1);
    expect(cl100k.count("<|endoftext|>")).toBeGreaterThan(1);
  });

  it("never throws, equals the library and repeats itself, on any text", () => {
    const anything = fc.oneof(
      fc.string({ unit: "binary", maxLength: 300 }),
      fc.string({ unit: "grapheme", maxLength: 300 }),
      fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 100 }).map((codes) => String.fromCharCode(...codes)),
    );
    fc.assert(
      fc.property(anything, (text) => {
        for (const [tokenizer, exact] of [
          [o200k, exactO200k],
          [cl100k, exactCl100k],
        ] as const) {
          const first = tokenizer.count(text);
          expect(first).toBe(exact(text, plain));
          expect(tokenizer.count(text)).toBe(first);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("splits plain ASCII where the encoding's pattern splits it", () => {
    const units = [
      "a",
      "bc",
      "D",
      "EF",
      "'",
      "s",
      "S",
      "ll",
      "Ve",
      "re",
      "1",
      "23",
      " ",
      "\t",
      "\v",
      "\n",
      "\r",
      "/",
      ".",
      '"',
      "-",
      "\0",
    ];
    const ascii = fc.array(fc.constantFrom(...units), { maxLength: 24 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(ascii, (text) => {
        const bytes = Uint8Array.of(...new TextEncoder().encode(text), END);
        const pieces: string[] = [];
        for (let from = 0, end = 0; from < text.length; from = end) {
          end = pieceEnd(bytes, from);
          pieces.push(text.slice(from, end));
        }
        expect(pieces).toEqual(text.match(O200K_TOKEN_SPLIT_REGEX) ?? []);
      }),
      { numRuns: 3_000 },
    );
  });

  it("gives the same count whether or not the text is still cached", () => {
    const texts = Array.from({ length: 10_000 }, (_, index) => `memory number ${index} about tea`);
    const first = texts.map((text) => o200k.count(text));
    expect(texts.map((text) => o200k.count(text))).toEqual(first);
    expect(first[9_999]).toBe(exactO200k(texts[9_999] ?? "", plain));
  });

  it("counts a long text as the library does, whatever its lines are, also as a list in JSON", () => {
    const word = fc.constantFrom(
      "the",
      "Ada's",
      "don't",
      "SHOUTED",
      "2026",
      "x",
      "Größe",
      "今天",
      "👍🏽",
      "\u0301",
      "a\u0301",
    );
    const mark = fc.constantFrom('"', '","', "'", "/", "\\", "-", "...", ")", "\n", "\r", "\t", " ", "  ");
    const line = fc.array(fc.oneof(word, mark, fc.constant(" ")), { maxLength: 30 }).map((parts) => parts.join(""));
    const lines = fc.array(line, { minLength: 60, maxLength: 120 });
    fc.assert(
      fc.property(lines, (told) => {
        for (const text of [
          told.join("\n"),
          told.join('","'),
          JSON.stringify({ facts: told }),
          `- ${told.join("\n- ")}`,
        ]) {
          expect(o200k.count(text)).toBe(exactO200k(text, plain));
          expect(cl100k.count(text)).toBe(exactCl100k(text, plain));
        }
      }),
      { numRuns: 60 },
    );
  });

  it("never counts a long run without a break below the exact count, nor far above it", () => {
    const unit = fc.oneof(
      fc.constantFrom("the", "there", "and", "water", "ing", "THE", "a", "x"),
      fc.constantFrom("的", "一", "是", "不", "你好", "人"),
      fc.constantFrom("-", "=", "*", "--", "/", "."),
      fc.constantFrom("😀", "👍🏽"),
      fc.constantFrom(" ", "\n", "\t"),
    );
    const oneKind = fc.constantFrom("letters", "han", "marks", "emoji", "space").chain((kind) => {
      const units = {
        letters: ["the", "there", "and", "water", "ing", "THE", "a", "x", "q"],
        han: ["的", "一", "是", "不", "你好", "人", "齉"],
        marks: ["-", "=", "*", "--", "/", "."],
        emoji: ["😀", "👍", "🎉"],
        space: [" ", "\n", "\t"],
      }[kind] as string[];
      return fc.array(fc.constantFrom(...units), { minLength: 520, maxLength: 900 });
    });
    const run = fc.oneof(oneKind, fc.array(unit, { minLength: 520, maxLength: 900 })).map((parts) => parts.join(""));
    fc.assert(
      fc.property(run, (text) => {
        for (const [tokenizer, exact] of [
          [o200k, exactO200k],
          [cl100k, exactCl100k],
        ] as const) {
          const over = tokenizer.count(text) - exact(text, plain);
          expect(over).toBeGreaterThanOrEqual(0);
          expect(over).toBeLessThanOrEqual(8 * Math.ceil(text.length / 512) + 8);
        }
      }),
      { numRuns: 100 },
    );
  });

  it("finishes runs for which the library alone needs minutes", () => {
    expect(o200k.count("a".repeat(500_000))).toBeGreaterThan(10_000);
    expect(o200k.count("你".repeat(100_000))).toBeGreaterThan(10_000);
  });
});

describe("the table of tokens", () => {
  it.each([
    ["o200k_base", o200kRanks],
    ["cl100k_base", cl100kRanks],
  ])("has every token of %s at its rank, and no other", (_, ranks) => {
    const table = unpackTokens(packTokens(ranks));
    const rankOf = (bytes: Uint8Array) => table.rank(bytes, 0, bytes.length);
    const wrong = ranks.findIndex((token, rank) => {
      const bytes = typeof token === "string" ? Buffer.from(token) : Uint8Array.from(token);
      return rankOf(bytes) !== rank;
    });
    expect(wrong).toBe(-1);
    expect(rankOf(Buffer.from("no token is called like this"))).toBe(NO_TOKEN);
    expect(rankOf(new Uint8Array(0))).toBe(NO_TOKEN);
  });

  it("is not made of a token that is too long for it", () => {
    expect(() => packTokens(["a", "b".repeat(256)])).toThrow("longer");
  });
});
