/** Roles, scopes, limits and refusals in a running daemon: every door, the commands, the log, the stream and the metrics. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { butler, cleanUp, emptyHome, up } from "../support/owner-processes.ts";
import { PATIENCE } from "../support/patience.ts";
import { PatientClient } from "../support/patient-client.ts";

const home = emptyHome();
const tokens: Record<string, string> = {};
let address = "";

const made = async (...args: string[]): Promise<string> => {
  const { stdout, stderr } = await butler(home, ["token", ...args, "--json"]);
  expect(stderr).toBe("");
  return JSON.parse(stdout).token;
};

beforeAll(async () => {
  // One bucket is small enough to be emptied by a test and takes long to fill again.
  const limits = [
    "calls_per_second = 0.5",
    "tenant_calls_per_second = 1000",
    "burst_seconds = 60",
    "max_body_bytes = 20000",
  ];
  writeFileSync(join(home, "daemon.toml"), `[limits]\n${limits.join("\n")}\n`);
  ({ address } = await up(home));
  tokens.home = readFileSync(join(home, "token"), "utf8").trim();
  // A client over MCP waits a minute for its answer, which is not enough for a new store on a busy machine.
  expect((await post(tool("memory_stats"), "home", {})).status).toBe(200);
  tokens.writer = await made("create", "--name", "writer", "--butler", "general", "--expires", "90d");
  tokens.reader = await made("create", "--name", "reader", "--butler", "general", "--role", "reader");
  tokens.app = await made("create", "--name", "app", "--butler", "general", "--scope", "general/app");
  tokens.eager = await made("create", "--name", "eager", "--butler", "general");
  tokens.soon = await made("create", "--name", "soon", "--butler", "general", "--expires", "2d");
});
afterAll(cleanUp);

async function post(path: string, token: string, body: object, headers: Record<string, string> = {}) {
  const sent = { authorization: `Bearer ${tokens[token] ?? token}`, "content-type": "application/json", ...headers };
  const response = await fetch(`${address}${path}`, { method: "POST", headers: sent, body: JSON.stringify(body) });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === "" ? {} : JSON.parse(text) };
}
const tool = (name: string) => `/api/butlers/general/tools/${name}`;

async function connected(token: string) {
  const client = new PatientClient({ name: "test", version: "1" });
  const headers = { Authorization: `Bearer ${tokens[token]}` };
  const url = new URL(`${address}/butlers/general/mcp?tools=full`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  return client;
}

test("a reader changes nothing at any door, and is offered nothing that would", async () => {
  const reader = await connected("reader");
  const { tools } = await reader.listTools();
  expect(tools.map(({ name }) => name)).toContain("memory_search");
  expect(tools.filter(({ annotations }) => annotations?.readOnlyHint !== true)).toEqual([]);
  const refused = await reader.callTool({ name: "memory_store_episode", arguments: { content: "by a reader" } });
  expect(refused).toMatchObject({ isError: true, structuredContent: { error: { code: "forbidden", field: "role" } } });
  await reader.close();
  expect((await post(tool("memory_store_fact"), "reader", { subject: "a", predicate: "b", content: "c" })).status).toBe(
    403,
  );
  const said = { session_id: "r", cwd: "/w", prompt: "by a reader", prompt_response: "no" };
  expect((await post("/hooks/gemini/AfterAgent?butler=general", "reader", said)).status).toBe(403);
  expect((await post("/api/butlers/general/memory/tokens", "reader", { name: "mine" })).status).toBe(403);
  const { body } = await post(tool("memory_stats"), "home", { scope: "*" });
  expect(body.episodes.total).toBe(0);
});

test("a token for one project stands in it: tools, MCP, hooks, resources and the stream", async () => {
  await post(tool("memory_store_fact"), "writer", { subject: "lamp", predicate: "colour", content: "vermilion" });
  await post(tool("memory_store_fact"), "app", { subject: "chair", predicate: "colour", content: "cerulean" });
  const app = await connected("app");
  const found = await app.callTool({ name: "memory_search", arguments: { query: "colour of lamp and chair" } });
  expect(JSON.stringify(found)).toContain("cerulean");
  expect(JSON.stringify(found)).not.toContain("vermilion");
  const context = await app.readResource({ uri: "memory://context/general?prompt=colour" });
  expect(JSON.stringify(context)).toContain("cerulean");
  expect(JSON.stringify(context)).not.toContain("vermilion");
  await app.close();
  const said = {
    session_id: "p",
    cwd: "/somewhere",
    prompt: "The chair stays in the hall.",
    prompt_response: "Noted.",
  };
  expect((await post("/hooks/gemini/AfterAgent?butler=general", "app", said)).status).toBeLessThan(300);
  const elsewhere = { "x-butler-project": "other" };
  expect((await post("/hooks/gemini/AfterAgent?butler=general", "app", said, elsewhere)).status).toBe(403);
  await vi.waitFor(async () => {
    const { body } = await post(tool("memory_search"), "home", { query: "chair in the hall", scope: "*" });
    expect(body.results.map(({ scope }: { scope: string }) => scope)).toContain("general/app");
  }, PATIENCE);
  const live = await fetch(`${address}/api/butlers/general/memory/activity/live?cursor=e0`, {
    headers: { authorization: `Bearer ${tokens.app}` },
  });
  const [, reading] = [live.status, live.body?.getReader()];
  let streamed = "";
  while (!streamed.includes("hall")) {
    const { value, done } = (await reading?.read()) ?? { done: true };
    if (done) break;
    streamed += new TextDecoder().decode(value);
  }
  await reading?.cancel();
  expect(streamed).toContain("cerulean");
  expect(streamed).not.toContain("vermilion");
  for (const path of ["sessions", "settings"]) {
    const headers = { authorization: `Bearer ${tokens.app}` };
    expect((await fetch(`${address}/api/butlers/general/memory/${path}`, { headers })).status, path).toBe(403);
  }
});

test("over its rate a token is told when to come back, over HTTP and as the answer of a tool; others notice nothing", async () => {
  const client = await connected("eager");
  let last = await post(tool("memory_stats"), "eager", {});
  for (let n = 0; n < 40 && last.status === 200; n++) last = await post(tool("memory_stats"), "eager", {});
  expect(last).toMatchObject({ status: 429, body: { error: { code: "unavailable", field: "rate" } } });
  expect(Number(last.headers.get("retry-after"))).toBe(last.body.error.retry_after);
  const told = await client.callTool({ name: "memory_stats", arguments: {} });
  expect(told).toMatchObject({ isError: true, structuredContent: { error: { code: "unavailable", field: "rate" } } });
  expect(JSON.stringify(told.content)).toMatch(/over its limit; try again in \d+ second/);
  // Beyond that not even the body is read.
  await expect(client.callTool({ name: "memory_stats", arguments: {} })).rejects.toThrow();
  await client.close();
  expect((await post(tool("memory_stats"), "writer", {})).status).toBe(200);
  const large = await post(tool("memory_store_episode"), "writer", { content: "x".repeat(25_000) });
  expect(large.status).toBe(413);
});

test("what was refused is in the log, the stream and the metrics, without a secret", async () => {
  for (let n = 0; n < 300; n++)
    await fetch(`${address}/api/butlers`, { headers: { authorization: "Bearer bm_stolen-secret" } });
  const metrics = await fetch(`${address}/metrics`, { headers: { authorization: `Bearer ${tokens.home}` } });
  const text = await metrics.text();
  expect(text).toMatch(/butler_refusals_total\{kind="token",door="pages"\} 300/);
  expect(text).toMatch(/butler_refusals_total\{kind="role",door="mcp"\} 1/);
  expect((await butler(home, ["stop"])).code).toBe(0);
  const { stdout } = await butler(home, ["audit", "refusals", "--json"]);
  const { refusals } = JSON.parse(stdout) as { refusals: { kind: string; count: number; actor?: string }[] };
  const count = (kind: string, actor?: string) =>
    refusals.filter((one) => one.kind === kind && one.actor === actor).reduce((sum, one) => sum + one.count, 0);
  expect(count("token")).toBe(300);
  expect(count("role", "reader")).toBe(4);
  expect(count("rate", "eager")).toBeGreaterThanOrEqual(3);
  expect(count("size", "writer")).toBe(1);
  expect(count("scope", "app")).toBe(1);
  expect(refusals.length).toBeLessThan(40);
  for (const secret of ["stolen-secret", ...Object.values(tokens)]) expect(stdout).not.toContain(secret);
  const stream = await butler(home, [
    "call",
    "memory_activity_stream",
    "--json",
    '{"scope":"*","changes":true,"limit":500}',
  ]);
  const { events } = JSON.parse(stream.stdout) as { events: { event_type: string; actor: string; payload: object }[] };
  const refused = events.filter(({ event_type }) => event_type === "access.refused");
  expect(refused.map(({ actor }) => actor)).toEqual(expect.arrayContaining(["reader", "app", "eager", "writer"]));
  expect((await butler(home, ["replay", "--verify"])).code).toBe(0);
  const log = await butler(home, ["log", "--no-follow", "--limit", "100"]);
  expect(log.stdout).toMatch(/refused\s+.*reader was turned away/);
});

test("a rotated token works at once, its former self for the grace; list and doctor tell the rest", async () => {
  ({ address } = await up(home));
  const fresh = await made("rotate", "writer", "--grace", "1h");
  const at = "/api/butlers/general/tools/memory_stats";
  expect((await post(at, fresh, {})).status).toBe(200);
  expect((await post(at, "writer", {})).status).toBe(200);
  const second = await made("rotate", "writer");
  expect((await post(at, fresh, {})).status).toBe(401);
  expect((await post(at, second, {})).status).toBe(200);
  const listed = (await butler(home, ["token", "list"])).stdout.split("\n");
  expect(listed.find((line) => line.startsWith("writer"))).toMatch(
    /writer .*general.*expires \d{4}-.*last used \d{4}-/,
  );
  expect(listed.find((line) => line.startsWith("app"))).toContain("scopes general/app");
  expect((await butler(home, ["doctor"])).stdout).toMatch(/"soon" expires on/);
});
