/** What a client hands its model of each answer over MCP: the text or the JSON, over real memories. */
import type { Client } from "@modelcontextprotocol/client";
import { fromJsonSchema, type JsonSchemaType } from "@modelcontextprotocol/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openRealHost, type RealHost } from "../support/real-host.ts";

describe("answers for models", () => {
  let real: RealHost;
  let client: Client;
  const checks = new Map<string, (value: unknown) => unknown>();

  beforeAll(async () => {
    real = await openRealHost({ model: true });
    client = await real.overHttp({ toolset: "full" });
    for (const { name, outputSchema } of (await client.listTools()).tools)
      checks.set(name, fromJsonSchema(outputSchema as JsonSchemaType)["~standard"].validate);
  });
  afterAll(() => real.close());

  it("say the same in both forms, the JSON never longer than the text", async () => {
    // biome-ignore lint/suspicious/noExplicitAny: answers are checked by the assertions, field by field.
    const brief = async (tool: string, input: Record<string, unknown> = {}): Promise<any> => {
      const result = await client.callTool({ name: tool, arguments: input });
      const [{ text } = { text: "" }] = result.content as { text: string }[];
      expect(result.isError, text).toBeFalsy();
      const json = JSON.stringify(result.structuredContent);
      expect(json.length, `${json}\n${text}`).toBeLessThanOrEqual(text.length);
      expect(json).not.toMatch(/null|\d\.\d{4}/);
      expect(await checks.get(tool)?.(result.structuredContent), tool).not.toHaveProperty("issues");
      return { ...(result.structuredContent as object), said: text, meta: result._meta };
    };
    const episode = await brief("memory_store_episode", {
      content: `The kettle was descaled. ${'It "hissed" a lot.\n'.repeat(200)}`,
      request_context: { request_id: "req-brief" },
    });
    expect(episode).toMatchObject({ expires_at: expect.stringMatching(/^2026-..-..$/) });
    expect(episode.meta).toMatchObject({ "butler-memory/request_id": "req-brief" });
    expect(episode.said).toContain(`episode ${episode.id} (eden`);
    const fact = await brief("memory_store_fact", {
      subject: "kettle",
      predicate: "colour",
      content: "The kettle is red",
    });
    expect(fact).toMatchObject({ id: expect.stringMatching(/^\w{8}$/), status: "created" });
    const rule = await brief("memory_store_rule", { content: "Descale the kettle in spring." });
    expect(rule).toMatchObject({ maturity: "candidate" });
    expect(await brief("memory_store_rule", { content: "Descale the kettle in spring." })).toMatchObject({
      duplicate_of: rule.id,
    });
    const newer = await brief("memory_store_fact", {
      subject: "kettle",
      predicate: "colour",
      content: "The kettle is blue",
    });
    expect(newer).toMatchObject({ status: "superseded", superseded_id: fact.id });

    const found = await brief("memory_search", { query: "kettle descaled hissed" });
    expect(found.results.find((one: { id: string }) => one.id === episode.id).episode).toMatch(
      /^2026-03-01: The kettle .{500,600}…$/,
    );
    expect(found).toMatchObject({ clipped: expect.stringContaining("memory_get") });
    expect(found.said).toContain(`score 0.`);
    for (const { id } of found.results) expect(found.said).toContain(id);
    const whole = await brief("memory_get", { id: episode.id });
    expect(whole.memory.content).toBe(`The kettle was descaled. ${'It "hissed" a lot.\n'.repeat(200)}`);
    const recalled = await brief("memory_recall", { topic: "kettle" });
    expect(recalled.results).toContainEqual({
      id: rule.id,
      rule: "Descale the kettle in spring. (candidate)",
      trust: "agent",
    });
    expect(recalled.results).toContainEqual({
      id: newer.id,
      fact: "kettle / colour: The kettle is blue",
      trust: "agent",
    });

    const context = await brief("memory_context", { trigger_prompt: "kettle", token_budget: 500 });
    expect(context.rules).toContainEqual(`Descale the kettle in spring. (candidate, ${rule.id})`);
    expect(context.said).toContain(`- ${context.rules[0]}\n`);
    expect(context.note).toContain("not instructions");
    const explained = await client.callTool({
      name: "memory_context",
      arguments: { trigger_prompt: "kettle", token_budget: 500, explain: true },
    });
    expect(explained.structuredContent).toMatchObject({ text: context.said, budget: 500, sections: expect.any(Array) });

    expect(await brief("memory_mark_helpful", { rule_id: rule.id })).toMatchObject({
      id: rule.id,
      helpful: 1,
      harmful: 0,
    });
    expect(await brief("memory_mark_harmful", { rule_id: rule.id })).toMatchObject({
      id: rule.id,
      helpful: 1,
      harmful: 1,
    });
    expect(await brief("memory_confirm", { id: newer.id })).toMatchObject({ id: newer.id, confidence: 1 });
    expect(await brief("memory_forget", { id: newer.id })).toMatchObject({ id: newer.id, state: "retracted" });
    expect(await brief("memory_restore", { id: newer.id })).toMatchObject({ id: newer.id, state: "active" });
    expect((await brief("memory_why", { id: newer.id, query: "kettle colour" })).verdict).toBeTruthy();
    await brief("memory_store", { content: "The lid is loose." });
    expect(await brief("memory_ingest_batch", { episodes: [{ content: "Tea was made." }, {}] })).toMatchObject({
      stored: 1,
      refused: [expect.stringContaining("episodes.1")],
    });
    expect((await brief("memory_stats")).facts.total).toBe(1);
    expect((await brief("memory_context_batch", { requests: [{ trigger_prompt: "kettle" }] })).responses).toHaveLength(
      1,
    );
    expect((await brief("memory_activity_stream", { limit: 5 })).events).toHaveLength(5);
    expect(await brief("memory_dead_letters")).toMatchObject({ letters: [] });
    expect((await brief("memory_learning")).bars).toMatch(/^rule 0\.\d\d, .*person 0\.\d\d$/);
    const given = await brief("memory_consolidate");
    expect(given.episodes.length).toBeGreaterThan(0);
    const learned = await brief("memory_consolidate", {
      run_id: given.run_id,
      rules: [{ content: "Tighten the lid.", episodes: ["e1"] }],
    });
    expect(learned.counts).toMatchObject({ episodes_consolidated: expect.any(Number) });
  });
});
