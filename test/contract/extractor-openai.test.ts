import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openaiCompatibleExtractor } from "../../src/engine/adapters/extractor/api/openai-compatible.ts";
import { say } from "../support/fake-model.ts";
import { type FakeApi, startFakeApi } from "../support/fake-model-api.ts";
import { TEA } from "../support/material.ts";
import { ANSWER, extractorContract } from "./extractor.ts";

const KEY = "an invented key 456";
const ALWAYS = new AbortController().signal;
const FREE = { timeoutMs: 30_000, maxOutputTokens: 4_000, price: { input: 0, output: 0 } };

extractorContract("openai-compatible", async () => {
  const api = await startFakeApi("openai");
  return {
    plan: api.plan,
    asked: () => api.asked,
    close: api.close,
    key: KEY,
    extractor: (settings) =>
      openaiCompatibleExtractor({ model: "small-model", baseUrl: api.baseUrl, apiKey: KEY, ...settings }),
  };
});

describe("an OpenAI-compatible server", () => {
  let api: FakeApi;
  beforeEach(async () => {
    api = await startFakeApi("openai");
    api.plan(say(JSON.stringify(ANSWER)));
  });
  afterEach(() => api.close());

  const open = (baseUrl = api.baseUrl, apiKey = KEY) =>
    openaiCompatibleExtractor({ ...FREE, model: "small-model", baseUrl, apiKey });

  it("is given key, model, limit, temperature and the strict schema", async () => {
    await open().extract(TEA, ALWAYS);
    expect(api.headers[0]).toMatchObject({ authorization: `Bearer ${KEY}` });
    expect(api.bodies[0]).toMatchObject({
      model: "small-model",
      max_tokens: 4_000,
      temperature: 0,
      response_format: { type: "json_schema", json_schema: { strict: true, schema: { type: "object" } } },
    });
  });

  it("may be named with slashes at the end", async () => {
    expect((await open(`${api.baseUrl}//`).extract(TEA, ALWAYS)).answer).toEqual(ANSWER);
  });

  it("is asked again in its own way when it takes no temperature and another limit, and that is remembered", async () => {
    api.refuseWhen((body) => {
      if ("max_tokens" in body) return "Unsupported parameter: use 'max_completion_tokens' instead.";
      return "temperature" in body ? "Unsupported value: 'temperature' does not support 0 with this model." : undefined;
    });
    const one = open();
    expect(await one.extract(TEA, ALWAYS)).toMatchObject({ answer: ANSWER, repaired: false });
    expect(api.bodies[0]).toMatchObject({ max_completion_tokens: 4_000 });
    expect(api.bodies[0]).not.toHaveProperty("temperature");
    let refused = 0;
    api.refuseWhen((body) => {
      if ("max_tokens" in body || "temperature" in body) refused++;
      return undefined;
    });
    await one.extract(TEA, ALWAYS);
    expect(refused).toBe(0);
  });

  it("that goes on refusing a parameter is not asked for ever", async () => {
    api.refuseWhen(() => "temperature and max_completion_tokens are both wrong");
    await expect(open().extract(TEA, ALWAYS)).rejects.toMatchObject({ kind: "misconfigured" });
    expect(api.asked).toHaveLength(0);
  });

  it("without a key is sent none", async () => {
    const message = expect.stringContaining("no key");
    await expect(open(api.baseUrl, "").extract(TEA, ALWAYS)).rejects.toMatchObject({ kind: "misconfigured", message });
  });

  it("whose filter stops a request has refused it", async () => {
    api.refuseWhen(() => "The response was filtered due to the prompt triggering the content_filter policy.");
    await expect(open().extract(TEA, ALWAYS)).rejects.toMatchObject({ kind: "refused" });
  });

  it("that is cut off gives no usable answer", async () => {
    api.plan({ kind: "cut off", text: '{"facts": [' });
    await expect(open().extract(TEA, ALWAYS)).rejects.toMatchObject({ kind: "invalid_answer" });
  });
});
