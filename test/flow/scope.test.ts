import { expect, it } from "vitest";
import { type Guest, onOneRig } from "../support/tenants.ts";

type Hit = { id: string; scope: string };
const as = (butler: string, admin = false) => ({ as: { butler, admin } });
const scopesSeen = async (g: Guest, butler: string, admin = false, scope?: string) => {
  const input = { query: "favourite colour", ...(scope === undefined ? {} : { scope }) };
  const { results } = await g.call("memory_search", input, as(butler, admin));
  return results.map((r: Hit) => r.scope).toSorted();
};
const fact = (content: string, scope: string) => ({ subject: "user", predicate: "favourite colour", content, scope });

onOneRig(
  "scope",
  (guest) => {
    it("a caller sees global and its own, by equality", async () => {
      const g = guest();
      const stored: Record<string, string> = {};
      for (const scope of ["user1", "user10", "user"]) {
        await g.call("memory_store_fact", fact("blue", scope), as(scope));
        stored[scope] = (await g.call("memory_store_episode", { content: "favourite colour came up" }, as(scope))).id;
      }
      await g.call("memory_store_fact", fact("green", "global"), as("user1"));
      for (const me of ["user1", "user10", "user"]) {
        expect(await scopesSeen(g, me)).toEqual(["global", me, me].toSorted());
        expect(await scopesSeen(g, me, false, me)).toEqual(["global", me, me].toSorted());
        expect(await scopesSeen(g, me, false, "global")).toEqual(["global"]);
      }
      expect(await scopesSeen(g, "use")).toEqual(["global"]);
      const foreign = stored.user10;
      for (const tool of ["memory_get", "memory_forget", "memory_restore", "memory_confirm"])
        expect((await g.refused(tool, { id: foreign }, as("user1"))).code).toBe("not_found");
      const cited = { ...fact("red", "user1"), source_episode_id: foreign };
      expect((await g.refused("memory_store_fact", cited, as("user1"))).code).toBe("not_found");
      const { text } = await g.call("memory_context", { trigger_prompt: "favourite colour" }, as("use"));
      expect(text).toContain("green");
      expect(text).not.toContain("blue");
    });

    it("whoever only reads leaves no row behind, whatever scopes and projects it names", async () => {
      const g = guest();
      await g.call("memory_store_fact", fact("blue", "global"), as("user1"));
      const before = await g.count("shelves");
      for (let n = 0; n < 5; n++) {
        const reader = { ...as("*", true), project: `forge.example/p${n}` };
        await g.call("memory_search", { query: "colour", scope: `user${n}` }, reader);
        await g.call("memory_recall", { topic: "colour" }, reader);
        expect((await g.call("memory_context", { trigger_prompt: "favourite colour" }, reader)).text).toContain("blue");
        await g.call("memory_stats", { scope: `other${n}` }, reader);
      }
      await g.settled();
      expect(await g.count("shelves")).toBe(before);
    });

    it("refuses a foreign scope by name", async () => {
      const g = guest();
      expect(await g.refused("memory_search", { query: "x", scope: "user10" }, as("user1"))).toMatchObject({
        code: "forbidden",
        field: "scope",
      });
      for (const tool of ["memory_recall", "memory_stats", "memory_activity_stream"]) {
        const input = { ...(tool === "memory_recall" ? { topic: "x" } : {}), scope: "*" };
        expect(await g.refused(tool, input, as("user1"))).toMatchObject({ code: "forbidden", field: "scope" });
      }
      expect((await g.refused("memory_store_fact", fact("x", "user10"), as("user1"))).code).toBe("forbidden");
      expect((await g.refused("memory_store_rule", { content: "x", scope: "user10" }, as("user1"))).code).toBe(
        "forbidden",
      );
      expect((await g.refused("memory_store_fact", fact("x", "*"), as("user1", true))).code).toBe("invalid_input");
    });

    it("an admin may read every scope of its tenant, and no other tenant's", async () => {
      const [g, other] = [guest(), guest()];
      const ids: string[] = [];
      for (const scope of ["a", "b"]) ids.push((await g.call("memory_store_fact", fact("blue", scope), as(scope))).id);
      const theirs = await other.call("memory_store_fact", fact("blue", "a"), as("a"));
      expect(await scopesSeen(g, "a", true, "*")).toEqual(["a", "b"]);
      expect(await scopesSeen(g, "a", true, "b")).toEqual(["b"]);
      expect((await g.call("memory_stats", { scope: "*" }, as("a", true))).facts.total).toBe(2);
      const { events } = await g.call("memory_activity_stream", { scope: "*" }, as("a", true));
      expect(new Set(events.map((e: { entity_id: string }) => e.entity_id))).not.toContain(theirs.id);
      for (const tool of ["memory_get", "memory_forget", "memory_confirm"])
        expect((await g.refused(tool, { id: theirs.id }, as("a", true))).code).toBe("not_found");
      expect((await other.call("memory_get", { id: theirs.id }, as("a"))).memory.state).toBe("active");
    });

    it("supersedes only within scope and tenant", async () => {
      const [g, other] = [guest(), guest()];
      const everyone = await g.call("memory_store_fact", fact("blue", "global"), as("a"));
      const own = await g.call("memory_store_fact", fact("red", "a"), as("a"));
      const theirs = await other.call("memory_store_fact", fact("green", "global"), as("a"));
      expect([everyone, own, theirs].map((f) => f.status)).toEqual(["created", "created", "created"]);
      for (const { id } of [everyone, own, theirs])
        expect(await g.row("facts", id)).toMatchObject({ validity: "active" });
      const changed = await g.call("memory_store_fact", fact("black", "a"), as("a"));
      expect(changed.superseded_id).toBe(own.id);
    });

    it("a butler argument that is not the connection's is refused", async () => {
      const g = guest();
      for (const [tool, input] of [
        ["memory_store_episode", { content: "x", butler: "b" }],
        ["memory_context", { trigger_prompt: "x", butler: "b" }],
      ] as const)
        expect(await g.refused(tool, input, as("a"))).toMatchObject({ code: "forbidden", field: "butler" });
      const batch = { requests: [{ trigger_prompt: "x", butler: "b" }, { trigger_prompt: "x" }] };
      const { responses } = await g.call("memory_context_batch", batch, as("a"));
      expect(responses[0]).toMatchObject({ ok: false, error: { code: "forbidden" } });
      expect(responses[1].ok).toBe(true);
    });
  },
  { role: "memory", butler: "memory" },
);

onOneRig("a butler's own memory", (guest) => {
  it("refuses another butler's token", async () => {
    const g = guest();
    expect((await g.refused("memory_stats", {}, as("other"))).code).toBe("forbidden");
    expect((await g.call("memory_stats", {}, as("general"))).episodes.total).toBe(0);
  });
});
