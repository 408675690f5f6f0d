import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { hygiene } from "../../src/engine/memory/keep/hygiene.ts";
import type { JobContext } from "../../src/engine/memory/keep/job.ts";
import { foldShelf } from "../../src/engine/store/index/fold.ts";
import { verifyLexical } from "../../src/engine/store/index/lexical-check.ts";
import { hashEmbedder } from "../support/hash-embedder.ts";
import { onEachStore, type Rig } from "../support/stores.ts";

const THINGS = ["kettle", "bicycle", "violin", "lantern", "ladder", "compass", "anchor", "teapot", "hammer", "basket"];
const text = (i: number) => `The ${THINGS[i]} stands behind door w${i}w`;

onEachStore("hygiene", (open) => {
  async function furnished(settings: unknown = {}): Promise<Rig> {
    const rig = await open({ model: false, settings });
    await rig.memory.adopt(hashEmbedder("a"));
    await rig.call("memory_ingest_batch", {
      episodes: THINGS.map((_, i) => ({ content: text(i), butler: "general" })),
    });
    await rig.settled();
    return rig;
  }

  const run = (rig: Rig, more: Partial<JobContext> = {}) =>
    hygiene.run({ memory: rig.memory, now: rig.now, dryRun: false, interrupted: () => false, ...more });

  const store = async (rig: Rig, content: string): Promise<string> =>
    (await rig.call("memory_store_episode", { content, butler: "general" })).id;

  const idOf = async (rig: Rig, i: number): Promise<string> => {
    const [row] = await rig.db.query<{ id: string }>("select id from episodes where content like $1", [`%w${i}w`]);
    return row?.id ?? "";
  };

  const shelf = async (rig: Rig): Promise<number> => {
    const [row] = await rig.db.query<{ sk: number }>(
      "select sk from shelves where scope = 'general' and type = 'episode'",
    );
    return row?.sk ?? -1;
  };

  const foldAll = async (rig: Rig) => {
    while ((await foldShelf(rig.db, await shelf(rig))).folded > 0);
  };

  const finds = async (rig: Rig, i: number, mode: "keyword" | "semantic") => {
    const { results } = await rig.call("memory_search", { query: text(i), mode, limit: 1 });
    return results[0]?.id === (await idOf(rig, i));
  };

  /** Everything that a round could change, as one text. */
  const everything = async (rig: Rig) => {
    const tables = "episodes facts rules memory_links lex_doc lex_block lex_long shelves embeddings embedding_versions";
    const texts: string[] = [];
    for (const table of [...tables.split(" "), "idempotency_keys", "job_runs", "memory_events"]) {
      const [row] = await rig.db.query<{ t: string }>(
        `select coalesce(md5(string_agg(t::text, ',' order by t::text)), '') as t from ${table} t`,
      );
      texts.push(`${table} ${row?.t}`);
    }
    return texts.join("\n");
  };

  describe("the round", () => {
    test("a clean store has nothing to report", async () => {
      const rig = await furnished();
      await rig.call("memory_store_fact", { subject: "Ada", predicate: "plays", content: "the harp" });
      await rig.call("memory_store_rule", { content: "Always tune the harp before a concert" });
      const before = await everything(rig);
      expect(await run(rig)).toEqual({ changed: 0, counts: {}, notes: [], complete: true });
      expect(await everything(rig)).toBe(before);
    });

    test("near-duplicates and junk are reported by id, and left alone", async () => {
      const rig = await furnished();
      const one = await store(rig, "Ada drank green tea in the garden with Grace");
      const two = await store(rig, "In the garden Ada drank green tea with Grace!");
      await store(rig, "Ada drank green tea in the garden with Grace at 5");
      const likes = {
        subject: "Ada",
        content: `green tea from Kyoto, ${THINGS.join(", ")}, her friends and long walks`,
      };
      const fact = await rig.call("memory_store_fact", { ...likes, predicate: "likes" });
      const twin = await rig.call("memory_store_fact", { ...likes, predicate: "likes:tea" });
      const junk = await store(rig, "ok, thanks");
      const before = await everything(rig);
      const report = await run(rig);
      expect(report).toMatchObject({ changed: 0, counts: { near_duplicates: 2, junk: 1 }, complete: true });
      expect(report.notes).toHaveLength(3);
      expect(report.notes[0]).toBe(`episode ${junk} looks like junk: filler`);
      expect(report.notes[1]).toMatch(`episodes ${one} and ${two} say nearly the same (1.000)`);
      expect(report.notes[2]).toMatch(`facts ${fact.id} and ${twin.id} say nearly the same (0.9`);
      expect(await everything(rig)).toBe(before);
      expect(await run(rig)).toEqual(report);
    });

    test("links to what is gone are told apart: deleted with a word, or without", async () => {
      const rig = await furnished();
      const source = await idOf(rig, 0);
      const { id } = await rig.call("memory_store_fact", {
        ...{ subject: "door", predicate: "hides", content: "a kettle", source_episode_id: source },
      });
      const [told, untold] = [randomUUID(), randomUUID()];
      await rig.db.query(
        `insert into memory_links (tenant_id, source_type, source_id, target_type, target_id, relation, created_at)
         select 'default', 'fact', $1, 'episode', unnest($2::uuid[]), 'derived_from', $3`,
        [id, [told, untold], rig.now],
      );
      await rig.db.query(
        `insert into memory_events (id, tenant_id, butler, scope, event_type, entity_type, entity_id, occurred_at, actor, payload)
         values ($1, 'default', 'general', 'general', 'episode.deleted', 'episode', $2, $3, 'job:episode_cleanup', '{}')`,
        [randomUUID(), told, rig.now],
      );
      const before = await everything(rig);
      const report = await run(rig);
      expect(report).toMatchObject({ changed: 0, counts: { dead_links: 1, links_to_deleted_episodes: 1 } });
      expect(report.notes).toEqual([expect.stringContaining(untold)]);
      expect(await everything(rig)).toBe(before);
    });

    test("a damaged keyword index is folded anew, and cut rows are made again from the text", async () => {
      const rig = await furnished();
      await foldAll(rig);
      const sk = await shelf(rig);
      await rig.db.query("delete from lex_block where key in (select min(key) from lex_block)");
      await rig.db.query("update lex_doc set x = substring(x from 1 for 5) where memory_id = $1", [await idOf(rig, 3)]);
      await rig.db.query(
        "insert into lex_block (key, b, n, x, tenant_id) values ((99999::int8 << 40) + 7, 0, 1, '\\x00', 'default')",
      );
      const report = await run(rig);
      expect(report).toMatchObject({ counts: { shelves_repaired: 1, refiled: 1, stray_blocks: 1 }, changed: 3 });
      expect(report.notes[0]).toContain(`keyword index, shelf ${sk}:`);
      expect(await verifyLexical(rig.db)).toEqual([]);
      for (let i = 0; i < THINGS.length; i++) expect(await finds(rig, i, "keyword")).toBe(true);
      expect((await run(rig)).changed).toBe(0);
    });

    test("what lives is found again, what is gone leaves the indexes", async () => {
      const rig = await furnished({ retrieval: { vector_index: "ivfflat" } });
      const version = rig.memory.embeddingVersion ?? -1;
      const sk = await shelf(rig);
      await rig.db.query("delete from lex_doc where memory_id = $1", [await idOf(rig, 1)]);
      await rig.db.query("delete from embeddings where memory_id = $1", [await idOf(rig, 2)]);
      expect([await finds(rig, 1, "keyword"), await finds(rig, 2, "semantic")]).toEqual([false, false]);
      const ghost = randomUUID();
      await rig.db.query("insert into lex_doc (memory_id, sk, len, x, tenant_id) values ($1, $2, 0, '', 'default')", [
        ghost,
        sk,
      ]);
      await rig.db.query(
        `insert into embeddings (memory_id, version_id, sk, visible_until, embedding, tenant_id)
         select $1, version_id, sk, visible_until, embedding, tenant_id from embeddings limit 1`,
        [ghost],
      );
      const [old] = await rig.db.query<{ id: number }>(
        `insert into embedding_versions (model, variant, dimensions, sha256, state, created_at)
         values ('old', 'int8', 384, repeat('0', 64), 'retired', $1) returning id`,
        [rig.now],
      );
      await rig.db.query(
        `insert into embeddings (memory_id, version_id, sk, visible_until, embedding, tenant_id)
         select memory_id, $1, sk, visible_until, embedding, tenant_id from embeddings where version_id = $2`,
        [old?.id, version],
      );
      const forgotten = await idOf(rig, 5);
      await rig.call("memory_forget", { type: "episode", id: forgotten });
      await rig.settled();

      const before = await everything(rig);
      const foreseen = await run(rig, { dryRun: true });
      expect(await everything(rig)).toBe(before);
      // One of the ten retired vectors is the ghost's, and the real round has thrown that one out before.
      expect(foreseen.counts).toEqual({
        ...{ refiled: 1, stray_words: 1, stray_vectors: 1, embedded: 1, retired_vectors: 10, vector_index: 1 },
      });
      const report = await run(rig);
      expect(report).toMatchObject({
        counts: { refiled: 1, stray_words: 1, stray_vectors: 1, embedded: 1, retired_vectors: 9, vector_index: 1 },
        complete: true,
      });
      for (const i of [0, 1, 2, 3, 4, 6])
        expect([await finds(rig, i, "keyword"), await finds(rig, i, "semantic")]).toEqual([true, true]);
      expect(await verifyLexical(rig.db)).toEqual([]);
      expect(await rig.db.query("select 1 from embeddings where memory_id = $1", [ghost])).toEqual([]);
      expect(await rig.db.query("select 1 from embeddings where memory_id = $1", [forgotten])).toHaveLength(1);
      expect(await run(rig)).toEqual({
        changed: 0,
        counts: { vector_recall_percent: 100 },
        notes: [
          expect.stringMatching(
            /^the vector index \(ivfflat\) finds 100\.0 % of the 20 nearest, over \d+ questions\.$/,
          ),
        ],
        complete: true,
      });
    });

    test("old keys of proxies and old runs go; what callers chose and the last thousand stay", async () => {
      const rig = await furnished();
      await rig.db.query(
        `insert into idempotency_keys (tenant_id, butler, tool, key, input_hash, answer, created_at)
         select 'default', 'general', 't', k, '\\x00', '{}', $1 from unnest(array['call:1', 'mine']) as k`,
        [new Date(rig.now.getTime() - 2 * 86_400_000)],
      );
      await rig.db.query(
        `insert into job_runs (id, job, state, trigger, attempt, started_at, finished_at)
         select gen_random_uuid(), job, 'done', 'manual', 1, $1::timestamptz - make_interval(hours => i), $1
         from unnest(array['promote', 'hygiene']) as job, generate_series(1, 1003) as i where job = 'promote' or i < 5`,
        [rig.now],
      );
      const foreseen = await run(rig, { dryRun: true });
      expect(foreseen).toMatchObject({ changed: 4, counts: { stale_keys: 1, old_runs: 3 } });
      expect((await run(rig)).counts).toEqual(foreseen.counts);
      expect(await rig.db.query("select key from idempotency_keys")).toEqual([{ key: "mine" }]);
      expect(await rig.db.query("select job, count(*)::int4 as n from job_runs group by 1 order by 1")).toEqual([
        { job: "hygiene", n: 4 },
        { job: "promote", n: 1000 },
      ]);
      expect((await run(rig)).changed).toBe(0);
    });

    test("interrupted at any step it says so, and the next round does the rest", async () => {
      const rig = await furnished();
      await rig.db.query("delete from lex_doc where memory_id = $1", [await idOf(rig, 1)]);
      await rig.db.query("delete from embeddings where memory_id = $1", [await idOf(rig, 2)]);
      let changed = 0;
      for (let steps = 0; ; steps++) {
        let left = steps;
        const report = await run(rig, { interrupted: () => left-- <= 0 });
        changed += report.changed;
        if (report.complete) break;
      }
      expect(changed).toBe(2);
      expect([await finds(rig, 1, "keyword"), await finds(rig, 2, "semantic")]).toEqual([true, true]);
    });

    test("without a model it looks after words and says what it left out", async () => {
      const rig = await open({ model: false });
      await store(rig, "The kettle stands behind door w0w");
      await rig.db.query("delete from lex_doc");
      const report = await run(rig);
      expect(report).toMatchObject({ changed: 1, counts: { refiled: 1 } });
      expect(report.notes).toEqual(["no embedding model: vectors were not looked at."]);
      expect(await finds(rig, 0, "keyword")).toBe(true);
    });
  });
});
