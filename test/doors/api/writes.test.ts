/** Changes from the pages: through the butler's own tools, by whoever is signed in. */
import { expect, it } from "vitest";
import { apiOver } from "../../support/api-rig.ts";
import { onEachStore } from "../../support/stores.ts";

onEachStore("changes from the pages", (open) => {
  it("a corrected fact is superseded, with an event that names who did it", async () => {
    const rig = await open({ model: false });
    const api = apiOver(rig);
    const told = {
      subject: "dns",
      predicate: "provider",
      content: "Cloudflare",
      permanence: "stable",
      tags: ["ops"],
      importance: 8,
    };
    const old = await rig.call("memory_store_fact", told, { project: "acme/app" });
    const { id } = await api.post(`memories/${old.id}/correct`, { content: "Route 53", reason: "We moved." });
    expect((await api.get("facts")).facts).toMatchObject([
      {
        id,
        content: "Route 53",
        scope: "general/acme/app",
        permanence: "stable",
        tags: ["ops"],
        importance: 8,
        supersedes_id: old.id,
      },
    ]);
    expect(await api.get(`memories/${old.id}`)).toMatchObject({ memory: { state: "superseded" } });
    const { events } = await api.get("activity?event=fact.superseded");
    expect(events).toMatchObject([{ actor: "root", entity_id: old.id }]);
    expect(await api.refused(`memories/${old.id}/correct`, { method: "POST", body: { content: "x" } })).toMatchObject({
      status: 409,
    });
  });

  it("a corrected rule takes the place of the old one, which can be brought back", async () => {
    const rig = await open({ model: false });
    const api = apiOver(rig);
    const old = await rig.call("memory_store_rule", { content: "Use npm here." });
    const corrected = await api.post(`memories/${old.id}/correct`, { content: "Use pnpm here." });
    expect(corrected).toMatchObject({ status: "superseded", superseded_id: old.id });
    expect((await api.get("rules")).rules).toMatchObject([{ content: "Use pnpm here." }]);
    await api.post(`memories/${old.id}/restore`);
    expect((await api.get("rules")).rules).toHaveLength(2);
  });

  it("confirm, mark, forget and restore do what the tools do, once for each key", async () => {
    const rig = await open({ model: false });
    const api = apiOver(rig);
    const fact = await rig.call("memory_store_fact", { subject: "s", predicate: "p", content: "v" });
    const rule = await rig.call("memory_store_rule", { content: "A rule." });
    rig.later(20);
    expect(await api.post(`memories/${fact.id}/confirm`)).toMatchObject({ effective_confidence: 1 });
    const headers = { "idempotency-key": "k1" };
    for (let n = 0; n < 2; n++) await api.post(`memories/${rule.id}/helpful`, { note: "It helped." }, { headers });
    expect((await api.get("rules")).rules).toMatchObject([
      { helpful: 1, marks: [{ outcome: "helpful", note: "It helped." }] },
    ]);
    await api.post(`memories/${rule.id}/harmful`, { reason: "It broke." });
    expect((await api.get("rules")).rules).toMatchObject([{ harmful: 1 }]);
    expect(await api.post(`memories/${fact.id}/forget`, { reason: "wrong" })).toMatchObject({ state: "retracted" });
    expect((await api.get("facts")).facts).toEqual([]);
    expect(await api.post(`memories/${fact.id}/restore`)).toMatchObject({ state: "active" });
    expect((await api.get("facts")).facts).toHaveLength(1);
  });

  it("readers, agents and strangers change nothing", async () => {
    const rig = await open({ model: false });
    const api = apiOver(rig);
    const fact = await rig.call("memory_store_fact", { subject: "s", predicate: "p", content: "v" });
    const WRITES = { confirm: {}, forget: {}, restore: {}, helpful: {}, harmful: {}, correct: { content: "x" } };
    for (const as of ["reader", "agent"])
      for (const [verb, body] of Object.entries(WRITES))
        expect((await api.refused(`memories/${fact.id}/${verb}`, { method: "POST", as, body })).status).toBe(403);
    for (const path of ["dead-letters/redrive", "jobs/consolidate/run"])
      expect((await api.refused(path, { method: "POST", as: "reader", body: {} })).status).toBe(403);
    for (const verb of ["confirm", "forget", "restore", "correct"])
      expect(
        (
          await api.refused(`memories/${fact.id}/${verb}`, {
            method: "POST",
            as: "stranger",
            body: verb === "correct" ? { content: "x" } : {},
          })
        ).status,
      ).toBe(404);
    expect(
      (
        await api.refused(`memories/${fact.id}/forget`, {
          method: "POST",
          body: {},
          headers: { origin: "http://evil.example" },
        })
      ).status,
    ).toBe(403);
    expect(await api.refused(`memories/${fact.id}/correct`, { method: "POST", body: {} })).toMatchObject({
      status: 400,
      field: "content",
    });
    expect(
      await api.refused(`memories/${fact.id}/correct`, { method: "POST", body: { content: "x".repeat(100_000) } }),
    ).toMatchObject({ status: 400 });
    expect((await api.get("facts")).facts).toMatchObject([{ content: "v", state: "active" }]);
  });

  it("undo says what would be reversed, reverses it once for each key, and is undone itself", async () => {
    const rig = await open({ model: false });
    const api = apiOver(rig);
    const told = { subject: "mail", predicate: "provider" };
    const old = await rig.call("memory_store_fact", { ...told, content: "Postfix" });
    const poison = await rig.call("memory_store_fact", { ...told, content: "evil.example" }, { session: "poisoned" });
    const known = async () => (await api.get("facts")).facts.map((fact: { content: string }) => fact.content);
    const would = await api.post("undo", { session: "poisoned", dry_run: true });
    expect(would).toMatchObject({
      undo_id: null,
      counts: { goes: 1, comes: 1 },
      tree: [{ id: poison.id, deed: "goes", children: [{ id: old.id, deed: "comes" }] }],
    });
    expect(await known()).toEqual(["evil.example"]);
    const headers = { "idempotency-key": "undo-1" };
    const done = await api.post("undo", { session: "poisoned" }, { headers });
    expect(await api.post("undo", { session: "poisoned" }, { headers })).toEqual(done);
    expect(await known()).toEqual(["Postfix"]);
    await api.post("undo", { request: done.undo_id });
    expect(await known()).toEqual(["evil.example"]);

    expect(await api.refused("undo", { method: "POST", body: {} })).toMatchObject({ status: 400 });
    const two = { session: "poisoned", since: "2020-01-01" };
    expect(await api.refused("undo", { method: "POST", body: two })).toMatchObject({ status: 400 });
    for (const as of ["reader", "agent"])
      expect((await api.refused("undo", { method: "POST", as, body: { session: "poisoned" } })).status).toBe(403);
    const foreign = { method: "POST", as: "stranger", body: { session: "poisoned" } } as const;
    expect((await api.refused("undo", foreign)).status).toBe(404);
    expect(await known()).toEqual(["evil.example"]);
  });

  it("an event of the activity is undone by its id, with what it took the place of", async () => {
    const rig = await open({ model: false });
    const api = apiOver(rig);
    const told = { subject: "chat", predicate: "provider" };
    const old = await rig.call("memory_store_fact", { ...told, content: "Matrix" });
    const { id } = await rig.call("memory_store_fact", { ...told, content: "evil.example" });
    const { events } = await api.get("activity");
    const { id: event } = events.find((one: { entity_id: string }) => one.entity_id === id);
    const would = await api.post("undo", { event, dry_run: true });
    expect(would.tree).toMatchObject([{ id, deed: "goes", children: [{ id: old.id, deed: "comes" }] }]);
    expect((await api.refused("undo", { method: "POST", as: "reader", body: { event } })).status).toBe(403);
    const done = await api.post("undo", { event });
    expect(done).toMatchObject({ counts: { goes: 1, comes: 1 }, tree: would.tree });
    expect((await api.get("facts")).facts).toMatchObject([{ id: old.id, content: "Matrix" }]);
    // Once: what was taken back is no longer in effect.
    expect(await api.post("undo", { event })).toMatchObject({ undo_id: null, tree: [] });
  });

  it("what a tool said waits for a person, who confirms or forgets it", async () => {
    const rig = await open({ model: false });
    const api = apiOver(rig);
    const ids: string[] = [];
    for (const content of ["in Porto", "in Bergen"])
      ids.push(
        (
          await rig.call(
            "memory_store_fact",
            { subject: content, predicate: "stands", content },
            { as: { voice: "tool" } },
          )
        ).id,
      );
    const waiting = async () => (await api.get("review")).items.map((item: { id: string }) => item.id).sort();
    expect(await waiting()).toEqual(ids.toSorted());
    expect((await api.get("review", { as: "stranger" })).items).toEqual([]);
    expect((await api.get("review", { as: "reader" })).items).toMatchObject([{ trust: "tool", kept_out: true }, {}]);
    await api.post(`memories/${ids[0]}/confirm`);
    await api.post(`memories/${ids[1]}/forget`, { reason: "never heard of it" });
    expect(await waiting()).toEqual([]);
  });

  it("dead letters of every project are sent again", async () => {
    const rig = await open({ model: false });
    const api = apiOver(rig);
    const ids: string[] = [];
    for (const project of [undefined, "acme/app"]) {
      const content = `said in ${project}`;
      const extra = project === undefined ? {} : { project };
      ids.push(
        (
          await rig
            .call("memory_store_episode", { content, butler: "general" }, extra)
            .catch(() => rig.call("memory_store", { content }, extra))
        ).id,
      );
    }
    await rig.db.query(
      "update episodes set consolidation_status = 'dead_letter', last_consolidation_error = 'no words'",
    );
    const { letters } = await api.get("dead-letters");
    expect(letters).toMatchObject([{ error: "no words", status: "dead_letter" }, { scope: "general/acme/app" }]);
    expect((await api.get("today")).waiting.dead_letters).toBe(2);
    expect((await api.get("today", { as: "stranger" })).waiting.dead_letters).toBe(0);
    expect((await api.post("dead-letters/redrive", { ids: [ids[0]] })).redriven).toEqual([ids[0]]);
    expect((await api.post("dead-letters/redrive")).redriven).toEqual([ids[1]]);
    expect((await api.get("dead-letters")).letters).toEqual([]);
  });
});
