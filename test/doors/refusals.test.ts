/** Every refusal is written down once, with who it was and never with what they sent; a flood costs a line a minute. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { refusalBook } from "../../src/daemon/audit/refusal-book.ts";
import { readRefusals, writeRefusals } from "../../src/daemon/audit/refusal-log.ts";
import { type Home, homeAt, prepareHome } from "../../src/daemon/home.ts";
import type { Backend, Principal } from "../../src/doors/backend.ts";
import type { Refusal } from "../../src/doors/refusals.ts";
import { silentLog } from "../../src/engine/adapters/log.ts";
import type { RefusedAccess } from "../../src/engine/memory/access.ts";
import { apiOver, CALLERS } from "../support/api-rig.ts";
import type { Rig } from "../support/stores.ts";

let home: Home;
beforeEach(() => {
  home = homeAt(mkdtempSync(join(tmpdir(), "home-")));
  prepareHome(home);
});
afterEach(() => rmSync(home.root, { recursive: true }));

test("each way to be turned away at the door is noted once, by its kind", async () => {
  const noted: Refusal[] = [];
  const coder: Principal = { name: "coder", tenant: "acme", butler: "coder", admin: false, voice: "agent" };
  const over = { what: "This token", seconds: 2.5, every: true, tenant: false } as const;
  const door = apiOver({} as Rig, {
    refusals: { note: (refusal) => noted.push(refusal) },
    authenticate: async (token) => ({ ...CALLERS, coder, eager: { ...coder, name: "eager", butler: "*" } })[token],
    rates: {
      admit: ({ name }) => (name === "eager" ? over : undefined),
      refused: () => undefined,
      mayExplain: () => false,
    },
    maxBodyBytes: 2_000,
  });
  const kinds = async (method: string, path: string, asking: Parameters<typeof door.ask>[2]) => {
    noted.length = 0;
    const { status, headers, body } = await door.ask(method, path, asking);
    return { status, told: noted.map(({ kind, door: at, by }) => [kind, at, by?.name]), headers, body };
  };
  const search = "/api/butlers/general/tools/memory_search";
  expect(await kinds("GET", "stats", { as: "" })).toMatchObject({ status: 401, told: [["token", "pages", undefined]] });
  expect(await kinds("POST", search, { as: "nobody", body: {} })).toMatchObject({
    ...{ status: 401, told: [["token", "http", undefined]] },
  });
  expect(await kinds("POST", search, { as: "coder", body: {} })).toMatchObject({
    ...{ status: 403, told: [["butler", "http", "coder"]] },
  });
  expect(await kinds("POST", "/hooks/claude-code/Stop?butler=general", { as: "coder", body: {} })).toMatchObject({
    status: 404,
  });
  expect(await kinds("POST", "memories/x/forget", { as: "reader", body: {} })).toMatchObject({
    ...{ status: 403, told: [["role", "pages", "looker"]] },
  });
  expect(await kinds("GET", "/metrics", { as: "coder" })).toMatchObject({ told: [["role", "http", "coder"]] });
  expect(await kinds("POST", search, { headers: { origin: "https://evil.example" }, body: {} })).toMatchObject({
    ...{ status: 403, told: [["origin", "http", undefined]] },
  });
  expect(await kinds("POST", search, { headers: { host: "evil.example" }, body: {} })).toMatchObject({
    told: [["host", "http", undefined]],
  });
  const large = { "content-length": "5000" };
  expect(await kinds("POST", search, { headers: large, body: `"${"x".repeat(4_998)}"` })).toMatchObject({
    ...{ status: 413, told: [["size", "http", "root"]] },
  });
  const slow = await kinds("POST", search, { as: "eager", body: {} });
  expect(slow).toMatchObject({ status: 429, told: [["rate", "http", "eager"]] });
  expect(slow.headers.get("retry-after")).toBe("3");
  expect(slow.body.error).toMatchObject({ code: "unavailable", retry_after: 3 });
  // A mistake is no refusal.
  expect(await kinds("POST", search, { body: "{" })).toMatchObject({ status: 400, told: [] });
});

test("a tenant and a session in a header are read as UTF-8, and as they are where that is no UTF-8", async () => {
  const seen: unknown[] = [];
  const invoke: Backend["invoke"] = async (_, __, { tenant, session }) => {
    seen.push({ tenant, session });
    return { ok: true, answer: {} };
  };
  const door = apiOver({} as Rig, {}, { invoke });
  const headers = { "x-butler-tenant": Buffer.from("küche").toString("latin1"), "x-butler-session": "caf\xe9" };
  await door.ask("POST", "/api/butlers/general/tools/memory_stats", { body: {}, headers });
  expect(seen).toEqual([{ tenant: "küche", session: "café" }]);
});

test("a flood is counted together; what is known of a tenant goes to its stream", async () => {
  const told: RefusedAccess[] = [];
  let now = new Date("2026-03-01T12:00:00Z");
  const book = refusalBook({
    ...{ home, log: silentLog, meter: undefined, now: () => now },
    tenantOf: (tenant, butler) => (butler === "general" ? (tenant === "*" ? "default" : tenant) : undefined),
    tell: async (_, refused) => void told.push(...refused),
  });
  for (let n = 0; n < 10_000; n++) book.note({ kind: "token", door: "http" });
  now = new Date("2026-03-01T12:00:30Z");
  const by = { name: "laptop", tenant: "*", butler: "*" };
  for (let n = 0; n < 50; n++) book.note({ kind: "scope", door: "mcp", by, butler: "general" });
  book.note({ kind: "butler", door: "http", by: { name: "own", tenant: "acme", butler: "general" }, butler: "coder" });
  book.note({ kind: "role", door: "pages", by, butler: "elsewhere" });
  // A new name with each call must not become a line each.
  for (let n = 0; n < 5_000; n++)
    book.note({ kind: "rate", door: "http", by: { ...by, name: `n${n}` }, butler: "general" });
  await book.flush();
  const lines = readRefusals(home);
  expect(lines.length).toBeLessThanOrEqual(202);
  expect(lines.reduce((sum, { count }) => sum + count, 0)).toBe(15_052);
  expect(lines[0]).toEqual({
    ...{ kind: "token", door: "http", count: 10_000 },
    ...{ from: "2026-03-01T12:00:00.000Z", to: "2026-03-01T12:00:00.000Z" },
  });
  expect(
    told
      .filter(({ kind }) => kind !== "rate")
      .map(({ kind, tenant, butler, actor, count }) => [kind, tenant, butler, actor, count]),
  ).toEqual([
    ["scope", "default", "general", "laptop", 50],
    ["butler", "acme", "general", "own", 1],
  ]);
  await book.flush();
  expect(readRefusals(home)).toHaveLength(lines.length);
});

test("the log is for its owner alone, turns over, and survives half a line", () => {
  const line = { from: "2026-03-01T12:00:00Z", to: "2026-03-01T12:00:00Z", kind: "token", count: 1, door: "http" };
  const many = Array.from({ length: 4_000 }, () => ({ ...line, actor: "x".repeat(60) }));
  for (let n = 0; n < 12; n++) writeRefusals(home, many);
  const files = readdirSync(home.logs).filter((name) => name.startsWith("refusals"));
  expect(files.sort()).toEqual(["refusals.jsonl", "refusals.jsonl.1"]);
  for (const name of files) {
    const { size, mode } = statSync(join(home.logs, name));
    expect(size).toBeLessThan(2_500_000);
    expect(mode & 0o077).toBe(0);
  }
  expect(readFileSync(join(home.logs, "refusals.jsonl"), "utf8")).toContain('"kind":"token"');
  expect(readRefusals(home).length).toBeGreaterThan(4_000);
});
