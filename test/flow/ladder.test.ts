/** Scopes are a ladder: `global`, `<butler>`, `<butler>/<project>`. A caller reads the steps it stands on, and no others. */
import { expect, it } from "vitest";
import { type Guest, onOneRig } from "../support/tenants.ts";

const APP = "github.com/acme/app";
const OTHER = "github.com/acme/other";
const at = (butler: string, project?: string) => ({
  as: { butler, voice: "agent" as const },
  ...(project === undefined ? {} : { project }),
});
const ci = (content: string) => ({ subject: "project", predicate: "ci_system", content });
const home = (content: string, more: object = {}) => ({ subject: "user", predicate: "lives_in", content, ...more });
type Where = ReturnType<typeof at>;

const contents = async (g: Guest, query: string, where: Where, more: object = {}) =>
  ((await g.call("memory_search", { query, ...more }, where)).results as { content: string }[])
    .map(({ content }) => content)
    .toSorted();
const block = async (g: Guest, prompt: string, where: Where) =>
  (await g.call("memory_context", { trigger_prompt: prompt }, where)).text as string;

onOneRig(
  "the ladder",
  (guest) => {
    it("files what has no scope under the project, the person's under the butler, and else for everybody", async () => {
      const g = guest();
      const stored = async (tool: string, input: object, where: Where) =>
        (await g.call(tool, input, where)).scope as string;
      expect(await stored("memory_store_fact", ci("Jenkins"), at("coder", APP))).toBe(`coder/${APP}`);
      expect(await stored("memory_store_fact", home("Porto"), at("coder", APP))).toBe("coder");
      expect(await stored("memory_store_fact", { ...home("Porto"), subject: "The Owner" }, at("coder", APP))).toBe(
        "coder",
      );
      expect(await stored("memory_store_fact", ci("Jenkins"), at("coder"))).toBe("global");
      expect(await stored("memory_store_rule", { content: "Lint before you push." }, at("coder", APP))).toBe(
        `coder/${APP}`,
      );
      expect(await stored("memory_store_rule", { content: "Ask me before you push." }, at("coder", APP))).toBe("coder");
      expect(await stored("memory_store_rule", { content: "Ask me before you push." }, at("coder"))).toBe("global");
      for (const scope of ["global", "coder", `coder/${APP}`])
        expect(await stored("memory_store_fact", { ...ci("Drone"), scope }, at("coder", APP))).toBe(scope);
      for (const scope of ["other", `coder/${OTHER}`, `other/${APP}`])
        expect((await g.refused("memory_store_fact", { ...ci("x"), scope }, at("coder", APP))).code).toBe("forbidden");
    });

    it("keeps what two repositories say of themselves apart", async () => {
      const g = guest();
      const one = await g.call("memory_store_fact", ci("Jenkins"), at("coder", APP));
      const two = await g.call("memory_store_fact", ci("Buildkite"), at("coder", OTHER));
      expect([one.status, two.status]).toEqual(["created", "created"]);
      expect(await contents(g, "ci system", at("coder", APP))).toEqual(["Jenkins"]);
      expect(await contents(g, "ci system", at("coder", OTHER))).toEqual(["Buildkite"]);
      expect(await contents(g, "ci system", at("coder"))).toEqual([]);
      expect(await contents(g, "ci system", at("other", APP))).toEqual([]);
      expect((await g.call("memory_get", { id: one.id }, at("coder", APP))).memory.state).toBe("active");
      expect((await g.refused("memory_get", { id: one.id }, at("coder", OTHER))).code).toBe("not_found");
    });

    it("is read whole from a project, without the projects from the butler, in every tool", async () => {
      const g = guest();
      const told = {
        global: "rain for everybody",
        coder: "rain for the butler",
        [`coder/${APP}`]: "rain for the project",
      };
      for (const [scope, content] of Object.entries(told)) {
        await g.call(
          "memory_store_fact",
          { subject: "weather", predicate: `note:${scope}`, content, scope },
          at("coder", APP),
        );
        await g.call("memory_store_rule", { content: `Mention ${content}.`, scope }, at("coder", APP));
      }
      const all = Object.values(told);
      const facts = { types: ["fact"] };
      expect(await contents(g, "rain", at("coder", APP), facts)).toEqual(all.toSorted());
      expect(await contents(g, "rain", at("coder", APP), { ...facts, scope: "coder" })).toEqual(
        all.slice(0, 2).toSorted(),
      );
      expect(await contents(g, "rain", at("coder", OTHER), facts)).toEqual(all.slice(0, 2).toSorted());
      expect(await contents(g, "rain", at("coder"), facts)).toEqual(all.slice(0, 2).toSorted());
      expect(await contents(g, "rain", at("other"), facts)).toEqual(all.slice(0, 1));
      for (const [where, steps] of [
        [at("coder", APP), 3],
        [at("coder"), 2],
        [at("other", APP), 1],
      ] as const) {
        const shown = (words: string) => all.map((content) => words.includes(content));
        const expected = all.map((_, step) => step < steps);
        expect(shown(await block(g, "rain", where))).toEqual(expected);
        g.later(1);
        const as_of = g.now.toISOString();
        expect(shown((await g.call("memory_context", { trigger_prompt: "rain", as_of }, where)).text)).toEqual(
          expected,
        );
        const stats = await g.call("memory_stats", {}, where);
        expect([stats.facts.total, stats.rules.total]).toEqual([steps, steps]);
        const { events } = await g.call("memory_activity_stream", { limit: 500 }, where);
        const stored = (events as { event_type: string; scope: string }[]).filter(
          ({ event_type: t }) => t === "fact.stored",
        );
        expect(stored.map(({ scope }) => scope)).toEqual(Object.keys(told).slice(0, steps));
      }
    });

    it("a block tells one value of a key: the narrowest step's, unless a better source says otherwise; a search shows all", async () => {
      const g = guest();
      const steps = { global: "Berlin", coder: "Porto", [`coder/${APP}`]: "Oslo" };
      for (const [scope, town] of Object.entries(steps))
        await g.call("memory_store_fact", home(town, { scope, importance: 9, permanence: "stable" }), at("coder", APP));
      const told = async (trigger_prompt: string, where: Where, more: object = {}) => {
        const { text } = await g.call("memory_context", { trigger_prompt, ...more }, where);
        return [...Object.values(steps), "Graz"].filter((one) => (text as string).includes(one));
      };
      const views = [
        [at("coder", APP), "Oslo"],
        [at("coder"), "Porto"],
        [at("other"), "Berlin"],
      ] as const;
      for (const [where, town] of views) {
        // Also when the question has the words of a value that is not told.
        expect(await told("lives in Berlin Porto Oslo", where)).toEqual([town]);
        const seen = Object.values(steps).slice(0, Object.values(steps).indexOf(town) + 1);
        expect(await contents(g, "lives in Berlin Porto Oslo", where)).toEqual(seen.toSorted());
      }
      g.later(1);
      const as_of = g.now.toISOString();
      for (const [where, town] of views)
        expect(await told("lives in Berlin Porto Oslo", where, { as_of })).toEqual([town]);
      expect(await contents(g, "lives in", at("coder", APP), { scope: "global" })).toEqual(["Berlin"]);

      const voice = { as: { butler: "coder", voice: "user" } } as const;
      await g.call("memory_store_fact", home("Graz", { scope: "global" }), voice);
      for (const [where] of views) expect(await told("lives in", where)).toEqual(["Graz"]);
    });

    it("corrects what its caller is told: on the step where it is known, not on a wider one", async () => {
      const g = guest();
      await g.call("memory_store_fact", home("Berlin", { scope: "coder" }), at("coder"));
      const moved = await g.call("memory_store_fact", home("Porto"), at("coder"));
      expect(moved).toMatchObject({ scope: "coder", status: "superseded" });
      expect(await contents(g, "lives in", at("coder"))).toEqual(["Porto"]);
      await g.call("memory_store_fact", ci("Jenkins"), at("coder"));
      const own = await g.call("memory_store_fact", ci("Drone"), at("coder", APP));
      expect(own).toMatchObject({ scope: `coder/${APP}`, status: "created" });
      expect(await contents(g, "ci system", at("coder", OTHER))).toEqual(["Jenkins"]);
    });

    it("keeps what is learned with the butler and the project it was learned in, and makes nothing global unasked", async () => {
      const g = guest();
      const user = (butler: string) => ({ as: { butler, voice: "user" as const } });
      const say = (content: string, where: object) =>
        g.call("memory_store_episode", { content, speaker: "user", session_id: "s" }, where);
      await say("I am allergic to peanuts. Our CI system is Jenkins.", { ...user("health"), project: APP });
      const { run_id } = await g.call("memory_consolidate", {}, { ...user("health"), project: APP });
      const learned = (subject: string, predicate: string, content: string) => ({
        ...{ subject, predicate, content, permanence: "stable", importance: 9, scope: "global", episodes: ["e1"] },
      });
      await g.call(
        "memory_consolidate",
        {
          run_id,
          facts: [
            learned("user", "allergic_to:peanuts", "The user is allergic to peanuts."),
            learned("project", "ci_system", "The CI system is Jenkins."),
          ],
          rules: [{ content: "Never suggest peanuts.", scope: "global", episodes: ["e1"] }],
        },
        { ...user("health"), project: APP },
      );
      const scopes = await g.db.query<{ scope: string }>(
        "select scope from facts where tenant_id = $1 union all select scope from rules where tenant_id = $1",
        [g.tenant],
      );
      expect(scopes.map(({ scope }) => scope).toSorted()).toEqual(["health", `health/${APP}`, `health/${APP}`]);
      expect(await block(g, "peanuts allergic Jenkins", at("health", OTHER))).toContain("allergic to peanuts");
      expect(await block(g, "peanuts allergic Jenkins", at("health", OTHER))).not.toContain("Jenkins");
      expect(await block(g, "peanuts allergic Jenkins", at("coder", APP))).not.toContain("peanuts");

      await say("Tell all my butlers that my name is Ada.", user("health"));
      const told = await g.call("memory_consolidate", {}, user("health"));
      await g.call(
        "memory_consolidate",
        { run_id: told.run_id, facts: [learned("user", "name", "Ada")] },
        user("health"),
      );
      expect(await contents(g, "name", at("coder"))).toEqual(["Ada"]);
    });
  },
  { model: false, role: "memory" },
);
