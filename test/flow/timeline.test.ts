/** What a timeline tells of a moment is what folding every event up to it tells: the same bytes, after any life, and while it goes on. */
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Call, Memory } from "../../src/engine/memory/memory.ts";
import { contextThen, retrieveThen } from "../../src/engine/memory/past/as-of.ts";
import { atThatTime } from "../../src/engine/memory/past/past.ts";
import { noModel } from "../../src/engine/memory/read-model/follow.ts";
import { contextQuery } from "../../src/engine/memory/recall/context.ts";
import type { Retrieval } from "../../src/engine/memory/recall/retrieve.ts";
import { type SearchInput, searchQuery } from "../../src/engine/memory/recall/search.ts";
import { memoryOf } from "../../src/engine/memory/tenancy.ts";
import { live, type Step, steps, type Teller } from "../support/history.ts";
import * as byFolding from "../support/past-fold/as-of.ts";
import { type Guest, onOneRig, START } from "../support/tenants.ts";

const QUESTIONS: readonly SearchInput[] = [
  { query: "Berlin or Rome, deploy on friday with Ann", limit: 30 },
  { query: "Who lives in Hamburg?", mode: "semantic", min_confidence: 0 },
  { query: "rome berlin tabs", mode: "keyword", types: ["fact", "rule"], limit: 3 },
  { query: "What did Bo say about Berlin?", types: ["episode"], tags: ["a"], tier: "eden" },
];

function callOf(memory: Memory, { tenant, now }: Guest): Call {
  return {
    memory: memoryOf(memory, tenant),
    caller: {
      ...{ tenant, butler: "general", admin: false, actor: "test", voice: "user", session: undefined },
    } as unknown as Call["caller"],
    now,
    request: undefined,
    idempotencyKey: undefined,
    uncounted: true,
  };
}

const timeless = ({ embedMs: _, ...retrieval }: Retrieval) => retrieval;

async function compare(g: Guest, memory: Memory, moments: readonly Date[]) {
  for (const moment of moments) {
    const call = await atThatTime(callOf(memory, g), moment).catch(() => undefined);
    // What is so old that its events were folded is refused.
    if (call === undefined) continue;
    for (const question of QUESTIONS) {
      const query = searchQuery(call, question);
      const told = timeless(await retrieveThen(call, query));
      const folded = timeless(await byFolding.retrieveThen(call, query));
      expect(JSON.stringify(told), `${question.query} at ${moment.toISOString()}`).toBe(JSON.stringify(folded));
    }
    const query = contextQuery(call, "Where does Ann live, Berlin or Rome, and who deploys on Friday?");
    const [told, folded] = [await contextThen(call, query, 40), await byFolding.contextThen(call, query, 40)];
    expect(JSON.stringify(told.lasting)).toBe(JSON.stringify(folded.lasting));
    expect(JSON.stringify(timeless(told.retrieval))).toBe(JSON.stringify(timeless(folded.retrieval)));
  }
}

/** Moments of events themselves, just before them, and between. */
async function momentsOf(g: Guest, places: readonly number[]): Promise<Date[]> {
  const times = (await g.events()).map(({ occurred_at }) => occurred_at.getTime());
  const at = (share: number) => times[Math.floor(share * (times.length - 1))] ?? Date.parse(START);
  return [...places.map((share, nth) => new Date(at(share) - (nth % 2))), g.now];
}

onOneRig("timelines", (guest, store) => {
  // Only the embedded store has one.
  const kinds = store === "PGlite" ? ["with the read model", "without"] : ["without"];
  it.each(kinds)("tell what folding tells, %s", async (kind) => {
    await fc.assert(
      fc.asyncProperty(
        steps(24),
        steps(8),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 3, maxLength: 3 }),
        async (first: Step[], later: Step[], places) => {
          const g = guest();
          // With lists of what somebody said whom a question names, which only large stores have.
          const crowded = { recipe: { value: { ...g.memory.recipe, theirsAbove: 2 } } };
          const model = kind === "without" ? { readModel: { value: noModel } } : {};
          const memory = Object.create(g.memory, { ...crowded, ...model }) as Memory;
          if (kind !== "without") {
            const version = g.memory.versions.serving?.version;
            await g.memory.readModel.load(version, g.tenant);
            expect(await g.memory.readModel.caughtUp(version, g.tenant)).toBeDefined();
          }
          let life: Teller | undefined;
          for (const drawn of [first, later]) {
            life = await live(g, drawn, life);
            await g.memory.readModel.settled();
            await compare(g, memory, await momentsOf(g, places));
          }
        },
      ),
      { numRuns: 3, endOnFailure: true },
    );
  });
});
