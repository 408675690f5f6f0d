/** A token that is bound to scopes reads and writes these, whatever it asks for; a look across tenants is an event of the tenant. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { tellRefused } from "../../src/engine/memory/access.ts";
import { toolNamed } from "../../src/engine/tools/index.ts";
import { views } from "../../src/engine/views/index.ts";
import { type Guest, onOneRig } from "../support/tenants.ts";

const SCOPES = ["global", "general", "general/app", "general/app2", "coder", "coder/app"] as const;
/** A word for each scope, which nothing else says. */
const WORDS: Readonly<Record<string, string>> = {
  global: "kumquat",
  general: "rambutan",
  "general/app": "carambola",
  "general/app2": "mangosteen",
  coder: "tamarillo",
  "coder/app": "feijoa",
};
const project = (scope: string) => scope.split("/")[1];
const butlerOf = (scope: string) => (scope === "global" ? "general" : String(scope.split("/")[0]));

async function fill(g: Guest): Promise<string[]> {
  const ids: string[] = [];
  for (const scope of SCOPES) {
    const word = WORDS[scope];
    const stand = {
      as: { butler: butlerOf(scope), admin: false },
      ...(project(scope) ? { project: project(scope) } : {}),
    };
    const fact = { subject: `garden of ${word}`, predicate: "grows", content: `a ${word} tree`, scope };
    ids.push((await g.call("memory_store_fact", fact, stand)).id);
    ids.push((await g.call("memory_store_rule", { content: `Water the ${word} tree daily`, scope }, stand)).id);
    if (scope !== "global")
      ids.push((await g.call("memory_store_episode", { content: `We saw a ${word} tree` }, stand)).id);
  }
  return ids;
}

/** Everything that can be read, with an input that would bring it all. */
function questions(ids: readonly string[], scope: string | undefined): [string, Record<string, unknown>][] {
  const of = scope === undefined ? {} : { scope };
  const query = `tree ${Object.values(WORDS).join(" ")}`;
  const own: Record<string, Record<string, unknown>[]> = {
    memory_search: [
      { query, limit: 50, min_relevance: 0, ...of },
      { query, as_of: "2026-03-01T12:00:00Z", ...of },
    ],
    memory_recall: [{ topic: query, limit: 50, ...of }],
    memory_context: [{ trigger_prompt: query }, { trigger_prompt: query, opening: true }],
    memory_context_batch: [{ requests: [{ trigger_prompt: query }] }],
    memory_stats: [{ ...of }],
    memory_activity_stream: [
      { limit: 200, ...of },
      { limit: 200, changes: true, ...of },
    ],
    memory_get: ids.map((id) => ({ id })),
    memory_why: ids.slice(0, 4).map((id) => ({ id, query })),
    memory_learning: [{}],
    view_search: [{ query, ...of }],
    view_texts: [{ ids }],
    view_memory: ids.map((id) => ({ id })),
    view_preview: [{ prompt: query }],
    view_subjects: [{ ...of }, { prefix: "garden" }],
    view_changes: [{ from: "2026-02-01T00:00:00Z", to: "2026-03-02T00:00:00Z" }],
    view_run: [],
  };
  const named = Object.entries(own).flatMap(([tool, inputs]) =>
    inputs.map((input) => [tool, input] as [string, object]),
  );
  const rest = views
    .filter(({ name }) => own[name] === undefined)
    .flatMap(({ name }) => [
      [name, {}],
      [name, of],
    ]);
  return [...named, ...rest] as [string, Record<string, unknown>][];
}

const bindings = fc.record({
  scopes: fc.uniqueArray(fc.constantFrom(...SCOPES), { minLength: 1, maxLength: 4 }),
  butler: fc.constantFrom("general"),
  admin: fc.boolean(),
  project: fc.constantFrom(undefined, "app", "app2", "nowhere"),
  asked: fc.constantFrom(undefined, "*", "general/ap", ...SCOPES),
});

