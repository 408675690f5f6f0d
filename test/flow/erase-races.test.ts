/** An erasure while others write and learn: what was said before it is gone afterwards, wherever it was on its way to. */
import { expect, it } from "vitest";
import type { Db } from "../../src/engine/adapters/db/port.ts";
import { wrapDb } from "../../src/engine/adapters/db/wrap.ts";
import type { Material } from "../../src/engine/adapters/extractor/port.ts";
import { consolidate } from "../../src/engine/memory/learn/consolidate.ts";
import { runJob } from "../support/job-runs.ts";
import { verifyInScratch } from "../support/scratch.ts";
import { fact, labelled, scripted } from "../support/scripted-extractor.ts";
import { onEachStore, openRig, type Rig } from "../support/stores.ts";

const ADMIN = { as: { admin: true } };
const WORD = "Zyxqualor";
const SAID = `My sister ${WORD} lives in Graz.`;

const answer = (m: Material) => ({
  facts: [
    fact("sister", `${WORD} lives in Graz.`, [labelled(m, WORD)]),
    // A model may put into one claim what it read elsewhere in the batch.
    fact("office", `The office is where ${WORD} lives.`, [labelled(m, "office")]),
  ],
  rules: [{ content: `Always greet ${WORD} first.`, episodes: [labelled(m, WORD)] }],
});

/** An extractor that answers when it is told to. */
function gated() {
  let open: () => void = () => undefined;
  let asked: () => void = () => undefined;
  const opened = new Promise<void>((done) => {
    open = done;
  });
  const reached = new Promise<void>((done) => {
    asked = done;
  });
  const { extractor } = scripted(answer);
  const extract: typeof extractor.extract = async (...given) => {
    asked();
    await opened;
    return extractor.extract(...given);
  };
  return { extractor: { ...extractor, extract }, open, reached };
}

/** Tables in which the word stands, whatever column it is in. */
async function holding(db: Db): Promise<string[]> {
  const tables = await db.query<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
  );
  const found: string[] = [];
  for (const { name } of tables)
    if ((await db.query(`select 1 from "${name}" t where t::text ilike $1 limit 1`, [`%${WORD}%`])).length > 0)
      found.push(name);
  return found;
}

async function whole(rig: Rig): Promise<void> {
  await rig.settled();
  expect(await holding(rig.db)).toEqual([]);
  expect(await verifyInScratch(rig.db)).toMatchObject({
    ...{ equal: true, differences: [], orphans: [] },
    receipts: { faults: [] },
  });
}

onEachStore("an erasure", (open) => {
  it.each([
    ["of a subject", () => ({ subject: WORD })],
    ["of a session", () => ({ session: "s" })],
    ["of one memory", (id: string) => ({ id })],
  ])("%s, while a model reads the episode, leaves nothing to be learned from it", async (_, target) => {
    const rig = await open({ model: false });
    const { id } = await rig.call("memory_store_episode", { content: SAID, session_id: "s", speaker: "user" });
    await rig.call("memory_store_episode", { content: "The office is in Linz.", session_id: "t", speaker: "user" });
    const { extractor, open: say, reached } = gated();
    const learning = runJob(rig, consolidate, { extractor });
    await reached;
    await rig.call("control_erase", target(id), ADMIN);
    say();
    await learning;
    await whole(rig);
    // What stays is learned from as before.
    const later = scripted((m) => ({ facts: [fact("office", "Linz", [labelled(m, "office")])] }));
    expect(await runJob(rig, consolidate, later)).toMatchObject({ counts: { facts_created: 1 } });
    await whole(rig);
  });

  it("an episode that is forgotten while a model reads it teaches nothing either", async () => {
    const rig = await open({ model: false });
    const { id } = await rig.call("memory_store_episode", { content: SAID, session_id: "s", speaker: "user" });
    const { extractor, open: say, reached } = gated();
    const learning = runJob(rig, consolidate, { extractor });
    await reached;
    await rig.call("memory_forget", { id });
    say();
    await learning;
    expect(await rig.db.query("select id from facts")).toEqual([]);
    expect(await rig.db.query("select id from rules")).toEqual([]);
  });

  it("takes what was learned between its look and its deed", async () => {
    const { db } = await open({ model: false });
    let meanwhile: (() => Promise<unknown>) | undefined;
    const interrupted = wrapDb(db, (inner) => ({
      async tx(work) {
        const first = meanwhile;
        meanwhile = undefined;
        await first?.();
        return inner.tx(work);
      },
    }));
    const rig = await openRig(interrupted, { model: false });
    const { id } = await rig.call("memory_store_episode", { content: SAID, session_id: "s", speaker: "user" });
    await rig.settled();
    meanwhile = () => runJob(rig, consolidate, scripted(answer));
    const { memories } = await rig.call("control_erase", { id }, ADMIN);
    expect(memories.map(({ type }: { type: string }) => type).toSorted()).toEqual(["episode", "fact", "rule"]);
    await whole(rig);
    await rig.memory.close();
  });

  it("beside writers of the same subject: everything that was answered before it began is gone, and the rest goes with the next", async () => {
    const rig = await open({ model: false });
    const store = (n: number) =>
      rig.outcome(
        "memory_store_fact",
        { subject: WORD, predicate: `likes:tea ${n}`, content: `${WORD} likes tea ${n}`, idempotency_key: `k${n}` },
        { session: "s" },
      );
    const { id } = await rig.call("memory_store_episode", { content: SAID, session_id: "s", speaker: "user" });
    for (let n = 0; n < 6; n++) await store(n);
    const before = (await rig.db.query<{ id: string }>("select id from facts")).map((row) => row.id);
    const cited = () =>
      rig.outcome("memory_store_rule", { content: `Greet ${WORD} first.`, source_episode_id: id }, { session: "u" });
    const { extractor, open: say } = gated();
    say();
    const at = [10, 11, 12, 13, 14, 15].map(store);
    const done = await Promise.all([
      rig.outcome("control_erase", { subject: WORD }, ADMIN),
      rig.outcome("control_erase", { subject: WORD }, ADMIN),
      runJob(rig, consolidate, { extractor }),
      cited(),
      ...at,
    ]);
    expect(done.slice(0, 2).map((one) => "ok" in one && one.ok)).toContain(true);
    const left = (await rig.db.query<{ id: string }>("select id from facts")).map((row) => row.id);
    expect(left.filter((one) => before.includes(one))).toEqual([]);
    await rig.outcome("control_erase", { subject: WORD }, ADMIN);
    await whole(rig);
  });
});
