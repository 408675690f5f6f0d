/** All twenty-one tools as an agent meets them: the official client, the real menu, one small story from start to end. */

import { fileURLToPath } from "node:url";
import type { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { fromJsonSchema, type JsonSchemaType } from "@modelcontextprotocol/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { shortId } from "../../src/engine/domain/short-id.ts";
import { TEST_MODEL_CACHE } from "../support/model.ts";
import { butler, cleanUp, emptyHome } from "../support/owner-processes.ts";
import { PatientClient } from "../support/patient-client.ts";
import { openRealHost, type RealHost } from "../support/real-host.ts";
import { WHOLE } from "../support/whole-answers.ts";

const CORE = [
  "memory_context",
  "memory_search",
  "memory_recall",
  "memory_store_episode",
  "memory_store_fact",
  "memory_store_rule",
  "memory_confirm",
  "memory_mark_helpful",
  "memory_mark_harmful",
  "memory_forget",
];
const REST = [
  "memory_store",
  "memory_get",
  "memory_why",
  "memory_restore",
  "memory_stats",
  "memory_context_batch",
  "memory_ingest_batch",
  "memory_activity_stream",
  "memory_consolidate",
  "memory_dead_letters",
  "memory_learning",
];

interface Door {
  connect(toolset: "core" | "full"): Promise<Client>;
  close(): Promise<void>;
}

async function httpDoor(): Promise<Door> {
  const real: RealHost = await openRealHost({ model: true });
  return { connect: (toolset) => real.overHttp({ toolset }), close: () => real.close() };
}

/** `butler mcp`, as an agent starts it. */
async function stdioDoor(): Promise<Door> {
  const entry = fileURLToPath(new URL("../../dist/main/butler.js", import.meta.url));
  const home = emptyHome();
  const variables = {
    BUTLER_NOW: "2026-03-01T12:00:00.000Z",
    BUTLER_MODEL_DIR: TEST_MODEL_CACHE,
    BUTLER_IDLE_SECONDS: "30",
  };
  const clients: Client[] = [];
  return {
    async connect(toolset) {
      const client = new PatientClient({ name: "test", version: "1" });
      clients.push(client);
      const args = [entry, "mcp", "--butler", "general", "--tools", toolset];
      await client.connect(
        new StdioClientTransport({
          command: process.execPath,
          args,
          env: { ...variables, BUTLER_HOME: home },
          stderr: "ignore",
        }),
      );
      return client;
    },
    async close() {
      for (const client of clients) await client.close();
      await butler(home, ["stop"]);
      await cleanUp();
    },
  };
}

describe.each([
  ["HTTP", httpDoor],
  ["stdio", stdioDoor],
] as const)("every tool over %s", (name, open) => {
  let door: Door;
  let client: Client;
  const checks = new Map<string, (value: unknown) => unknown>();
  const called = new Set<string>();

  beforeAll(async () => {
    door = await open();
    client = await door.connect("full");
  });
  afterAll(() => door.close());

  /** Calls as an agent does, and holds the answer against what was advertised. */
  // biome-ignore lint/suspicious/noExplicitAny: answers are checked by the assertions of each test, field by field.
  async function call(tool: string, input: Record<string, unknown> = {}): Promise<any> {
    const result = await client.callTool({ name: tool, arguments: input, _meta: WHOLE });
    expect(result.isError, JSON.stringify(result.content)).toBeFalsy();
    const [text] = result.content as { type: string; text: string }[];
    expect(text).toMatchObject({ type: "text", text: expect.stringMatching(/\S{3}/) });
    expect(text?.text).not.toMatch(/undefined|NaN|\[object/);
    expect(await checks.get(tool)?.(result.structuredContent), tool).not.toHaveProperty("issues");
    called.add(tool);
    return { ...(result.structuredContent as object), said: text?.text };
  }

  it("lists the ten core tools, and all twenty-one when asked", async () => {
    const core = await door.connect("core");
    const { tools } = await core.listTools();
    expect(tools.map((tool) => tool.name)).toEqual(CORE);
    // What every session pays before its first word; 4 bytes are about a token.
    const seen = tools
      .map(({ name: tool, description, inputSchema }) => JSON.stringify({ tool, description, inputSchema }))
      .join("").length;
    expect(seen).toBeLessThan(10_500);
    const asked = tools.flatMap(({ inputSchema: { properties = {} } }) => Object.keys(properties));
    expect(asked).not.toContain("request_context");
    expect(asked).not.toContain("except_session");
    expect(JSON.stringify(tools).length).toBeLessThan(17_000);

    const { tools: all } = await client.listTools();
    expect(all.map((tool) => tool.name)).toEqual([...CORE, ...REST]);
    for (const tool of all) {
      expect(tool.title, tool.name).toBeTruthy();
      expect(tool.description?.length, tool.name).toBeGreaterThan(40);
      expect(tool.annotations, tool.name).toMatchObject({ title: tool.title, openWorldHint: false });
      expect(tool.annotations?.destructiveHint, tool.name).toBe(tool.name === "memory_forget");
      expect(tool.inputSchema, tool.name).toMatchObject({ type: "object", additionalProperties: false });
      expect(tool.outputSchema, tool.name).toMatchObject({ type: "object", properties: { error: {} } });
      expect(JSON.stringify(tool).length, tool.name).toBeLessThan(6_000);
      expect(JSON.stringify(tool), tool.name).not.toMatch(/\(\?:|\$schema|9007199254740991|"pattern":"[^"]{61}/);
      checks.set(tool.name, fromJsonSchema(tool.outputSchema as JsonSchemaType)["~standard"].validate);
    }
    const readers = all.filter((tool) => tool.annotations?.readOnlyHint).map((tool) => tool.name);
    expect(readers.toSorted()).toEqual([
      "memory_activity_stream",
      "memory_context",
      "memory_context_batch",
      "memory_get",
      "memory_recall",
      "memory_search",
      "memory_stats",
      "memory_why",
    ]);
  });

  it("lives a small story with all of them", async () => {
    const request_context = { request_id: `req-${name}`, subrequest_id: "sub", segment_id: "seg" };
    const episode = await call("memory_store_episode", {
      content: "Ada said she only drinks decaffeinated coffee after lunch.",
      butler: "general",
      session_id: "monday",
      tags: ["kitchen"],
      request_context,
    });
    expect(episode).toMatchObject({ tier: "eden", duplicate: false, redactions: [], request_id: `req-${name}` });

    const fact = await call("memory_store_fact", {
      subject: "Ada",
      predicate: "coffee after lunch",
      content: "Ada drinks decaffeinated coffee after lunch",
      importance: 8,
      permanence: "stable",
      source_episode_id: episode.id,
      request_context,
    });
    expect(fact).toMatchObject({ status: "created", superseded_id: null, request_id: `req-${name}` });
    const rule = await call("memory_store_rule", {
      content: "Ask before brewing coffee in the afternoon.",
      source_episode_id: episode.id,
    });
    expect(rule).toMatchObject({ maturity: "candidate", duplicate_of: null });
    const note = await call("memory_store", { content: "The grinder is being repaired.", tier: "mid" });
    expect(note.tier).toBe("mid");
    const batch = await call("memory_ingest_batch", { episodes: [{ content: "Bought oat milk." }, { content: "" }] });
    expect(batch.results.map((row: { ok: boolean }) => row.ok)).toEqual([true, false]);
    expect(batch.said).toMatch(/^Stored 1 of 2 episodes; 1 refused:\n- episodes\.1\.content: [^\n]+$/);

    const found = await call("memory_search", { query: "what does she drink in the afternoon?", explain: true });
    expect(found.degraded, "the real model answers").toBeUndefined();
    expect(found.results.map((r: { id: string }) => r.id)).toContain(fact.id);
    expect(found.results[0].explain.cosine).toBeGreaterThan(0);
    expect(found.said).toContain(shortId(found.results[0].id));
    const recalled = await call("memory_recall", { topic: "coffee" });
    expect(recalled.results.map((r: { type: string }) => r.type).toSorted()).toEqual(["fact", "rule"]);
    const context = await call("memory_context", {
      trigger_prompt: "Make Ada a coffee",
      butler: "general",
      token_budget: 400,
    });
    expect(context.text).toContain("decaffeinated");
    expect(context.tokens).toBeLessThanOrEqual(400);
    expect(context.said).toBe(context.text);
    const contexts = await call("memory_context_batch", {
      requests: [{ trigger_prompt: "coffee" }, { trigger_prompt: "milk", token_budget: 0 }],
    });
    expect(contexts.responses.map((r: { ok: boolean }) => r.ok)).toEqual([true, false]);
    expect(contexts.said).toContain(contexts.responses[0].text);
    expect(contexts.said).toContain(contexts.responses[1].error.message);

    const confirmed = await call("memory_confirm", { type: "fact", id: fact.id });
    expect(confirmed).toMatchObject({ state: "active", effective_confidence: 1 });
    const helped = await call("memory_mark_helpful", { rule_id: rule.id, session_id: "monday" });
    expect(helped).toMatchObject({ success_count: 1, harmful_count: 0, maturity: "candidate", inverted: false });
    const harmed = await call("memory_mark_harmful", {
      rule_id: rule.id,
      reason: "She was in a hurry.",
      session_id: "tuesday",
    });
    expect(harmed).toMatchObject({ success_count: 1, harmful_count: 1 });

    const superseded = await call("memory_store_fact", {
      subject: "ada",
      predicate: "Coffee_after_lunch",
      content: "Ada drinks no coffee after lunch",
      importance: 8,
    });
    expect(superseded).toMatchObject({ status: "superseded", superseded_id: fact.id });
    const old = await call("memory_get", { id: fact.id });
    expect(old.memory).toMatchObject({ type: "fact", state: "superseded" });
    expect(old.links.outbound).toContainEqual(expect.objectContaining({ relation: "derived_from", id: episode.id }));
    expect(old.links.inbound).toContainEqual(expect.objectContaining({ relation: "supersedes", id: superseded.id }));
    expect(old.history[0]).toMatchObject({ request_id: `req-${name}` });

    const kept = await call("memory_why", { id: fact.id, query: "coffee after lunch" });
    expect(kept).toMatchObject({ shown: false, place: null, verdict: expect.stringContaining(superseded.id) });
    const placed = await call("memory_why", { id: superseded.id, query: "Make Ada a coffee", for: "context" });
    expect(placed).toMatchObject({ shown: true, explain: { confidence: 1 } });
    expect(placed.said).toContain(placed.verdict);

    const forgotten = await call("memory_forget", { id: note.id, reason: "Repaired." });
    expect(forgotten).toMatchObject({ type: "episode", state: "retracted", recoverable: true });
    const gone = await call("memory_search", { query: "grinder", mode: "keyword" });
    expect(gone.results).toEqual([]);
    expect(await call("memory_restore", { id: note.id })).toMatchObject({ type: "episode", state: "active" });
    const stats = await call("memory_stats");
    expect(stats).toMatchObject({
      episodes: { total: 3, by_tier: { eden: 2, mid: 1 } },
      facts: { total: 1 },
      rules: { total: 1 },
    });

    const given = await call("memory_consolidate");
    expect(given).toMatchObject({
      state: "given",
      episodes: expect.arrayContaining([expect.objectContaining({ label: "e1" })]),
    });
    const learned = await call("memory_consolidate", {
      run_id: given.run_id,
      rules: [{ content: "Offer decaffeinated coffee after lunch.", episodes: ["e1"] }],
    });
    expect(learned).toMatchObject({ state: "learned", counts: { rules_created: 1 } });
    expect(await call("memory_dead_letters")).toMatchObject({ redriven: [], letters: [] });
    expect(await call("memory_learning", { reset: true })).toMatchObject({
      butler: "general",
      reset: false,
      examples: [],
    });
    const stream = await call("memory_activity_stream", { limit: 1000 });
    const caused = stream.events.filter((event: { request_id: string | null }) => event.request_id === `req-${name}`);
    expect(caused.map((event: { entity_id: string }) => event.entity_id)).toEqual(
      expect.arrayContaining([episode.id, fact.id]),
    );
    expect(caused[0]).toMatchObject({ subrequest_id: "sub", segment_id: "seg" });
    const kinds = stream.events.map((event: { event_type: string }) => event.event_type.split(".")[0]);
    expect(kinds).toEqual(expect.arrayContaining(["episode", "fact", "rule"]));
    expect([...called].toSorted()).toEqual([...CORE, ...REST].toSorted());
  });

  it("refuses an unknown argument by name, with the request's id", async () => {
    const request_context = { request_id: "req-bad" };
    const result = await client.callTool({
      name: "memory_search",
      arguments: { query: "x", colour: "red", request_context },
    });
    expect(result).toMatchObject({
      isError: true,
      content: [{ type: "text", text: 'unknown argument "colour"; leave it out.' }],
      structuredContent: { error: { code: "invalid_input", field: "colour", request_id: "req-bad" } },
    });
    expect(await checks.get("memory_search")?.(result.structuredContent)).not.toHaveProperty("issues");
  });

  it("serves resources and prompts over real memories", async () => {
    const read = async (uri: string) =>
      (await client.readResource({ uri })).contents[0] as { mimeType: string; text: string };
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(["memory://context/general", "memory://stats"]);
    const context = await read("memory://context/general?prompt=coffee");
    expect(context).toMatchObject({ mimeType: "text/plain", text: expect.stringContaining("no coffee after lunch") });
    expect(JSON.parse((await read("memory://stats")).text).facts.total).toBe(1);
    const { results } = await call("memory_recall", { topic: "coffee" });
    for (const { type, id, content } of results) {
      expect(JSON.parse((await read(`memory://${type}/${id}`)).text).memory).toMatchObject({ type, id, content });
    }
    const missing = "memory://fact/0198c0de-1234-7abc-8def-0123456789ab";
    await expect(client.readResource({ uri: missing })).rejects.toMatchObject({
      data: { code: "not_found", uri: missing },
    });
    await expect(client.readResource({ uri: "memory://context/travel" })).rejects.toMatchObject({
      data: { code: "forbidden" },
    });

    for (const [prompt, args] of [
      ["recall", { topic: "coffee" }],
      ["consolidate", {}],
      ["handoff", {}],
    ] as const) {
      const { messages } = await client.getPrompt({ name: prompt, arguments: args });
      const text = messages.map(({ content }) => (content.type === "text" ? content.text : "")).join("\n");
      const named = [...text.matchAll(/memory_[a-z_]+/g)].map(([tool]) => tool);
      expect(named.length, prompt).toBeGreaterThan(0);
      // An agent sees the core set by default, so a prompt may ask for nothing else.
      // Offered with an "if you have it".
      for (const tool of named.filter((one) => one !== "memory_consolidate")) expect(CORE, prompt).toContain(tool);
    }
  });
});
