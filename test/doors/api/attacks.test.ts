/** What the pages' API refuses, and what it never tells. */
import { expect, it } from "vitest";
import { apiOver } from "../../support/api-rig.ts";
import { onEachStore } from "../../support/stores.ts";

const READS = ["stats", "today", "subjects", "facts", "rules", "episodes", "activity", "search?q=secret"];

onEachStore("strangers at the pages' API", (open) => {
  it("another tenant sees nothing, not even in numbers", async () => {
    const rig = await open({ model: false });
    const api = apiOver(rig);
    const empty = Object.fromEntries(
      await Promise.all(READS.map(async (path) => [path, await api.get(path, { as: "stranger" })])),
    );
    const episode = await rig.call("memory_store_episode", {
      content: "secret word",
      butler: "general",
      session_id: "s1",
    });
    const fact = await rig.call("memory_store_fact", { subject: "secret", predicate: "p", content: "secret word" });
    const rule = await rig.call("memory_store_rule", { content: "Keep the secret." });
    for (const path of READS) expect(await api.get(path, { as: "stranger" })).toEqual(empty[path]);
    for (const { id } of [episode, fact, rule])
      expect(await api.refused(`memories/${id}`, { as: "stranger" })).toMatchObject({ status: 404, code: "not_found" });
    const { next_cursor } = await api.get("activity?limit=1");
    expect(await api.refused(`activity?cursor=${next_cursor}`, { as: "stranger" })).toMatchObject({ status: 400 });
    const { next_cursor: place } = await api.get("facts?state=all&limit=1&order=newest");
    expect(place).toBeNull();
  });

  it("no token, a foreign butler and what is no argument are refused in words", async () => {
    const api = apiOver(await open({ model: false }));
    for (const path of READS) expect((await api.refused(path, { as: "" })).status).toBe(401);
    expect((await api.refused("/api/openapi.json", { as: "" })).status).toBe(401);
    expect((await api.refused("/api/butlers/nobody/memory/facts")).status).toBe(404);
    expect((await api.refused("/api/butlers/nobody/memory/facts", { as: "agent" })).status).toBe(403);
    expect(await api.refused("facts?colour=red")).toMatchObject({ status: 400, field: "colour" });
    expect(await api.refused("facts?scope=health", { as: "agent" })).toMatchObject({ status: 403, field: "scope" });
    expect(await api.refused("facts?limit=1000000")).toMatchObject({ status: 400, field: "limit" });
    expect(await api.refused("facts?limit=-1")).toMatchObject({ status: 400, field: "limit" });
    expect(await api.refused("facts?as_of=2999-01-01")).toMatchObject({ status: 400, field: "as_of" });
    expect(await api.refused("today?day=2026-02-30")).toMatchObject({ status: 400, field: "day" });
    expect((await api.refused("facts", { method: "POST", body: {} })).status).toBe(405);
  });

  it("a forged cursor opens nothing and breaks nothing", async () => {
    const rig = await open({ model: false });
    const api = apiOver(rig);
    await rig.call("memory_store_fact", { subject: "s", predicate: "p", content: "v" });
    const forge = (...place: unknown[]) => Buffer.from(JSON.stringify(place)).toString("base64url");
    const uuid = "01990000-0000-7000-8000-000000000000";
    for (const cursor of [
      "x",
      "%00",
      forge(),
      forge(1, 2, 3),
      forge("a", "b", "c"),
      forge("'; drop table facts; --"),
      forge("a", "\0", uuid),
      "A".repeat(9_000),
    ])
      for (const list of ["facts", "rules", "episodes", "activity"])
        expect((await api.refused(`${list}?cursor=${encodeURIComponent(cursor)}`)).status).toBe(400);
    expect((await api.get(`facts?cursor=${forge("", "", uuid)}`).catch(() => ({ facts: [] }))).facts).toBeDefined();
    expect((await api.get(`facts?cursor=${forge("a' or true --", "b", uuid)}`)).facts).toHaveLength(1);
    expect((await api.get(`facts?cursor=${forge("zzz", "b", uuid)}`)).facts).toEqual([]);
  });

  it("hostile text is a value and nothing else", async () => {
    const rig = await open({ model: false });
    const api = apiOver(rig);
    const texts = [
      "<script>alert(1)</script>",
      "‮txt.exe",
      "שלום עולם",
      "'; drop table facts; --",
      "%_\\",
      "x".repeat(7_000),
    ];
    for (const [n, content] of texts.entries())
      await rig.call("memory_store_fact", { subject: `s${n} ${content.slice(0, 100)}`, predicate: "p", content });
    const { facts } = await api.get("facts");
    expect(facts.map((fact: { content: string }) => fact.content)).toEqual(texts);
    for (const text of texts) {
      const q = encodeURIComponent(text.slice(0, 300));
      for (const path of [
        `facts?q=${q}`,
        `facts?subject=${q.slice(0, 60)}`,
        `search?q=${q}`,
        `activity?actor=${q.slice(0, 60)}`,
      ])
        expect((await api.ask("GET", path)).status).toBe(200);
    }
  });

  it("what was forgotten is shown to those who may bring it back, and to nobody else", async () => {
    const rig = await open({ model: false });
    const api = apiOver(rig);
    const fact = await rig.call("memory_store_fact", { subject: "s", predicate: "p", content: "hidden words" });
    await rig.call("memory_forget", { id: fact.id });
    expect((await api.get("facts?state=retracted")).facts).toMatchObject([{ content: "hidden words" }]);
    expect((await api.get("facts?state=retracted", { as: "agent" })).facts).toMatchObject([{ content: null }]);
    for (const path of ["facts", "today", "activity", "search?q=hidden", `memories/${fact.id}`])
      expect(JSON.stringify(await api.get(path, { as: "agent" }))).not.toContain("hidden words");
  });

  it("a reader sees what an admin sees and changes nothing", async () => {
    const rig = await open({ model: false });
    const api = apiOver(rig);
    const fact = await rig.call(
      "memory_store_fact",
      { subject: "s", predicate: "p", content: "v" },
      { project: "acme/app" },
    );
    expect((await api.get("facts", { as: "reader" })).facts).toHaveLength(1);
    const tool = "/api/butlers/general/tools";
    for (const [name, body] of Object.entries({
      memory_forget: { id: fact.id },
      memory_confirm: { id: fact.id },
      memory_store_rule: { content: "x" },
    }))
      expect((await api.refused(`${tool}/${name}`, { method: "POST", as: "reader", body })).status).toBe(403);
    expect((await api.get("facts")).facts).toMatchObject([{ state: "active" }]);
  });
});
