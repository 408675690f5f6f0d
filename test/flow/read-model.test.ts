/** What is read from memory is what the store would have answered: the same bytes, after any history, and after each of its steps. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { decaySweep } from "../../src/engine/memory/keep/decay-sweep.ts";
import type { Call, Memory } from "../../src/engine/memory/memory.ts";
import { noModel } from "../../src/engine/memory/read-model/follow.ts";
import { context } from "../../src/engine/memory/recall/context.ts";
import { search } from "../../src/engine/memory/recall/search.ts";
import { why } from "../../src/engine/memory/recall/why/why.ts";
import { memoryOf } from "../../src/engine/memory/tenancy.ts";
import { foldShelf } from "../../src/engine/store/index/fold.ts";
import { runJob } from "../support/job-runs.ts";
import { onEachStore, type Rig } from "../support/stores.ts";

type Step = (world: World) => Promise<unknown>;
interface World {
  readonly rig: Rig;
  readonly as: { readonly tenant: string };
  readonly ids: string[];
}

const place = fc.nat(30);
const people = fc.constantFrom("Ann Lee", "Bob", "user", "assistant", undefined);
const sentences = fc.constantFrom(
  "The deployment runs on Fridays at four.",
  "Did you water the roses yesterday?",
  "I moved to Lisbon with my sister in May.",
  "We chose Postgres because of its extensions.",
  "The roses need water twice a week.",
  "Ann likes strong coffee, Bob prefers tea.",
  "Was the deployment on Friday fine?",
  "Lisbon is warm in May.",
);
const tags = fc.constantFrom([], ["work"], ["home", "work"]);

const tell =
  (tool: string, input: object): Step =>
  async ({ rig, as, ids }) => {
    const outcome = await rig.outcome(tool, input, { as });
    if (outcome.ok) ids.push(String((outcome.answer as { id: string }).id));
  };
const onOne =
  (tool: string, at: number, more: object = {}): Step =>
  async ({ rig, as, ids }) => {
    const id = ids[at % Math.max(1, ids.length)];
    if (id !== undefined) await rig.outcome(tool, { id, ...more }, { as });
  };

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(sentences, people, fc.constantFrom("s1", "s2", undefined), tags)
      .map(([content, speaker, session_id, tags]) =>
        tell("memory_store_episode", { content, tags, ...(speaker && { speaker }), ...(session_id && { session_id }) }),
      ),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        fc.constantFrom("ann", "bob", "project"),
        fc.constantFrom("drinks", "lives_in"),
        fc.constantFrom("tea", "coffee", "Lisbon", "strong coffee in May"),
        tags,
        fc.constantFrom("permanent", "ephemeral", "standard"),
        fc.constantFrom(3, 9),
      )
      .map(([subject, predicate, content, tags, permanence, importance]) =>
        tell("memory_store_fact", { subject, predicate, content, tags, permanence, importance }),
      ),
  },
  { weight: 2, arbitrary: sentences.map((content) => tell("memory_store_rule", { content: `Always: ${content}` })) },
  place.map((at) => onOne("memory_forget", at)),
  place.map((at) => onOne("memory_restore", at)),
  place.map((at) => onOne("memory_confirm", at)),
  fc.constantFrom("user", "tool").map(
    (voice) =>
      (async ({ rig, as }) => {
        await rig.outcome(
          "memory_store_fact",
          { subject: "ann", predicate: "drinks", content: "water" },
          { as: { ...as, voice: voice as "user" } },
        );
      }) as Step,
  ),
  fc.constantFrom(0.01, 3, 20).map((days) => (async ({ rig }) => rig.later(days)) as Step),
  fc.constant((async ({ rig }) => {
    for (const { sk } of await rig.db.query<{ sk: number }>("select sk from shelves")) await foldShelf(rig.db, sk, 5);
  }) as Step),
  fc.constant((async ({ rig }) => runJob(rig, decaySweep)) as Step),
  sentences.map(
    (query) =>
      (async ({ rig, as }) => {
        await rig.call("memory_search", { query }, { as });
        await rig.settled();
      }) as Step,
  ),
);

const QUESTIONS = [
  { query: "What does Ann drink?", explain: true },
  { query: "deployment on Friday", mode: "keyword", explain: true },
  { query: "Who lives in Lisbon?", mode: "semantic", explain: true },
  { query: "roses", types: ["episode"], tags: ["work"], explain: true },
  { query: "coffee in May", min_confidence: 0, rank: "composite", explain: true, limit: 30 },
] as const;

const WHYS = [
  { query: "What does Ann drink?" },
  { query: "roses and coffee", tags: ["work"], min_confidence: 0 },
  { query: "Who lives in Lisbon?", for: "context" },
] as const;

function callOf(memory: Memory, world: World): Call {
  return {
    memory: memoryOf(memory, world.as.tenant),
    caller: {
      tenant: world.as.tenant,
      butler: "general",
      admin: false,
      actor: "test",
      voice: "user",
      session: undefined,
    } as unknown as Call["caller"],
    now: world.rig.now,
    request: undefined,
    idempotencyKey: undefined,
    uncounted: true,
  };
}

async function compare(world: World) {
  const { memory } = world.rig;
  const version = memory.versions.serving?.version;
  await memory.readModel.load(version);
  await memory.readModel.settled();
  expect(await memory.readModel.caughtUp(version), "a model").toBeDefined();
  const store = Object.create(memory, { readModel: { value: noModel } }) as Memory;
  // With lists of what somebody said whom a question names, which only large stores have.
  const crowded = { recipe: { value: { ...memory.recipe, theirsAbove: 2 } } };
  const [inMemory, inStore] = [Object.create(memory, crowded), Object.create(store, crowded)] as [Memory, Memory];
  const same = async (ask: (call: Call) => Promise<unknown>) => {
    const [told, expected] = [await ask(callOf(memory, world)), await ask(callOf(store, world))];
    expect(JSON.stringify(told)).toBe(JSON.stringify(expected));
  };
  for (const question of QUESTIONS) await same((call) => search(call, question));
  for (const id of world.ids.slice(-2))
    for (const { query, ...more } of WHYS)
      await same((call) => why(call, { id, query, ...more }).catch((error: Error) => error.message));
  const [named] = QUESTIONS;
  const told = await search(callOf(inMemory, world), named);
  const expected = await search(callOf(inStore, world), named);
  expect(JSON.stringify(told)).toBe(JSON.stringify(expected));
  await same((call) =>
    context(call, {
      trigger_prompt: "Where does Ann live, and what about the deployment?",
      except_session: "s2",
    }),
  );
}

onEachStore(
  "the read model",
  (open) => {
    it("answers what the store answers, whatever has happened", async () => {
      const rig = await open();
      let nth = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(steps, { minLength: 3, maxLength: 25 }), async (history) => {
          const world: World = { rig, as: { tenant: `t${++nth}` }, ids: [] };
          for (const [at, step] of history.entries()) {
            await step(world);
            if (at % 8 === 7) await compare(world);
          }
          await compare(world);
        }),
        { numRuns: 12 },
      );
    });
  },
  "embedded",
);
