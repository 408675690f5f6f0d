/** The block that a session starts with: no prompt, no model, and the same bytes all day. */
import { expect, it } from "vitest";
import { type Guest, onOneRig } from "../support/tenants.ts";

type Section = { name: string; items: { id: string; type: string; score: number }[]; dropped: number };
const opening = (g: Guest, more: object = {}, project: string | undefined = "p") =>
  g.call(
    "memory_context",
    { trigger_prompt: "Start of a session", opening: true, ...more },
    project ? { project } : {},
  );
const idsOf = (answer: { sections?: Section[] }) =>
  (answer.sections ?? []).flatMap(({ items }) => items.map(({ id }) => id));

async function furnish(g: Guest, project = "p") {
  const fact = (subject: string, predicate: string, content: string, more = {}) =>
    g.call("memory_store_fact", { subject, predicate, content, ...more }, { project });
  const lasting = await fact("user", "name", "Ada Lovelace", { permanence: "permanent", importance: 10 });
  const passing = await fact("parser", "version", "The parser is at version 3", { importance: 6 });
  const rule = await g.call("memory_store_rule", { content: "Run the linter before every commit" }, { project });
  const episode = await g.call(
    "memory_store_episode",
    { content: "The TOML parser lost its comments; a second pass keeps them.", session_id: "s1", speaker: "Ada" },
    { project },
  );
  return { lasting, passing, rule, episode };
}

for (const model of [true, false])
  onOneRig(
    `an opening ${model ? "with" : "without"} a model`,
    (guest) => {
      it("tells what is lasting, rules, facts and what happened lately, in that order", async () => {
        const g = guest();
        await furnish(g);
        const answer = await opening(g);
        expect(answer.text.split("\n").filter((line: string) => /^[<#]/.test(line))).toEqual([
          "<butler-memory>",
          "# Always",
          "# Rules",
          "# Facts",
          "# Lately",
          "</butler-memory>",
        ]);
        for (const words of ["Ada Lovelace", "version 3", "linter before every commit", "a second pass keeps them"])
          expect(answer.text).toContain(words);
        expect(answer.budget).toBe(600);
        expect(answer.degraded).toBeUndefined();
      });

      it("needs no words in common with its prompt and writes nothing", async () => {
        const g = guest();
        await furnish(g);
        const before = await g.events();
        const first = await opening(g);
        const second = await opening(g, { trigger_prompt: "Quite different words about the weather" });
        expect(second.text).toBe(first.text);
        await g.settled();
        expect(await g.events()).toEqual(before);
      });

      it("gives the same bytes all day", async () => {
        const g = guest();
        await furnish(g);
        const first = await opening(g);
        for (const hours of [1, 5, 11.9]) {
          g.set(new Date(Date.parse("2026-03-01T12:00:00Z") + hours * 3_600_000));
          expect((await opening(g)).text).toBe(first.text);
        }
      });

      it("leaves out what the session was told, what it said, and what only it taught", async () => {
        const g = guest();
        const { lasting, episode, ...others } = await furnish(g);
        const taught = await g.call(
          "memory_store_fact",
          { subject: "comments", predicate: "kept by", content: "A second pass", source_episode_id: episode.id },
          { project: "p" },
        );
        const except = [lasting.id];
        const ids = idsOf(await opening(g, { except, except_session: "s1" }));
        expect(ids.sort()).toEqual([others.passing.id, others.rule.id].sort());
        expect(idsOf(await opening(g, { except: [] }))).toContain(taught.id);
      });

      it("never tells of another project, another butler or another tenant", async () => {
        const [g, stranger] = [guest(), guest()];
        await furnish(g);
        expect((await opening(stranger)).text).toBe("");
        const elsewhere = await opening(g, {}, "another");
        expect(elsewhere.text).toContain("Ada Lovelace");
        for (const words of ["version 3", "linter", "second pass"]) expect(elsewhere.text).not.toContain(words);
      });

      it("is not of the past and not measured", async () => {
        const g = guest();
        const ask = (more: object) =>
          g.refused("memory_context", { trigger_prompt: "Start", opening: true, ...more }, { project: "p" });
        expect(await ask({ as_of: "2026-02-01" })).toMatchObject({ code: "invalid_input", field: "as_of" });
        expect(await ask({ min_fit: 0.5 })).toMatchObject({ code: "invalid_input", field: "min_fit" });
      });

      it("is empty when there is nothing to say, and within any budget", async () => {
        const g = guest();
        expect(await opening(g)).toMatchObject({ text: "", tokens: 0 });
        await furnish(g);
        for (const token_budget of [1, 20, 40, 60, 100, 200])
          expect((await opening(g, { token_budget })).tokens).toBeLessThanOrEqual(token_budget);
      });
    },
    { model },
  );

onOneRig(
  "an opening of a butler with a small budget",
  (guest) => {
    it("takes the smaller budget of the two", async () => {
      const g = guest();
      await furnish(g);
      expect((await opening(g)).budget).toBe(120);
    });
  },
  { model: false, settings: { retrieval: { context_token_budget: 120 } }, only: "embedded" },
);
