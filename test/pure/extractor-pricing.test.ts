import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addUsage, ceilingOf, costOf, knownPrice, type Price } from "../../src/engine/adapters/extractor/pricing.ts";
import { openTokenizer } from "../../src/engine/adapters/tokenizer/gpt.ts";

const dollars = fc.double({ min: 0, max: 100, noNaN: true });
const price: fc.Arbitrary<Price> = fc
  .record({ input: dollars, output: dollars, more: fc.option(fc.tuple(fc.nat(50_000), dollars, dollars)) })
  .map(({ input, output, more }) =>
    more === null
      ? { input, output }
      : { input, output, long: { overTokens: more[0], input: input + more[1], output: output + more[2] } },
  );

describe("the ceiling", () => {
  it("is never below what a call and its repair cost", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 2_000 }),
        fc.integer({ min: 1, max: 128_000 }),
        price,
        fc.tuple(...Array.from({ length: 4 }, () => fc.double({ min: 0, max: 1, noNaN: true }))),
        (prompt, most, rates, [firstIn, firstOut, againIn, againOut] = []) => {
          const tokens = Buffer.byteLength(prompt);
          const first = { input_tokens: tokens * firstIn!, output_tokens: most * firstOut! };
          // A repair sends the prompt and the first answer again.
          const again = { input_tokens: (tokens + first.output_tokens) * againIn!, output_tokens: most * againOut! };
          const spent = costOf(first, rates) + costOf(again, rates);
          expect(ceilingOf(prompt, most, rates)).toBeGreaterThanOrEqual(spent);
        },
      ),
    );
  });

  it("counts more tokens than a real tokenizer", async () => {
    const tokenizer = await openTokenizer("o200k_base");
    const perToken: Price = { input: 1_000_000, output: 0 };
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 500 }),
      fc.string({ maxLength: 500 }),
      fc.base64String({ maxLength: 500 }),
      fc.lorem({ maxCount: 60 }),
    );
    fc.assert(
      fc.property(text, (words) => {
        const counted = ceilingOf(words, 0, perToken) - ceilingOf("", 0, perToken);
        expect(counted).toBeGreaterThanOrEqual(2 * tokenizer.count(words));
      }),
    );
  });

  it("is nothing for what costs nothing, and grows with what is asked", () => {
    expect(ceilingOf("tea", 4_000, { input: 0, output: 0 })).toBe(0);
    const rates = { input: 3, output: 15 };
    expect(ceilingOf("tea tea", 4_000, rates)).toBeGreaterThan(ceilingOf("tea", 4_000, rates));
    expect(ceilingOf("tea", 8_000, rates)).toBeGreaterThan(ceilingOf("tea", 4_000, rates));
  });
});

describe("a cost", () => {
  it("is dollars for a million tokens", () => {
    expect(costOf({ input_tokens: 1_000_000, output_tokens: 0 }, { input: 3, output: 15 })).toBe(3);
    expect(costOf({ input_tokens: 0, output_tokens: 2_000_000 }, { input: 3, output: 15 })).toBe(30);
  });

  it("of a long prompt is that of long prompts", () => {
    const rates: Price = { input: 1, output: 2, long: { overTokens: 100, input: 10, output: 20 } };
    expect(costOf({ input_tokens: 100, output_tokens: 10 }, rates)).toBeCloseTo(0.00012, 12);
    expect(costOf({ input_tokens: 101, output_tokens: 10 }, rates)).toBeCloseTo(0.00121, 12);
  });

  it("adds up", () => {
    const one = { input_tokens: 1, output_tokens: 2, cost_usd: 0.5 };
    expect(addUsage(one, one)).toEqual({ input_tokens: 2, output_tokens: 4, cost_usd: 1 });
  });
});

describe("the price list", () => {
  it("knows models by name, by dated name and by Claude Code's alias", () => {
    expect(knownPrice("claude-haiku-4-5")).toEqual({ input: 1, output: 5 });
    expect(knownPrice("claude-haiku-4-5-20251001")).toEqual({ input: 1, output: 5 });
    expect(knownPrice("haiku")).toEqual(knownPrice("claude-haiku-5-5"));
    expect(knownPrice("opus")).toBeDefined();
  });

  it.each(["claude-opus-5-9", "claude-opus-50", "gpt-5", "", "toString", "__proto__"])(
    "does not guess the price of %j",
    (model) => {
      expect(knownPrice(model)).toBeUndefined();
    },
  );
});
