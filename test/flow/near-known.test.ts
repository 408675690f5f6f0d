/** What is near to what was learned is looked up in memory where that is in step with the store, and is what the store would say. */
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Sql } from "../../src/engine/adapters/db/port.ts";
import { wrapDb } from "../../src/engine/adapters/db/wrap.ts";
import { ladderOf } from "../../src/engine/domain/scope.ts";
import { vectorsOf } from "../../src/engine/memory/embed.ts";
import { decaySweep } from "../../src/engine/memory/keep/decay-sweep.ts";
import { consolidate } from "../../src/engine/memory/learn/consolidate.ts";
import { noModel } from "../../src/engine/memory/read-model/follow.ts";
import { nearKnown } from "../../src/engine/memory/read-model/near-known.ts";
import { comparedAs } from "../../src/engine/store/index/vectors.ts";
import { nearest } from "../../src/engine/store/jobs/consolidation-known.ts";
import { runJob } from "../support/job-runs.ts";
import { fact, hinting } from "../support/scripted-extractor.ts";
import { onEachStore, openRig, type Rig } from "../support/stores.ts";

const THINGS = ["tea", "coffee", "roses", "tulips", "the night train", "a bicycle", "Postgres", "SQLite", "old maps"];
const WAYS = ["likes", "avoids", "has asked about", "talks of"];
const saying = fc.tuple(fc.constantFrom(...WAYS), fc.constantFrom(...THINGS), fc.nat(99));
type Saying = readonly [string, string, number];
type Step = (rig: Rig) => Promise<unknown>;

const sentence = ([way, thing]: Saying) => `The user ${way} ${thing}.`;
const stored = (said: Saying) => (rig: Rig) =>
  rig.call("memory_store_fact", { subject: "user", predicate: said.join(" "), content: sentence(said) });
const ruled = (said: Saying) => (rig: Rig) =>
  rig.outcome("memory_store_rule", { content: `Remember each time that ${sentence(said)}` });
const heard =
  (kind: "fact" | "rule", said: Saying, end = "I guess") =>
  async (rig: Rig) => {
    await rig.call("memory_store_episode", { content: `${said.join(" ")}, ${end}`, speaker: "user" });
    const extractor = hinting(kind, (label) =>
      kind === "fact"
        ? { facts: [fact(said.join(" "), sentence(said), [label])] }
        : { rules: [{ content: `Mind that ${sentence(said)}`, episodes: [label] }] },
    );
    await runJob(rig, consolidate, { extractor });
  };
const onOne = (tool: string, at: number) => async (rig: Rig) => {
  const rows = await rig.db.query<{ id: string }>("select id from facts union all select id from rules order by id");
  const id = rows[at % Math.max(1, rows.length)]?.id;
  if (id !== undefined) await rig.outcome(tool, { id });
};
const later = async (rig: Rig) => {
  rig.later(60);
  await runJob(rig, decaySweep);
};

const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: saying.map(stored) },
  { weight: 2, arbitrary: saying.map(ruled) },
  { weight: 3, arbitrary: saying.map((said) => heard("fact", said)) },
  { weight: 1, arbitrary: saying.map((said) => heard("rule", said)) },
  { weight: 1, arbitrary: fc.nat(50).map((at) => onOne("memory_forget", at)) },
  { weight: 1, arbitrary: fc.nat(50).map((at) => onOne("memory_confirm", at)) },
  { weight: 1, arbitrary: fc.constant(later) },
);

async function compare({ memory, db, now }: Rig): Promise<{ readonly unseen: number; readonly all: number }> {
  const version = memory.versions.serving?.version ?? 0;
  await memory.readModel.caughtUp(version, "default");
  const embedded = await Promise.all(THINGS.map((thing) => vectorsOf(memory, `The user's ${thing}`)));
  const vectors = embedded.flatMap((made) => made?.find((one) => one.version === version)?.vector ?? []);
  const counts = { unseen: 0, all: 0 };
  for (const type of ["fact", "rule"] as const)
    await db.tx(async (sql) => {
      const shelves = await memory.shelves.of("default", ladderOf("general"), sql);
      const sks = shelves.filter((shelf) => shelf.type === type).map(({ sk }) => sk);
      const asked = { version, as: comparedAs(db.kind, vectors[0]?.length ?? 0), type, sks, vectors, now };
      const model = memory.readModel.inStep?.(version);
      if (model === undefined) throw new Error("the read model is not in step with its store");
      const [told, expected] = [await nearKnown(model, sql, asked), await nearest(sql, asked)];
      // Of equally near ones either may come first, or be the last that is told.
      const inOrder = (found: typeof told) => found.map(({ nth, cosine }) => ({ nth, cosine }));
      expect(inOrder(told)).toEqual(inOrder(expected));
      const ids = told.map(({ id }) => id);
      const { vectors: held } = model;
      counts.unseen += ids.filter((id) => !held.isSeen(model.slotOf(id) ?? -1, now.getTime(), false)).length;
      counts.all += ids.length;
    });
  return counts;
}

onEachStore(
  "what is near",
  (open) => {
    it("is the same from memory, whatever is visible, was only hinted at, has faded or is forgotten", async () => {
      let unseen = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(steps, { minLength: 8, maxLength: 24 }), async (history) => {
          const rig = await open();
          await rig.memory.readModel.load(rig.memory.versions.serving?.version, "default");
          for (const step of [...history, stored(["likes", "tea", 1]), heard("fact", ["talks of", "tea", 2])])
            await step(rig);
          unseen += (await compare(rig)).unseen;
        }),
        { numRuns: 5 },
      );
      expect(unseen).toBeGreaterThan(0);
    });

    it("takes no comparison by the store while that is so", async () => {
      const base = await open();
      const compared: string[] = [];
      const watched = (sql: Sql): Sql => ({
        ...sql,
        query: (text, params) => {
          if (text.includes("<=>")) compared.push(text);
          return sql.query(text, params);
        },
      });
      const db = wrapDb(base.db, (inner) => ({
        tx: (work) => inner.tx((sql) => work(watched(sql))),
        close: async () => undefined,
      }));
      const rig = await openRig(db);
      await rig.memory.readModel.load(rig.memory.versions.serving?.version, "default");
      await heard("fact", ["likes", "tea", 1])(rig);
      await heard("fact", ["likes", "tea", 1], "I am sure")(rig);
      expect(compared).toEqual([]);
      expect(await rig.db.query("select confidence from facts")).toEqual([{ confidence: 0.5 }]);
      const memory = Object.create(rig.memory, { readModel: { value: noModel } }) as Rig["memory"];
      await heard("fact", ["avoids", "tea", 2])({ ...rig, memory });
      expect(compared).toHaveLength(1);
      await rig.memory.close();
    });
  },
  "embedded",
);
