/** A project's memories stay in it: what a coding agent learns in one repository is not told in another. */
import { expect, it } from "vitest";
import { type Guest, onOneRig } from "../support/tenants.ts";

const APP = "github.com/acme/app";
const LONGER = "github.com/acme/app2";
const inside = (project: string, butler = "coder") => ({ project, as: { butler } });
const found = async (g: Guest, query: string, where: object) =>
  ((await g.call("memory_search", { query }, where)).results as { content: string }[]).map(({ content }) => content);

onOneRig(
  "projects",
  (guest) => {
    it("keep their episodes to themselves, by equality, and share what is global", async () => {
      const g = guest();
      await g.call("memory_store_episode", { content: "the release runs on green Fridays" }, inside(APP));
      await g.call("memory_store_episode", { content: "the release runs on red Mondays" }, inside(LONGER));
      await g.call(
        "memory_store_fact",
        { subject: "user", predicate: "release", content: "wants it tested", scope: "global" },
        inside(APP),
      );
      expect((await found(g, "release", inside(APP))).toSorted()).toEqual([
        "the release runs on green Fridays",
        "wants it tested",
      ]);
      expect((await found(g, "release", inside(LONGER))).toSorted()).toEqual([
        "the release runs on red Mondays",
        "wants it tested",
      ]);
      expect(await found(g, "release", { as: { butler: "coder" } })).toEqual(["wants it tested"]);
      const { text } = await g.call("memory_context", { trigger_prompt: "release", butler: "coder" }, inside(APP));
      expect(text).toContain("green Fridays");
      expect(text).not.toContain("red Mondays");
    });

    it("belong to their butler: another one that names the project finds nothing of it", async () => {
      const g = guest();
      await g.call("memory_store_episode", { content: "the deploy key is kept in the blue vault" }, inside(APP));
      const [stored] = (await g.call("memory_search", { query: "deploy key" }, inside(APP))).results as {
        id: string;
      }[];
      expect(await found(g, "deploy key", inside(APP, "other"))).toEqual([]);
      expect((await g.refused("memory_get", { id: stored?.id }, inside(APP, "other"))).code).toBe("not_found");
      const scope = `coder/${APP}`;
      expect((await g.refused("memory_search", { query: "key", scope }, inside(APP, "other"))).code).toBe("forbidden");
      expect((await g.refused("memory_search", { query: "key", scope }, { as: { butler: "coder" } })).code).toBe(
        "forbidden",
      );
    });

    it("are steps below their butler, whose name means the butler as scope and themselves as argument", async () => {
      const g = guest();
      const fact = { subject: "tests", predicate: "runner", content: "vitest", scope: "coder" };
      const { id } = await g.call("memory_store_fact", fact, inside(APP));
      expect((await g.row("facts", id))?.scope).toBe("coder");
      const rows = [{ content: "ran the tests", butler: "coder" }];
      const { results } = await g.call("memory_ingest_batch", { episodes: rows }, inside(APP));
      expect(results).toMatchObject([{ ok: true, duplicate: false }]);
      expect((await g.refused("memory_store_episode", { content: "x y", butler: "other" }, inside(APP))).code).toBe(
        "forbidden",
      );
    });

    it("are refused when their name could not stand in a scope", async () => {
      const g = guest();
      for (const project of ["two words", "tab\tbed", "größe", "", "x".repeat(201)])
        expect((await g.refused("memory_stats", {}, inside(project))).field, project).toBe("project");
    });

    it("learn by themselves: nobody is given another project's episodes to read", async () => {
      const g = guest();
      const say = (content: string, project: string) =>
        g.call("memory_store_episode", { content, speaker: "user", session_id: project }, inside(project));
      await say("Always run the linter before you commit.", APP);
      await say("Never touch the staging database.", LONGER);
      const { episodes } = await g.call("memory_consolidate", {}, inside(APP));
      expect(episodes).toMatchObject([{ text: "Always run the linter before you commit." }]);
      expect((await g.call("memory_consolidate", {}, inside("github.com/acme/third"))).episodes ?? []).toEqual([]);
    });
  },
  { model: false, role: "memory" },
);

onOneRig("what a session was told", (guest) => {
  const facts = [
    ["name", "Ada Lovelace", { permanence: "permanent", importance: 10 }],
    ["diet", "Vegetarian", { permanence: "stable", importance: 8 }],
    ["editor", "Writes code in Helix", {}],
    ["bicycle", "Rides a red bicycle to work", {}],
  ] as const;

  async function furnish(g: Guest): Promise<Record<string, string>> {
    const ids: Record<string, string> = {};
    for (const [predicate, content, more] of facts)
      ids[predicate] = (await g.call("memory_store_fact", { subject: "user", predicate, content, ...more })).id;
    return ids;
  }

  it("is not told again, and neither is what does not fit", async () => {
    const g = guest();
    const ids = await furnish(g);
    const prompt = { trigger_prompt: "Which editor does the user write code in?" };
    const shown = async (more: object) => {
      const { sections } = await g.call("memory_context", { ...prompt, ...more });
      return (sections as { items: { id: string }[] }[]).flatMap(({ items }) => items.map(({ id }) => id)).toSorted();
    };
    const all = Object.values(ids).toSorted();
    expect(await shown({})).toEqual(all);
    expect(await shown({ lasting: false, min_fit: 0.36 })).toEqual([ids.editor]);
    expect(await shown({ lasting: false, min_fit: 0.36, except: [ids.editor] })).toEqual([]);
    expect(await shown({ except: [ids.name] })).toEqual(all.filter((id) => id !== ids.name));
  });

  it("begins with the same bytes for fifty prompts, until memory changes", async () => {
    const g = guest();
    await furnish(g);
    for (const [n, content] of ["Parsed TOML", "Fixed the login test", "Wrote the release notes"].entries())
      await g.call("memory_store_episode", { content, session_id: `s${n}` });
    const topics = ["the editor", "my diet", "a bicycle", "the login test", "release notes"];
    const asks = ["What about", "How do I fix", "When did we last see", "Who cares for", "Write a test for"];
    const prompts = Array.from({ length: 50 }, (_, n) => `${asks[n % 5]} ${topics[Math.floor(n / 5) % 5]} (${n})?`);
    const answers = [];
    for (const trigger_prompt of prompts) answers.push(await g.call("memory_context", { trigger_prompt }));
    const first = answers[0]!;
    const bytes = Buffer.from(first.text).subarray(0, first.prefix.bytes);
    const survived = answers.filter(({ text }) => Buffer.from(text).subarray(0, bytes.length).equals(bytes)).length;
    expect(survived).toBe(50);
    expect(bytes.toString()).toMatch(/^<butler-memory>\n.*\n# Always\n.*Ada Lovelace.*\n.*Vegetarian.*\n$/s);
    expect(new Set(answers.map(({ prefix }) => prefix.hash)).size).toBe(1);
    expect(new Set(answers.map(({ text }) => text)).size).toBeGreaterThan(1);

    await g.call("memory_store_fact", {
      subject: "user",
      predicate: "diet",
      content: "Vegan",
      permanence: "stable",
      importance: 8,
    });
    const changed = await g.call("memory_context", { trigger_prompt: prompts[0] });
    expect(changed.prefix.hash).not.toBe(first.prefix.hash);
    expect(Buffer.from(changed.text).subarray(0, changed.prefix.bytes).toString()).toContain("Vegan");
  });
});
