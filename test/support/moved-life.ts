/** A memory with something in most tables, and all that a store holds, as text: for tests that move it. */
import type { Db } from "../../src/engine/adapters/db/port.ts";
import { jobNamed } from "../../src/engine/memory/keep/jobs.ts";
import { foldShelf } from "../../src/engine/store/index/fold.ts";
import { addLongLists } from "../../src/engine/store/index/long-lists.ts";
import { hashEmbedder } from "./hash-embedder.ts";
import { runJob } from "./job-runs.ts";
import { openRig, type Rig } from "./stores.ts";

/** Closes the store. */
export async function furnishForMove(db: Db, episodes = 230): Promise<void> {
  const rig = await openMoved(db);
  const anna = { as: { tenant: "anna" } };
  for (let at = 0; at < episodes; at += 150)
    await rig.call("memory_ingest_batch", {
      episodes: Array.from({ length: Math.min(150, episodes - at) }, (_, i) => ({
        content: `The heron w${at + i}w was seen “there”, \\ and 'here', ${"x".repeat(i)}`,
        session_id: `s${i % 7}`,
        metadata: { n: 1e21, deep: ["\\", '"', null, 2.5] },
      })),
    });
  const said = await rig.call("memory_store_episode", { content: "Zyx moved to Rome", session_id: "z" }, anna);
  for (let n = 0; n < 30; n++)
    await rig.call("memory_store_fact", { subject: `s${n % 20}`, predicate: "is", content: `value ${n}` });
  // A fact that waits is older than the one that it supersedes in the end.
  await rig.call("memory_store_fact", {
    ...{ subject: "Ann", predicate: "lives in", content: "Porto" },
    valid_from: "2026-03-05T00:00:00.000Z",
  });
  await rig.call("memory_store_fact", { subject: "Ann", predicate: "lives in", content: "Berlin" });
  const rule = await rig.call("memory_store_rule", { content: "Greet first" });
  await rig.call("memory_mark_helpful", { rule_id: rule.id, session_id: "s1" });
  await rig.call(
    "memory_store_fact",
    {
      ...{ subject: "Zyx", predicate: "lives in", content: "Rome", source_episode_id: said.id },
    },
    anna,
  );
  await rig.call("memory_search", { query: "heron Rome" }, { session: "reader" });
  await rig.settled();
  rig.later(10);
  for (const name of ["promote", "consolidate"] as const) {
    const job = jobNamed(name);
    if (job) await runJob(rig, job);
  }
  await rig.call("memory_store_episode", { content: "Quux is a secret", session_id: "quux" });
  await rig.call("control_erase", { session: "quux" }, { as: { admin: true } });
  for (const { sk } of await db.query<{ sk: number }>("select sk from shelves order by sk limit 2"))
    while ((await foldShelf(db, sk)).folded > 0);
  await addLongLists(db, 1);
  await rig.memory.close();
}

export async function openMoved(db: Db): Promise<Rig> {
  const rig = await openRig(db, { model: false });
  await rig.memory.adopt(hashEmbedder("a"));
  return rig;
}

/** Every row of every table. */
export async function everything(db: Db): Promise<Record<string, string[]>> {
  const tables = await db.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and relpersistence = 'p'
       and not relispartition and relname not like 'mem_migrations%' order by 1`,
  );
  const all: Record<string, string[]> = {};
  for (const { name } of tables)
    all[name] = (
      await db.query<{ row: string }>(`select t::text as row from ${name} t order by t::text collate "C"`)
    ).map(({ row }) => row);
  return all;
}
