/** What is erased is gone from every table, every file of the store and its log; what remains is a receipt that nobody can drop. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, inject, it } from "vitest";
import { openPglite } from "../../src/engine/adapters/db/pglite.ts";
import type { Db } from "../../src/engine/adapters/db/port.ts";
import { isMissing } from "../../src/engine/domain/errors.ts";
import { blockKey, countHashes } from "../../src/engine/domain/ranking/words/postings.ts";
import { lexemes } from "../../src/engine/domain/text/lexemes.ts";
import { consolidate } from "../../src/engine/memory/learn/consolidate.ts";
import { scrub } from "../../src/engine/store/erasure/scrub.ts";
import { closeSharedAtEnd } from "../support/file-end.ts";
import { runJob } from "../support/job-runs.ts";
import { verifyInScratch } from "../support/scratch.ts";
import { fact, labelled, scripted } from "../support/scripted-extractor.ts";
import { migratedSnapshot, openRig, type Rig, STORES } from "../support/stores.ts";

interface Place {
  readonly db: Db;
  /** Folders that hold every byte of the store. */
  folders(): Promise<readonly string[]>;
  drop(): Promise<unknown>;
}

async function embedded(): Promise<Place> {
  const dir = mkdtempSync(join(tmpdir(), "butler-erase-"));
  const db = await openPglite({ dir: join(dir, "store"), snapshot: await migratedSnapshot() });
  return { db, folders: async () => [dir], drop: async () => rmSync(dir, { recursive: true }) };
}

async function server(): Promise<Place> {
  const { db, drop } = await (STORES[1] as (typeof STORES)[number]).open();
  const folders = async () => {
    const [row] = await db.query<{ dir: string; oid: string }>(
      "select current_setting('data_directory') as dir, oid::text from pg_database where datname = current_database()",
    );
    return [join(row?.dir ?? "", "base", row?.oid ?? "")];
  };
  return { db, folders, drop };
}

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/** A server removes files of its own beside the test. */
function bytesOf(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    if (isMissing(error)) return Buffer.alloc(0);
    throw error;
  }
}

/** Files in which any of the words stands, in any case, as text of one or of two bytes a character. */
async function holding(place: Place, words: readonly string[]): Promise<string[]> {
  const needles = words.flatMap((word) =>
    [word, word.toLowerCase(), word.toUpperCase()].flatMap((one) => [Buffer.from(one), Buffer.from(one, "utf16le")]),
  );
  const files = (await place.folders()).flatMap(filesBelow);
  return files.filter((file) => {
    const bytes = bytesOf(file);
    return needles.some((needle) => bytes.includes(needle));
  });
}

const MARKED = ["Zyxqualor", "Brimthwaite", "Quorvanek", "vextrolding"];
/** As the keyword index has them. */
const STEMS = [...new Set(MARKED.flatMap((word) => lexemes(word)))];

closeSharedAtEnd();

const replayed = verifyInScratch;

const ADMIN = { as: { admin: true } };

/** Tests beside this one write in other databases of the server, some of them for long: what is left to do then is done again. */
async function erased(rig: Rig, target: object) {
  const done = await rig.call("control_erase", target, ADMIN);
  for (let { left } = done; left.some((line: string) => line.includes("still open")); )
    ({ left } = await scrub(rig.db));
  return done;
}