onOneRig(
  "token scopes",
  (guest) => {
    it("whatever is asked, from wherever: not one word of another scope", async () => {
      const g = guest();
      const ids = await fill(g);
      let seen = 0;
      await fc.assert(
        fc.asyncProperty(bindings, async ({ scopes, butler, admin, project: stands, asked }) => {
          const foreign = SCOPES.filter((scope) => !scopes.includes(scope)).map((scope) => WORDS[scope] ?? "");
          const as = { butler, admin, scopes };
          for (const [tool, input] of questions(ids, asked)) {
            const outcome = await g.outcome(tool, input, { as, ...(stands ? { project: stands } : {}) });
            const told = JSON.stringify(outcome.ok ? outcome.answer : { ...outcome.error, message: "" });
            // What was asked comes back with some answers, and holds every word.
            const found = foreign.filter((word) => told.replaceAll(Object.values(WORDS).join(" "), "").includes(word));
            expect(found, `${tool} ${JSON.stringify(input)} of ${JSON.stringify(as)}`).toEqual([]);
            if (outcome.ok && scopes.some((scope) => told.includes(WORDS[scope] ?? ""))) seen++;
          }
        }),
        { numRuns: 15, seed: 20_260_301 },
      );
      expect(seen).toBeGreaterThan(30);
    });

    it("what it stores lands in its scopes, and nothing of another one is changed", async () => {
      const g = guest();
      const ids = await fill(g);
      const bound = { as: { butler: "general", admin: false, scopes: ["general/app"] } };
      const fact = { subject: "user", predicate: "likes:tea", content: "green tea" };
      const stored = await g.call("memory_store_fact", fact, bound);
      expect(await g.row("facts", stored.id)).toMatchObject({ scope: "general/app" });
      const rule = await g.call("memory_store_rule", { content: "Prune in March" }, bound);
      expect(await g.row("rules", rule.id)).toMatchObject({ scope: "general/app" });
      const episode = await g.call("memory_store_episode", { content: "We pruned it" }, bound);
      expect(await g.row("episodes", episode.id)).toMatchObject({ butler: "general/app" });
      for (const scope of ["global", "general", "general/app2", "general/ap"])
        expect(await g.refused("memory_store_fact", { ...fact, scope }, bound)).toMatchObject({ field: "scope" });
      expect(await g.refused("memory_store_episode", { content: "x" }, { ...bound, project: "app2" })).toMatchObject({
        ...{ code: "forbidden", field: "scope" },
      });
      expect((await g.refused("memory_consolidate", {}, bound)).field).toBe("scope");
      const mine = new Set([WORDS["general/app"]]);
      for (const id of ids) {
        const row = (await g.row("facts", id)) ?? (await g.row("rules", id)) ?? (await g.row("episodes", id));
        const own = [...mine].some((word) => String(row?.content).includes(String(word)));
        for (const tool of ["memory_confirm", "memory_forget"])
          if (!own && toolNamed(tool))
            expect((await g.refused(tool, { id }, bound)).code, tool).toMatch(/not_found|invalid/);
      }
    });

    it("another tenant is looked at with a token for that, which is an event there; nothing is changed or counted", async () => {
      const [mine, theirs] = [guest(), guest()];
      const { id } = await theirs.call("memory_store_fact", { subject: "vault", predicate: "colour", content: "teal" });
      const elevated = { tenant: theirs.tenant, as: { name: "auditor", admin: true, crossTenant: true } };
      for (const as of [{ admin: true }, { admin: false }])
        expect(await mine.refused("memory_get", { id }, { tenant: theirs.tenant, as })).toMatchObject({
          ...{ code: "forbidden", field: "tenant" },
        });
      const before = await theirs.events();
      expect((await mine.call("memory_get", { id }, elevated)).memory.content).toBe("teal");
      expect((await mine.call("memory_search", { query: "vault", scope: "*" }, elevated)).results).toHaveLength(1);
      await mine.settled();
      const added = (await theirs.events()).slice(before.length);
      expect(added.map(({ event_type, actor, payload }) => [event_type, actor, payload.tool])).toEqual([
        ["access.elevated", "auditor", "memory_get"],
        ["access.elevated", "auditor", "memory_search"],
      ]);
      expect(await theirs.row("facts", id)).toMatchObject({ reference_count: 0 });
      expect(await mine.refused("memory_forget", { id }, elevated)).toMatchObject({ code: "forbidden", field: "role" });
      expect((await mine.events()).map(({ event_type }) => event_type)).not.toContain("access.elevated");
      // Its own tenant needs no such look.
      await mine.call("memory_stats", {}, { tenant: mine.tenant, as: elevated.as });
      expect(await mine.events()).toEqual([]);
    });

    it("what callers were refused is in the streams of their own tenants", async () => {
      const [mine, theirs] = [guest(), guest()];
      const at = mine.now;
      const one = { butler: "general", actor: "laptop", kind: "scope", door: "mcp", count: 7, from: at, to: at };
      await tellRefused(mine.memory, [
        { ...one, tenant: mine.tenant },
        { ...one, tenant: theirs.tenant, actor: "other", count: 1 },
      ]);
      const { events } = await mine.call("memory_activity_stream", { changes: true });
      expect(events).toMatchObject([
        { event_type: "access.refused", actor: "laptop", payload: { kind: "scope", door: "mcp", count: 7 } },
      ]);
      expect((await theirs.events()).map(({ actor }) => actor)).toEqual(["other"]);
    });
  },
  { model: false, role: "memory" },
);
