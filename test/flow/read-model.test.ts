/** What is read from memory is what the store would have answered: the same bytes, after any history, and after each of its steps. */
import { setTimeout } from "node:timers/promises";
import fc from "fast-check";
import { expect, it } from "vitest";
import { wrapDb } from "../../src/engine/adapters/db/wrap.ts";
import { decaySweep } from "../../src/engine/memory/keep/decay-sweep.ts";
import { episodeCleanup } from "../../src/engine/memory/keep/episode-cleanup.ts";
import { hygiene } from "../../src/engine/memory/keep/hygiene.ts";
import { maintain } from "../../src/engine/memory/keep/maintain.ts";
import { promote } from "../../src/engine/memory/keep/promote.ts";
import { reembed } from "../../src/engine/memory/keep/reembed.ts";
import { consolidate } from "../../src/engine/memory/learn/consolidate.ts";
import type { Call, Memory } from "../../src/engine/memory/memory.ts";
import { noModel } from "../../src/engine/memory/read-model/follow.ts";
import { context } from "../../src/engine/memory/recall/context.ts";
import { search } from "../../src/engine/memory/recall/search.ts";
import { why } from "../../src/engine/memory/recall/why/why.ts";
import { retention } from "../../src/engine/memory/retention/retention.ts";
import { Settings } from "../../src/engine/memory/settings.ts";
import { memoryOf } from "../../src/engine/memory/tenancy.ts";
import { foldShelf } from "../../src/engine/store/index/fold.ts";
import { runJob } from "../support/job-runs.ts";
import { gate } from "../support/owner-fakes.ts";
import { onEachStore, openRig, type Rig } from "../support/stores.ts";