/** A life in which the words went everywhere that they can go. */
async function life(rig: Rig) {
  await rig.call("memory_store_fact", { subject: "dns", predicate: "provider", content: "Cloudflare" });
  await rig.call("memory_store_episode", { content: "We chose Cloudflare for the names.", session_id: "other" });
  const told = { session_id: "secret", speaker: "user" };
  await rig.call("memory_store_episode", {
    content: "My sister Zyxqualor lives in Brimthwaite.",
    ...told,
    tags: ["Quorvanek"],
  });
  await rig.call("memory_ingest_batch", {
    episodes: [
      { content: "Zyxqualor is vextrolding again.", ...told, idempotency_key: "k1", metadata: { by: "Quorvanek" } },
    ],
  });
  await runJob(rig, consolidate, {
    extractor: scripted((m) => ({
      facts: [
        fact("lives_in", "Zyxqualor lives in Brimthwaite.", [labelled(m, "Brimthwaite")], { subject: "Zyxqualor" }),
        fact("does", "Zyxqualor is vextrolding.", [labelled(m, "vextrolding")], { subject: "Zyxqualor" }),
      ],
      rules: [
        { content: "Always ask how Zyxqualor is doing before anything else.", episodes: [labelled(m, "Brimthwaite")] },
      ],
    })).extractor,
  });
  // A fact that stays and superseded one that goes; a claim against one that stays; marks with words.
  await rig.call(
    "memory_store_fact",
    { subject: "dns", predicate: "owner", content: "Zyxqualor", idempotency_key: "k2" },
    { session: "secret" },
  );
  const owner = await rig.call("memory_store_fact", {
    subject: "dns",
    predicate: "owner",
    content: "the platform team",
  });
  await rig.call(
    "memory_store_fact",
    { subject: "dns", predicate: "provider", content: "Brimthwaite Names" },
    { session: "secret", as: { voice: "tool" } },
  );
  const rule = await rig.call("memory_store_rule", { content: "Deploy on Friday." });
  await rig.call(
    "memory_mark_harmful",
    {
      rule_id: rule.id,
      reason: "Quorvanek was angry",
      session_id: "secret",
    },
    { idempotencyKey: "k3" },
  );
  const { results } = await rig.call("memory_search", { query: "Zyxqualor Brimthwaite", limit: 20 });
  expect(results.length).toBeGreaterThan(3);
  await rig.call("memory_context", { trigger_prompt: "How is Zyxqualor?", butler: "general" });
  await rig.call("memory_forget", { id: results[0].id, reason: "Quorvanek said so" });
  await rig.settled();
  await rig.memory.db.maintain?.("full");
  await rig.db.exec("analyze");
  return { owner: owner.id as string, rule: rule.id as string };
}

