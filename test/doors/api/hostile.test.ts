/** Values that no page sends: every route answers or refuses in words, and none of them breaks or tells what is not the caller's. */
import { expect, it } from "vitest";
import { apiRoutes } from "../../../src/doors/http/api/routes.ts";
import { apiOver } from "../../support/api-rig.ts";
import { onEachStore, type Rig } from "../../support/stores.ts";

const BELOW = "/api/butlers/:name/memory/";
const UNKNOWN = "01990000-0000-7000-8000-000000000000";

/** Every GET below a butler's memory, with ids that nobody has. */
const GETS = apiRoutes
  .filter(({ method, path }) => method === "GET" && path.startsWith(BELOW))
  .map(({ path, input }) => ({
    path: path.slice(BELOW.length).replace(":id", UNKNOWN),
    fields: Object.keys(input.shape),
  }));

const NEEDED: Readonly<Record<string, string>> = { q: "word", query: "word", from: "2026-01-01" };

function request({ path, fields }: (typeof GETS)[number], field: string, value: string): string {
  const given = {
    ...Object.fromEntries(Object.entries(NEEDED).filter(([name]) => fields.includes(name))),
    [field]: value,
  };
  return `${path}?${Object.entries(given)
    .map(([name, one]) => `${name}=${encodeURIComponent(one)}`)
    .join("&")}`;
}

const VALUES = [
  "",
  " ",
  "\0",
  "a\0b",
  "null",
  "NaN",
  "-1",
  "0",
  "1e9",
  "99999999999999999999",
  "1.5",
  "true",
  "[]",
  "{}",
  "<script>alert(1)</script>",
  "‮gnp.exe",
  "../../etc/passwd",
  "' or true --",
  "%",
  "*",
  "0000-01-01",
  "0000-01-01T00:00:00Z",
  "-000001-01-01T00:00:00Z",
  "9999-12-31T23:59:59Z",
  "+275760-09-13T00:00:00Z",
  "infinity",
  "2026-02-30",
  "x".repeat(100_000),
  "ب".repeat(5_000),
];

async function fill(rig: Rig): Promise<{ fact: string; rule: string; episode: string }> {
  const said = { content: "The secret word is plover.", butler: "general", session_id: "s1" };
  const episode = await rig.call("memory_store_episode", said);
  const fact = await rig.call("memory_store_fact", {
    ...{ subject: "secret", predicate: "word", content: "plover" },
    source_episode_id: episode.id,
  });
  const rule = await rig.call("memory_store_rule", { content: "Never say plover." });
  return { fact: String(fact.id), rule: String(rule.id), episode: String(episode.id) };
}