type Step = (world: World) => Promise<unknown>;
interface World {
  /** Whose answers are compared. */
  readonly rig: Rig;
  /** Who does the next step: on a server it may be another daemon. */
  by: Rig;
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
  async ({ by, as, ids }) => {
    const outcome = await by.outcome(tool, input, { as });
    if (outcome.ok) ids.push(String((outcome.answer as { id: string }).id));
  };
const onOne =
  (tool: string, at: number, more: object = {}): Step =>
  async ({ by, as, ids }) => {
    const id = ids[at % Math.max(1, ids.length)];
    if (id !== undefined) await by.outcome(tool, { id, ...more }, { as: { ...as, admin: true } });
  };
const asAdmin =
  (tool: string, input: object): Step =>
  async ({ by, as }) => {
    await by.outcome(tool, input, { as: { ...as, admin: true } });
  };

/** All events older than three days are folded. */
const FOLDING = Settings.parse({ events: { keep_days: 3, keep_reads_days: 1 }, episodes: { unlearned_grace_days: 1 } });
/** Each job, and what an owner does when it is idle. */
const jobs: readonly Step[] = [
  ...[decaySweep, episodeCleanup, promote, hygiene, reembed, consolidate].map(
    (job): Step =>
      ({ by }) =>
        runJob(by, job),
  ),
  ({ by }) => runJob(by, retention, { settings: FOLDING }),
  ({ by }) => maintain(by.memory, { level: "light" }),
];

/** What nobody tells of: a vector that is missing, until hygiene or an idle owner has found it. */
const damage = place.map(
  (at): Step =>
    async ({ by, ids }) => {
      const id = ids[at % Math.max(1, ids.length)];
      if (id !== undefined) await by.db.query("delete from embeddings where memory_id = $1", [id]);
    },
);

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
  place.map((at) => onOne("memory_mark_harmful", at)),
  place.map((at) => onOne("control_erase", at)),
  fc.constantFrom({ session: "s1" }, { subject: "bob" }).map((what) => asAdmin("control_erase", what)),
  fc.constantFrom({ session: "s2" }, { source: "test" }).map((cause) => asAdmin("control_undo", cause)),
  fc.constant(asAdmin("control_redaction", {})),
  damage,
  fc.constantFrom("user", "tool").map(
    (voice) =>
      (async ({ by, as }) => {
        await by.outcome(
          "memory_store_fact",
          { subject: "ann", predicate: "drinks", content: "water" },
          { as: { ...as, voice: voice as "user" } },
        );
      }) as Step,
  ),
  fc.constantFrom(0.01, 3, 20).map(
    (days) =>
      (async ({ rig, by }) => {
        rig.later(days);
        by.set(rig.now);
      }) as Step,
  ),
  fc.constant((async ({ rig }) => {
    for (const { sk } of await rig.db.query<{ sk: number }>("select sk from shelves")) await foldShelf(rig.db, sk, 5);
  }) as Step),
  { weight: 3, arbitrary: fc.constantFrom(...jobs) },
  sentences.map(
    (query) =>
      (async ({ rig, by, as }) => {
        await by.call("memory_search", { query }, { as });
        await by.settled();
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
  const { tenant } = world.as;
  await memory.readModel.load(version, tenant);
  const store = Object.create(memory, { readModel: { value: noModel } }) as Memory;
  const same = async (ask: (call: Call) => Promise<unknown>) => {
    const [told, expected] = [await ask(callOf(memory, world)), await ask(callOf(store, world))];
    expect(JSON.stringify(told)).toBe(JSON.stringify(expected));
  };
  // The first that comes after what has happened finds out by itself.
  await same((call) => search(call, QUESTIONS[0]));
  await memory.readModel.settled();
  expect(await memory.readModel.caughtUp(version, tenant), "a model").toBeDefined();
  // With lists of what somebody said whom a question names, which only large stores have.
  const crowded = { recipe: { value: { ...memory.recipe, theirsAbove: 2 } } };
  const [inMemory, inStore] = [Object.create(memory, crowded), Object.create(store, crowded)] as [Memory, Memory];
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

/** Another daemon on the same database. */
const beside = (rig: Rig): Promise<Rig> => openRig(wrapDb(rig.db, () => ({ close: async () => undefined })));

onEachStore("the read model", (open, store) => {
  it("answers what the store answers, whatever has happened", async () => {
    const rig = await open();
    const rigs = store === "PGlite" ? [rig] : [rig, await beside(rig)];
    let nth = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(steps, fc.nat(rigs.length - 1)), { minLength: 3, maxLength: 25 }),
        async (history) => {
          const world: World = { rig, by: rig, as: { tenant: `t${++nth}` }, ids: [] };
          for (const [at, [step, who]] of history.entries()) {
            world.by = rigs[who] ?? rig;
            world.by.set(rig.now);
            await step(world);
            if (at % 8 === 7) await compare(world);
          }
          await compare(world);
        },
      ),
      { numRuns: 12 },
    );
    await rigs[1]?.memory.close();
  });

  it("looks again at what it saw while the model had the question, if the memory was changed meanwhile", async () => {
    const rig = await open();
    const world: World = { rig, by: rig, as: { tenant: "meanwhile" }, ids: [] };
    const { memory } = rig;
    const turn = (content: string) =>
      tell("memory_store_episode", { content, speaker: "Ann Lee", session_id: "s1" })(world);
    for (const content of ["Roses grow in Lisbon.", "Who waters the roses?", "Bob waters roses and tea."])
      await turn(content);
    await tell("memory_store_fact", { subject: "bob", predicate: "waters", content: "roses" })(world);
    await memory.readModel.load(memory.versions.serving?.version, world.as.tenant);
    const held = holding(memory);
    const asked = search(callOf(held.memory, world), { query: "Who waters roses?", explain: true });
    await held.isAsked;
    // What the words found is looked at now.
    await setTimeout(20);
    for (const at of [0, 2]) await onOne("memory_forget", at)(world);
    await onOne("control_erase", 1)(world);
    await tell("memory_store_fact", { subject: "bob", predicate: "waters", content: "nothing but roses" })(world);
    await turn("The tulips are red, the roses white.");
    await memory.readModel.caughtUp(memory.versions.serving?.version, world.as.tenant);
    held.letGo();
    const answer = await asked;
    const contents = answer.results.map(({ content }) => content);
    expect(contents).toContain("nothing but roses");
    expect(contents).not.toContain("Roses grow in Lisbon.");
    expect(contents).not.toContain("Who waters the roses?");
    expect(contents).not.toContain("roses");
  });
});

/** This memory, whose questions are embedded when they are let go. */
function holding(memory: Memory): { memory: Memory; isAsked: Promise<void>; letGo: () => void } {
  const [asked, free] = [gate(), gate()];
  const { versions } = memory;
  const serving = () => {
    const { serving: own } = versions;
    const embed: NonNullable<typeof own>["embedder"]["embed"] = async (text, priority) => {
      asked.open();
      await free.passed;
      return own?.embedder.embed(text, priority) as never;
    };
    return own && { ...own, embedder: { ...own.embedder, embed } };
  };
  const held = Object.create(versions, { serving: { get: serving } });
  return {
    memory: Object.create(memory, { versions: { value: held } }),
    isAsked: asked.passed,
    letGo: () => free.open(),
  };
}
