/** Answers that fit the schema and yet are odd, and a run that is overtaken: the job goes on, and nothing is half written. */
import { expect, it } from "vitest";
import { wrapDb } from "../../src/engine/adapters/db/wrap.ts";
import type { Material } from "../../src/engine/adapters/extractor/port.ts";
import { consolidate } from "../../src/engine/memory/learn/consolidate.ts";
import { runJob } from "../support/job-runs.ts";
import { fact, type Reply, scripted } from "../support/scripted-extractor.ts";
import { onEachStore, type Rig } from "../support/stores.ts";

const told = (rig: Rig, content: string, speaker = "user") => rig.call("memory_store_episode", { content, speaker });
const run = (rig: Rig, answer: (material: Material) => Reply) =>
  runJob(rig, consolidate, { extractor: scripted(answer).extractor });
const facts = (rig: Rig) =>
  rig.db.query<{ content: string; validity: string; confidence: number }>(
    "select content, validity, confidence from facts order by created_at, id",
  );

onEachStore("consolidation, oddly answered,", (open, store) => {
  it("drops what has no name, no time or no place, and keeps the rest of the answer", async () => {
    const rig = await open({ model: false });
    await told(rig, "I like plums");
    const { counts } = await run(rig, () => ({
      facts: [
        fact("-", "The user likes plums.", ["e1"]),
        fact("likes:plums", "The user likes plums.", ["e1"], { subject: "_" }),
        fact("stays_in", "The user stays in Oslo.", ["e1"], { valid_from: "2027-02-01", valid_to: "2027-01-01" }),
        fact("likes:plums", "The user likes plums.", ["e1"], { valid_to: "9999-12-31", tags: ["fruit", "fruit"] }),
      ],
    }));
    expect(counts).toEqual({ episodes_consolidated: 1, facts_created: 1, dropped_nameless: 2, dropped_over: 1 });
    expect(await facts(rig)).toMatchObject([{ content: "The user likes plums.", validity: "active" }]);
  });

  it("supersedes a fact once when two items say so, and lowers none that is gone", async () => {
    const rig = await open({ model: false });
    await told(rig, "I live in Porto");
    await run(rig, () => ({ facts: [fact("lives_in", "The user lives in Porto.", ["e1"])] }));
    rig.later(1);
    await told(rig, "I moved from Porto to Graz, my address is Inn 3");
    await told(rig, "lives: Porto", "tool");
    const { counts } = await run(rig, () => ({
      facts: [
        fact("home", "The home of the user is in Graz.", ["e1"], { supersedes: "f1" }),
        fact("address", "The address of the user is Inn 3.", ["e1"], { supersedes: "f1" }),
        fact("street", "The street of the user is called Inn.", ["e1"], { contradicts: "f1" }),
      ],
      confirmations: [{ id: "f1", episodes: ["e2"] }],
    }));
    expect(counts).toEqual({
      ...{ episodes_consolidated: 2, facts_superseded: 1, facts_created: 2, dropped_outdated: 1 },
    });
    const [porto, ...rest] = await facts(rig);
    expect(porto).toEqual({ content: "The user lives in Porto.", validity: "superseded", confidence: 0.8 });
    expect(rest.map(({ validity, confidence }) => [validity, confidence])).toEqual(Array(3).fill(["active", 0.8]));
    expect((await rig.call("memory_search", { query: "lives Porto", types: ["fact"] })).results).toEqual([]);
  });

  it("writes nothing when its lease was taken from it meanwhile, and leaves the episodes to the other one", async () => {
    const rig = await open({ model: false });
    await told(rig, "I live in Porto");
    const extractor = scripted(() => ({ facts: [fact("lives_in", "The user lives in Porto.", ["e1"])] })).extractor;
    let given: { run_id?: string } = {};
    const slow = {
      ...extractor,
      async extract(...asked: Parameters<typeof extractor.extract>) {
        rig.later(1 / 24);
        given = await rig.call("memory_consolidate", {});
        return extractor.extract(...asked);
      },
    };
    const report = await runJob(rig, consolidate, { extractor: slow });
    expect(report.counts).toEqual({});
    expect(report.notes.join()).toContain("its lease is over");
    expect(await facts(rig)).toEqual([]);
    const graz = { run_id: given.run_id, facts: [fact("lives_in", "The user lives in Graz.", ["e1"])] };
    expect((await rig.call("memory_consolidate", graz)).counts).toEqual({
      episodes_consolidated: 1,
      facts_created: 1,
    });
    expect(await rig.db.query("select state from consolidation_runs order by started_at")).toEqual([
      { state: "lost" },
      { state: "done" },
    ]);
  });

  it.skipIf(store === "PGlite")(
    "learns nothing that the run before has learned, which ended while it asked for the shard",
    async () => {
      const rig = await open({ model: false });
      await told(rig, "I live in Porto");
      const before = await rig.call("memory_consolidate", {});
      const porto = { facts: [fact("lives_in", "The user lives in Porto.", ["e1"])] };
      let ended = false;
      /** Just before the shard is asked for, the run that holds it ends. */
      const endBefore = async (text: string) => {
        if (ended || !/insert into "?consolidation_runs/.test(text)) return;
        ended = true;
        await rig.call("memory_consolidate", { run_id: before.run_id, ...porto });
      };
      const db = wrapDb(rig.db, (inner) => ({
        tx: (work) =>
          inner.tx((sql) =>
            work({
              async query(text, params) {
                await endBefore(text);
                return sql.query(text, params);
              },
            }),
          ),
      }));
      const { extractor, seen } = scripted(() => porto);
      const memory: Rig["memory"] = Object.create(rig.memory, { db: { value: db } });
      await runJob({ ...rig, memory, now: rig.now }, consolidate, { extractor });
      expect(ended).toBe(true);
      expect(seen).toEqual([]);
      expect(await rig.db.query("select state from consolidation_runs")).toEqual([{ state: "done" }]);
    },
  );

  it("brings back a rule that has expired, on the word of those who say it again", async () => {
    const rig = await open({ model: false });
    const answer = () => ({ rules: [{ content: "Deploy on Friday.", episodes: ["e1"] }] });
    await told(rig, "Always deploy on Friday");
    await run(rig, answer);
    await rig.db.query("update rules set validity = 'expired'");
    rig.later(1);
    const { id } = await told(rig, "As I said: deploy on Friday!");
    await run(rig, answer);
    expect(await rig.db.query("select validity from rules")).toEqual([{ validity: "active" }]);
    expect(await rig.db.query("select relation from memory_links where source_id = $1", [id])).toEqual([
      { relation: "supports" },
    ]);
    await rig.db.query("update episodes set consolidation_status = 'pending'");
    expect((await run(rig, answer)).counts).toEqual({ episodes_consolidated: 2, dropped_unchanged: 1 });
  });
});