for (const [name, open] of [
  ["PGlite", embedded],
  ["PostgreSQL", server],
] as const)
  describe.skipIf(name === "PostgreSQL" && inject("postgresUrl") === undefined)(`erasure on ${name}`, () => {
    const closing: (() => Promise<unknown>)[] = [];
    afterEach(async () => {
      for (const close of closing.splice(0).toReversed()) await close();
    });
    async function opened() {
      const place = await open();
      closing.push(place.drop);
      const rig = await openRig(place.db, {});
      closing.push(() => rig.memory.close());
      return { place, rig };
    }

    it("leaves no byte of a session, and the rest as it was", async () => {
      const { place, rig } = await opened();
      const { owner, rule } = await life(rig);
      await rig.db.exec("checkpoint");
      expect((await holding(place, MARKED)).length).toBeGreaterThan(0);
      const dns = await rig.call("view_search", { q: "dns provider" }, ADMIN);
      const dry = await rig.call("control_erase", { session: "secret", dry_run: true }, ADMIN);
      expect(dry).toMatchObject({ receipt_id: null, sessions: ["secret"] });
      const done = await erased(rig, { session: "secret" });
      expect(done.counts).toEqual(dry.counts);
      expect(done.memories.length).toBe(7);
      expect(done.counts).toMatchObject({
        episodes: 2,
        facts: 4,
        rules: 1,
        lex_doc: expect.any(Number),
        embeddings: 7,
      });

      expect(await holding(place, [...MARKED, ...STEMS])).toEqual([]);
      for (const hash of countHashes(STEMS).keys()) {
        const keys = (await rig.db.query<{ sk: number }>("select sk from shelves")).map(({ sk }) => blockKey(sk, hash));
        expect(await rig.db.query("select 1 from lex_block where key = any($1::int8[])", [keys])).toEqual([]);
      }
      const ids = done.memories.map(({ id }: { id: string }) => id);
      const gone = [
        ...["episodes", "facts", "rules"].map((table) => [table, "id"]),
        ...[
          ["embeddings", "memory_id"],
          ["lex_doc", "memory_id"],
          ["memory_links", "source_id"],
          ["memory_links", "target_id"],
        ],
      ];
      for (const [table, column] of gone)
        expect(await rig.db.query(`select 1 from ${table} where ${column} = any($1::uuid[])`, [ids]), table).toEqual(
          [],
        );

      expect(
        (await rig.call("view_search", { q: "dns provider" }, ADMIN)).results.map((r: { id: string }) => r.id),
      ).toEqual(dns.results.map((r: { id: string }) => r.id).filter((id: string) => !ids.includes(id)));
      expect(await rig.call("memory_get", { id: owner })).toMatchObject({
        memory: { content: "the platform team", supersedes_id: null },
      });
      expect((await rig.call("memory_get", { id: rule })).memory).toMatchObject({ harmful_count: 1 });
      expect((await rig.refused("memory_get", { id: ids[0] })).code).toBe("not_found");
      // A hook that delivers the same exchange again does not bring it back.
      await rig.call("memory_ingest_batch", {
        episodes: [
          {
            content: "Zyxqualor is vextrolding again.",
            session_id: "secret",
            speaker: "user",
            idempotency_key: "k1",
            metadata: { by: "Quorvanek" },
          },
        ],
      });
      expect(await rig.db.query("select 1 from episodes where session_id = 'secret'")).toEqual([]);

      const report = await replayed(rig.db);
      expect(report.differences).toEqual([]);
      expect(report.orphans).toEqual([]);
      expect(report).toMatchObject({ equal: true, receipts: { receipts: 1, faults: [] } });
      const stats = await rig.call("memory_stats", {});
      const [count] = await rig.db.query<{ e: number; f: number; events: number }>(
        `select (select count(*)::int4 from episodes) as e, (select count(*)::int4 from facts) as f,
           (select count(*)::int4 from memory_events) as events`,
      );
      expect(stats).toMatchObject({ episodes: { total: count?.e }, facts: { total: count?.f }, events: count?.events });
      const [totals] = await rig.db.query<{ n: number }>("select sum(n)::int4 as n from event_totals");
      expect(totals?.n).toBe(count?.events);
    });

    it("erases a subject with everything that names it, or one memory, and notices a receipt that is gone", async () => {
      const { place, rig } = await opened();
      await life(rig);
      const done = await erased(rig, { subject: "zyxqualor" });
      expect(await holding(place, ["Zyxqualor"])).toEqual([]);
      expect(done.counts).toMatchObject({ episodes: 2, rules: 1 });
      const [left] = await rig.db.query<{ id: string }>("select id from facts where content = 'Brimthwaite Names'");
      await erased(rig, { id: left?.id });
      expect(await holding(place, ["Brimthwaite"])).toEqual([]);
      expect(await replayed(rig.db)).toMatchObject({ equal: true, receipts: { receipts: 2, faults: [] } });

      for (const change of [
        "update memory_events set payload = '{}'",
        "delete from memory_events",
        "delete from erasure_receipts",
        "update erasure_receipts set actor = 'x'",
      ])
        await expect(rig.db.query(change)).rejects.toThrow(/append-only/);
      await expect(
        rig.db.tx(async (sql) => {
          await sql.query("select set_config('butler.erasure', $1, true)", [done.receipt_id]);
          await sql.query("update memory_events set payload = '{}'");
        }),
      ).rejects.toThrow(/append-only/);
      expect((await rig.refused("control_erase", { subject: "dns" })).code).toBe("forbidden");
      expect((await rig.refused("control_erase", { subject: "nobody" }, ADMIN)).code).toBe("not_found");

      // Somebody with all rights takes a receipt out: the last one, then the first.
      const drop = async (which: string) => {
        await rig.db.exec("alter table erasure_receipts disable trigger erasure_receipts_no_change");
        await rig.db.query(`delete from erasure_receipts where seq = (select ${which}(seq) from erasure_receipts)`);
        await rig.db.exec("alter table erasure_receipts enable trigger erasure_receipts_no_change");
        return replayed(rig.db);
      };
      expect(await drop("max")).toMatchObject({
        equal: false,
        receipts: { receipts: 1, faults: [expect.stringMatching(/is missing$/)] },
      });
      expect((await drop("max")).receipts.faults).toHaveLength(2);
    });
  });
