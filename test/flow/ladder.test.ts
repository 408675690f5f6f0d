/** Scopes are a ladder: `global`, `<butler>`, `<butler>/<project>`. A caller reads the steps it stands on, and no others. */
import { expect, it } from "vitest";
import { type Guest, inOneHouse } from "../support/guests.ts";

const APP = "github.com/acme/app";
const OTHER = "github.com/acme/other";
const at = (butler: string, project?: string) => ({ as: { butler }, ...(project === undefined ? {} : { project }) });
const ci = (content: string) => ({ subject: "project", predicate: "ci_system", content });
const home = (content: string, more: object = {}) => ({ subject: "user", predicate: "lives_in", content, ...more });
type Where = ReturnType<typeof at>;

const contents = async (g: Guest, query: string, where: Where, more: object = {}) =>
  ((await g.call("memory_search", { query, ...more }, where)).results as { content: string }[])
    .map(({ content }) => content)
    .toSorted();
const block = async (g: Guest, prompt: string, where: Where) =>
  (await g.call("memory_context", { trigger_prompt: prompt }, where)).text as string;

inOneHouse(
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
  },
  { model: false, role: "memory" },
);
