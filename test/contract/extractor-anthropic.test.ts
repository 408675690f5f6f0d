import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { anthropicExtractor } from "../../src/engine/adapters/extractor/api/anthropic.ts";
import { fail, say } from "../support/fake-model.ts";
import { type FakeApi, startFakeApi } from "../support/fake-model-api.ts";
import { TEA } from "../support/material.ts";
import { ANSWER, extractorContract } from "./extractor.ts";

const KEY = "an invented key 123";
const ALWAYS = new AbortController().signal;
const FREE = { timeoutMs: 30_000, maxOutputTokens: 4_000, price: { input: 0, output: 0 } };

extractorContract("anthropic", async () => {
  const api = await startFakeApi("anthropic");
  return {
    plan: api.plan,
    asked: () => api.asked,
    close: api.close,
    key: KEY,
    extractor: (settings) =>
      anthropicExtractor({ model: "claude-haiku-5-5", baseUrl: api.baseUrl, apiKey: KEY, ...settings }),
  };
});

describe("Anthropic's API", () => {
  let api: FakeApi;
  beforeEach(async () => {
    api = await startFakeApi("anthropic");
    api.plan(say(JSON.stringify(ANSWER)));
  });
  afterEach(() => api.close());

  const extract = (model: string, apiKey = KEY) =>
    anthropicExtractor({ ...FREE, model, baseUrl: api.baseUrl, apiKey }).extract(TEA, ALWAYS);

  it("is given key, model, limit and the schema as its output format", async () => {
    await extract("claude-haiku-5-5");
    expect(api.headers[0]).toMatchObject({ "x-api-key": KEY, "anthropic-version": expect.any(String) });
    expect(api.bodies[0]).toMatchObject({
      model: "claude-haiku-5-5",
      max_tokens: 4_000,
      output_config: { format: { type: "json_schema", schema: { type: "object", additionalProperties: false } } },
    });
  });

  it("is given a temperature of 0 by models that take one alone", async () => {
    await extract("claude-haiku-4-5");
    expect(api.bodies[0]).toHaveProperty("temperature", 0);
    api.plan(say(JSON.stringify(ANSWER)));
    await extract("claude-haiku-5-5");
    expect(api.bodies[0]).not.toHaveProperty("temperature");
  });

  it("is given the schema as a tool for models that have no output format", async () => {
    const { answer } = await extract("claude-sonnet-4-20250514");
    expect(answer).toEqual(ANSWER);
    expect(api.bodies[0]).toMatchObject({ tools: [{ input_schema: { type: "object" } }] });
    expect(api.bodies[0]).not.toHaveProperty("output_config");
  });

  it("is given the wrong answer back as the model's own turn", async () => {
    api.plan(say("Half {"), say(JSON.stringify(ANSWER)));
    await extract("claude-haiku-5-5");
    expect(api.asked[1]?.turns.map((turn) => turn.role)).toEqual(["user", "assistant", "user"]);
    expect(api.asked[1]?.turns[1]?.text).toBe("Half {");
  });

  it("is not asked without a key", async () => {
    const failing = extract("claude-haiku-5-5", " ");
    await expect(failing).rejects.toMatchObject({ kind: "misconfigured", message: expect.stringContaining("key") });
    expect(api.asked).toHaveLength(0);
  });

  it.each(["nonsense", "file:///etc/hosts", "http://me:a-password-of-mine@127.0.0.1:1/v1"])(
    "is not asked at %j, and a password in there is not told",
    async (baseUrl) => {
      const one = anthropicExtractor({ ...FREE, model: "claude-haiku-5-5", baseUrl, apiKey: KEY });
      const failure = await one.extract(TEA, ALWAYS).catch((error: Error) => error);
      expect(failure).toMatchObject({ kind: "misconfigured", message: expect.stringContaining("base_url") });
      expect((failure as Error).message).not.toContain("a-password-of-mine");
    },
  );

  it("is unavailable when nobody listens", async () => {
    await api.close();
    await expect(extract("claude-haiku-5-5")).rejects.toMatchObject({ kind: "unavailable" });
    api = await startFakeApi("anthropic");
  });

  it("is told by a cut answer that it needs more tokens, without a second call", async () => {
    api.plan({ kind: "cut off", text: '{"facts": [' });
    await expect(extract("claude-haiku-5-5")).rejects.toMatchObject({
      kind: "invalid_answer",
      message: expect.stringContaining("cut off"),
      usage: { input_tokens: 1_000, output_tokens: 100, cost_usd: 0 },
    });
    expect(api.asked).toHaveLength(1);
  });

  it("is not asked twice when it refuses a parameter", async () => {
    api.plan(fail(400, "temperature is deprecated for this model"));
    await expect(extract("claude-haiku-5-5")).rejects.toMatchObject({ kind: "misconfigured" });
    expect(api.asked).toHaveLength(1);
  });
});