onEachStore("hostile values", (open) => {
  it("in every parameter of every route are values or refused, never a fault", async () => {
    const rig = await open({ model: false });
    const api = apiOver(rig);
    await fill(rig);
    const faults: string[] = [];
    for (const route of GETS)
      for (const field of [...route.fields, "__proto__", "constructor"])
        for (const value of VALUES) {
          const path = request(route, field, value);
          const { status, body } = await api.ask("GET", path);
          if (status >= 500 && body.error?.code !== "unavailable") faults.push(`${path.slice(0, 200)} → ${status}`);
          if (status >= 400 && typeof body.error?.message !== "string")
            faults.push(`${path.slice(0, 200)} says nothing`);
        }
    expect(faults).toEqual([]);
  });

  it("as bodies are refused, and a text of 100 KB in one word is looked at", async () => {
    const rig = await open({ model: false });
    const api = apiOver(rig);
    for (const body of [
      "",
      "{",
      "null",
      "[]",
      '"x"',
      "1",
      '{"prompt":1}',
      '{"prompt":"\\u0000"}',
      '{"prompt":"\\ud800"}',
    ])
      expect((await api.refused("preview", { method: "POST", body })).status).toBe(400);
    expect((await api.refused("preview", { method: "POST", body: { prompt: "x", as_of: "2999-01-01" } })).field).toBe(
      "as_of",
    );
    expect((await api.refused("preview", { method: "POST", body: { prompt: "x", as_of: "0000-01-01" } })).field).toBe(
      "as_of",
    );
    const word = "x".repeat(100_000);
    const answer = await api.ask("POST", "preview", { body: { prompt: word } });
    expect([200, 400]).toContain(answer.status);
    expect((await api.refused("preview", { method: "POST", body: { prompt: "x".repeat(9_000_000) } })).status).toBe(
      413,
    );
    for (const headers of [{ origin: "https://evil.example" }, { origin: "null" }])
      expect((await api.refused("preview", { method: "POST", body: { prompt: "x" }, headers })).status).toBe(403);
    expect((await api.refused("facts", { headers: { host: "evil.example" } })).status).toBe(403);
  });

  it("cursors of another list, another order or another time open nothing", async () => {
    const rig = await open({ model: false });
    const api = apiOver(rig);
    for (let n = 0; n < 3; n++)
      await rig.call("memory_store_fact", { subject: `s${n}`, predicate: "p", content: `v${n}` });
    const forge = (...place: unknown[]) => Buffer.from(JSON.stringify(place)).toString("base64url");
    const { next_cursor: bySubject } = await api.get("facts?limit=1");
    const { next_cursor: newest } = await api.get("facts?limit=1&order=newest");
    for (const path of [
      `facts?order=newest&cursor=${bySubject}`,
      `facts?cursor=${newest}`,
      `rules?cursor=${bySubject}`,
    ])
      expect(await api.refused(path)).toMatchObject({ status: 400, field: "cursor" });
    for (const time of ["-infinity", "0000-01-01T00:00:00Z", "now", "", "2026-02-30"])
      for (const list of ["runs", "dead-letters", "changes"])
        expect((await api.refused(`${list}?from=2026-01-01&cursor=${forge(time, UNKNOWN)}`)).status).toBe(400);
    for (const cursor of [forge({ general: 1 }), forge(["x"]), "e30", "x".repeat(20_000)])
      expect((await api.ask("GET", `/api/memory/activity?cursor=${cursor}`)).status).toBeLessThan(500);
  });

  it("ids of another tenant are ids of nothing, for reading and for changing", async () => {
    const rig = await open({ model: false });
    const api = apiOver(rig);
    const ids = await fill(rig);
    const before = await api.get("activity?everything=true");
    const POSTS = ["confirm", "forget", "restore", "helpful", "harmful", "correct"];
    for (const id of Object.values(ids)) {
      for (const path of [
        `memories/${id}`,
        `memories/${id}?as_of=2026-03-01T12:00:00Z`,
        `memories/${id}/why?query=plover`,
        `runs/${id}`,
      ])
        expect((await api.refused(path, { as: "stranger" })).status).toBe(404);
      for (const verb of POSTS)
        expect(
          (
            await api.refused(`memories/${id}/${verb}`, {
              ...{ as: "stranger", method: "POST" },
              body: verb === "correct" ? { content: "wren" } : {},
            })
          ).status,
        ).toBe(404);
    }
    expect((await api.post("dead-letters/redrive", { ids: [ids.episode] }, { as: "stranger" })).redriven).toEqual([]);
    for (const { path, fields } of GETS) {
      const { body } = await api.ask("GET", request({ path, fields }, "limit", "50"), { as: "stranger" });
      expect(JSON.stringify(body)).not.toMatch(/plover|secret/);
    }
    expect(JSON.stringify(await api.post("preview", { prompt: "plover" }, { as: "stranger" }))).not.toContain(
      "is plover",
    );
    expect(await api.get("activity?everything=true")).toEqual(before);
  });

  it("a reader can send nothing that changes anything", async () => {
    const rig = await open({ model: false });
    const api = apiOver(rig);
    const ids = await fill(rig);
    const before = await api.get("activity?everything=true");
    for (const { method, path } of apiRoutes.filter((route) => route.method !== "GET" && route.id !== "Preview")) {
      const at = path.replace(":name", "general").replace(":id", ids.fact).replace(":job", "promote");
      expect((await api.refused(at, { as: "reader", method, body: {} })).status).toBe(403);
    }
    expect((await api.post("preview", { prompt: "plover" }, { as: "reader" })).text).toBeDefined();
    expect(await api.get("activity?everything=true")).toEqual(before);
  });
});
