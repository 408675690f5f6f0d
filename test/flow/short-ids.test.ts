/** The short ids that texts show are taken wherever a memory is named, within what the caller may see. */
import { describe, expect, it } from "vitest";
import { shortId } from "../../src/engine/domain/short-id.ts";
import { type Guest, onOneRig } from "../support/tenants.ts";

const storeRule = (g: Guest, content = "Run the tests before you push") => g.call("memory_store_rule", { content });

onOneRig("short ids", (guest) => {
  it("stand in the block behind each rule, and are what a mark takes", async () => {
    const g = guest();
    const { id } = await storeRule(g);
    const { text } = await g.call("memory_context", { trigger_prompt: "push the branch" });
    const [, shown = ""] = /^- Run the tests before you push \(candidate, ([a-z0-9]{8})\)$/m.exec(text) ?? [];
    expect(shown).toBe(shortId(id));
    expect(await g.call("memory_mark_helpful", { rule_id: shown.toUpperCase() })).toMatchObject({
      id,
      success_count: 1,
    });
    expect(await g.call("memory_mark_harmful", { rule_id: shown })).toMatchObject({ id, harmful_count: 1 });
    expect((await g.call("memory_context", { trigger_prompt: "push the branch" })).text).toContain(shown);
  });

  it.each(["episode", "fact", "rule"] as const)("name an %s at every tool that takes an id", async (type) => {
    const g = guest();
    const made = {
      episode: () => g.call("memory_store_episode", { content: "A walk along the river" }),
      fact: () => g.call("memory_store_fact", { subject: "river", predicate: "name", content: "Spree" }),
      rule: () => g.call("memory_store_rule", { content: "Walk along the river daily" }),
    };
    const { id } = await made[type]();
    const short = shortId(id);
    expect((await g.call("memory_get", { id: short })).memory).toMatchObject({ type, id });
    expect((await g.call("memory_get", { id: short, type })).memory.id).toBe(id);
    expect((await g.call("memory_why", { id: short, query: "river" })).id).toBe(id);
    if (type !== "episode") expect((await g.call("memory_confirm", { id: short })).id).toBe(id);
    expect((await g.call("memory_forget", { id: short })).id).toBe(id);
    expect((await g.call("memory_restore", { id: short })).id).toBe(id);
    expect((await g.refused("memory_get", { id: short, type: type === "rule" ? "fact" : "rule" })).code).toBe(
      "not_found",
    );
  });

  it("name the episode that something was learned from", async () => {
    const g = guest();
    const { id } = await g.call("memory_store_episode", { content: "The build failed without a lock file" });
    const rule = await g.call("memory_store_rule", { content: "Commit the lock file", source_episode_id: shortId(id) });
    expect((await g.call("memory_get", { id: rule.id })).links.outbound).toMatchObject([{ type: "episode", id }]);
  });

  it("are found years later, among memories of all the time between", async () => {
    const g = guest();
    const first = await storeRule(g);
    for (let year = 0; year < 3; year++) {
      g.later(365);
      await storeRule(g, `Rule of year ${year}`);
    }
    expect((await g.call("memory_get", { id: shortId(first.id) })).memory.id).toBe(first.id);
  });

  it("lead to nothing that another tenant, another butler or another project keeps", async () => {
    const g = guest();
    const mine = { project: "app", as: { butler: "*" } };
    const { id } = await g.call("memory_store_rule", { content: "Mine alone" }, mine);
    const short = shortId(id);
    expect((await g.call("memory_get", { id: short }, mine)).memory.id).toBe(id);
    const strangers = [guest().refused, g.refused] as const;
    for (const refused of strangers)
      for (const elsewhere of [{ project: "app2" }, {}]) {
        for (const tool of ["memory_get", "memory_forget", "memory_confirm"] as const)
          expect((await refused(tool, { id: short }, elsewhere)).code).toBe("not_found");
        expect((await refused("memory_mark_helpful", { rule_id: short }, elsewhere)).code).toBe("not_found");
      }
  });

  it("that fit two memories name both, and change neither", async () => {
    const g = guest();
    const { id } = await storeRule(g, "The first of two");
    // The same moment and counter, as two processes could make them once in a very long while.
    const twin = id.replace(/[0-9a-f]{6}$/, "abcdef");
    await g.db.query(`insert into rules select (jsonb_populate_record(r, $1::jsonb)).* from rules r where id = $2`, [
      JSON.stringify({ id: twin, content: "The second of two", content_key: "\\xab" }),
      id,
    ]);
    const refused = await g.refused("memory_mark_helpful", { rule_id: shortId(id) });
    expect(refused).toMatchObject({ code: "invalid_input", field: "rule_id" });
    for (const named of [id, twin, "The first of two", "The second of two"]) expect(refused.message).toContain(named);
    expect((await g.call("memory_mark_helpful", { rule_id: twin })).success_count).toBe(1);
  });

  describe("that are none", () => {
    it.each(["k3v9q2a", "k3v9q2abc", "not an id", "0198c0de-1234"])("%s is refused in a sentence", async (id) => {
      expect(await guest().refused("memory_get", { id })).toMatchObject({ code: "invalid_input", field: "id" });
    });
    it("k3v9q2ab is not found", async () => {
      expect((await guest().refused("memory_get", { id: "k3v9q2ab" })).code).toBe("not_found");
    });
  });
});
