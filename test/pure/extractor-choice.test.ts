/** Which extractor a butler.toml asks for, and what is refused before it costs anything. */
import { describe, expect, it } from "vitest";
import { silentLog } from "../../src/engine/adapters/log.ts";
import { Settings } from "../../src/engine/memory/settings.ts";
import { extractorOrWhyNot, openExtractor } from "../../src/main/wiring/extractor.ts";

const choose = (extractor: object, variables: Record<string, string> = {}) =>
  openExtractor(Settings.parse({ extractor }).extractor, variables);
const material = {
  butler: "general",
  today: "2026-03-01",
  episodes: [
    {
      label: "e1",
      text: "I live in Porto.",
      speaker: "user",
      day: "2026-03-01",
      trust: "user" as const,
      session: null,
    },
  ],
  facts: [],
  rules: [],
};

describe("the extractor", () => {
  it("is local unless said otherwise, costs nothing and needs nothing", async () => {
    const extractor = choose({});
    expect(extractor.provider).toBe("local");
    expect(extractor.ceiling(material)).toBe(0);
    const { answer, usage } = await extractor.extract(material, new AbortController().signal);
    expect(usage.cost_usd).toBe(0);
    expect(answer).toMatchObject({ facts: [{ subject: "user", predicate: "lives_in", episodes: ["e1"] }] });
  });

  it("of a provider knows its price before the first call", () => {
    const key = { ANTHROPIC_API_KEY: "k" };
    expect(choose({ provider: "anthropic" }, key).ceiling(material)).toBeGreaterThan(0);
    const dear = choose({ provider: "anthropic", input_price: 100, output_price: 500 }, key);
    expect(dear.ceiling(material)).toBeGreaterThan(choose({ provider: "anthropic" }, key).ceiling(material));
    const own = choose({ provider: "openai-compatible", model: "m", base_url: "http://127.0.0.1:11434/v1" });
    expect(own.ceiling(material)).toBe(0);
    expect(choose({ provider: "claude-cli" }).provider).toBe("claude-cli");
  });

  it.each([
    [{ provider: "anthropic" }, {}, "ANTHROPIC_API_KEY"],
    [{ provider: "anthropic", api_key_env: "MY_KEY" }, {}, "MY_KEY"],
    [{ provider: "anthropic", model: "somebody-else-1" }, { ANTHROPIC_API_KEY: "k" }, "input_price and output_price"],
    [{ provider: "openai-compatible", model: "m" }, {}, "base_url"],
    [{ provider: "openai-compatible", model: "m", base_url: "https://models.example/v1" }, {}, "price of"],
  ])("refuses %j with words", (wishes, variables, words) => {
    expect(() => choose(wishes, variables)).toThrow(words);
  });

  it("that cannot be had says why at each run, and keeps nothing else from working", async () => {
    const warned: unknown[] = [];
    const log = { ...silentLog, warn: (fields: object) => void warned.push(fields) };
    const extractor = extractorOrWhyNot(Settings.parse({ extractor: { provider: "anthropic" } }).extractor, log, {});
    expect(warned).toMatchObject([{ provider: "anthropic" }]);
    await expect(extractor.extract(material, new AbortController().signal)).rejects.toMatchObject({
      kind: "misconfigured",
      message: expect.stringContaining("ANTHROPIC_API_KEY"),
    });
  });

  it("is asked for with known words only", () => {
    expect(() => Settings.parse({ extractor: { provider: "psychic" } })).toThrow();
    expect(() => Settings.parse({ extractor: { timeout_seconds: 600 } })).toThrow();
    expect(() => Settings.parse({ extractor: { daily_budget_usd: -1 } })).toThrow();
  });
});
