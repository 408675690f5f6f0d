/** Whoever tells what, wherever: it is read by those who stand on its step, and by nobody else. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { type Guest, onOneRig } from "../support/tenants.ts";

interface Where {
  readonly tenant: 0 | 1;
  readonly butler: string;
  readonly project: string | undefined;
}

/** Names that begin like others: steps are compared whole. */
const BUTLERS = ["app", "app2"];
const PROJECTS = [undefined, "x", "x2"];
const CALLERS: readonly Where[] = ([0, 1] as const).flatMap((tenant) =>
  BUTLERS.flatMap((butler) => PROJECTS.map((project) => ({ tenant, butler, project }))),
);

const stepOf = ({ butler, project }: Where) => (project === undefined ? butler : `${butler}/${project}`);
const ladder = (where: Where) => ["global", where.butler, stepOf(where)];
const as = ({ butler, project }: Where) => ({
  as: { butler, voice: "agent" as const },
  ...(project === undefined ? {} : { project }),
});

const telling = fc.record({
  where: fc.constantFrom(...CALLERS),
  kind: fc.constantFrom("episode", "fact", "rule"),
  scope: fc.constantFrom(undefined, undefined, "global", ...BUTLERS, "app/x", "app2/x", "app/x2"),
  person: fc.boolean(),
});
type Telling = typeof telling extends fc.Arbitrary<infer T> ? T : never;

const inputOf = ({ where, kind, scope, person }: Telling, n: number) => {
  const content = `Lantern number ${n} hangs in room ${n * 7}.`;
  if (kind === "episode") return { content, butler: where.butler };
  const filed = scope === undefined ? {} : { scope };
  if (kind === "rule") return { content: `${person ? "Tell me that" : "Check that"} lantern ${n} hangs.`, ...filed };
  return { subject: person ? "user" : "house", predicate: `lantern ${n}`, content, ...filed };
};

onOneRig(
  "the ladder, for anybody",
  (guest) => {
    it("shows a memory to those who stand on its step, and to nobody else", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(telling, { minLength: 4, maxLength: 10 }), async (tellings) => {
          const tenants: readonly [Guest, Guest] = [guest(), guest()];
          const told: { id: string; tenant: 0 | 1; scope: string }[] = [];
          for (const [n, one] of tellings.entries()) {
            const { where, kind, scope } = one;
            const call = [`memory_store_${kind}`, inputOf(one, n), as(where)] as const;
            const g = tenants[where.tenant];
            if (kind !== "episode" && scope !== undefined && !ladder(where).includes(scope)) {
              expect((await g.refused(...call)).code).toBe("forbidden");
              continue;
            }
            const answer = await g.call(...call);
            const step = kind === "episode" ? stepOf(where) : (answer.scope as string);
            if (scope !== undefined && kind !== "episode") expect(step).toBe(scope);
            expect(ladder(where)).toContain(step);
            told.push({ id: answer.id, tenant: where.tenant, scope: step });
          }
          for (const where of CALLERS) {
            const g = tenants[where.tenant];
            const mine = told.filter(({ tenant, scope }) => tenant === where.tenant && ladder(where).includes(scope));
            const ids = mine.map(({ id }) => id).toSorted();
            const query = { query: "lantern", mode: "keyword", limit: 50 };
            const found = (await g.call("memory_search", query, as(where))).results as { id: string }[];
            expect(found.map(({ id }) => id).toSorted()).toEqual(ids);
            for (const { id } of told) {
              const seen = await g.outcome("memory_get", { id }, as(where));
              expect(seen.ok).toBe(ids.includes(id));
            }
          }
        }),
        { numRuns: 12 },
      );
    });
  },
  { model: false, role: "memory" },
);
