import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { openPglite } from "../../src/engine/adapters/db/pglite.ts";
import type { Db, Sql } from "../../src/engine/adapters/db/port.ts";
import { openPostgres } from "../../src/engine/adapters/db/postgres.ts";
import { eachForward, h40 } from "../../src/engine/domain/ranking/words/postings.ts";
import { rank } from "../../src/engine/domain/ranking/words/sums.ts";
import { lexemes } from "../../src/engine/domain/text/lexemes.ts";
import { foldShelf, shelvesToFold } from "../../src/engine/store/index/fold.ts";
import {
  dropLexical,
  fetchPostings,
  type LexicalRow,
  putLexical,
  resolveHits,
} from "../../src/engine/store/index/lexical.ts";
import { unfoldShelf, verifyLexical } from "../../src/engine/store/index/lexical-check.ts";
import { migrate } from "../../src/engine/store/schema/migrate.ts";
import { naiveBm25, naiveDoc } from "../support/naive-bm25.ts";
import { freshDatabase } from "../support/postgres.ts";
import { migratedSnapshot } from "../support/stores.ts";

interface Opened {
  readonly db: Db;
  close(): Promise<void>;
}

const postgresUrl = inject("postgresUrl");

async function openOnPostgres(): Promise<Opened> {
  const database = await freshDatabase(postgresUrl as string);
  const db = await openPostgres({ url: database.url, max: 8 });
  return {
    db,
    close: async () => {
      await db.close();
      await database.drop();
    },
  };
}

async function openEmbedded(): Promise<Opened> {
  const db = await openPglite({ dir: undefined, snapshot: await migratedSnapshot() });
  return { db, close: () => db.close() };
}

const STORES = [
  { name: "pglite", open: openEmbedded, skip: false },
  { name: "postgres", open: openOnPostgres, skip: postgresUrl === undefined },
];

/** Words that are their own stems, so that the reference needs no tokeniser. */
const WORDS = ["zebra", "piano", "lemon", "tango", "kiwi", "walnut"];
const uuid = (i: number) => `00000000-0000-4000-8000-${i.toString(16).padStart(12, "0")}`;

const search = async (sql: Sql, query: string, sks: readonly number[]) =>
  resolveHits(sql, rank(await fetchPostings(sql, lexemes(query), sks)).top(10_000));

const newShelf = async (sql: Sql, scope: string) => {
  const [row] = await sql.query<{ sk: number }>(
    "insert into shelves (tenant_id, scope, type) values ('t', $1, 'fact') returning sk",
    [scope],
  );
  return (row as { sk: number }).sk;
};

const empty = (db: Db) => db.exec("truncate lex_doc, lex_block, lex_long, shelves restart identity cascade");

const foldAll = async (db: Db, sk: number, limit = 64) => {
  for (;;) {
    const { folded, removed } = await foldShelf(db, sk, limit);
    if (folded + removed === 0) return;
  }
};

for (const store of STORES) {
  describe.skipIf(store.skip)(`lexical index on ${store.name}`, () => {
    let opened: Opened;
    let db: Db;
    beforeAll(async () => {
      opened = await store.open();
      db = opened.db;
      await migrate(db);
    });
    afterAll(() => opened?.close());
    beforeEach(() => empty(db));

    const put = (rows: readonly LexicalRow[]) => db.tx((sql) => putLexical(sql, rows));
    const drop = (ids: readonly string[]) => db.tx((sql) => dropLexical(sql, ids));

    test("any history of writes, removals, changes and folds searches like textbook BM25", async () => {
      const shelf = fc.integer({ min: 0, max: 2 });
      const words = fc.array(fc.constantFrom(...WORDS), { maxLength: 7 });
      const step = fc.oneof(
        {
          weight: 4,
          arbitrary: fc.record({ put: fc.array(fc.record({ shelf, words }), { minLength: 1, maxLength: 6 }) }),
        },
        { weight: 2, arbitrary: fc.record({ drop: fc.array(fc.nat(), { minLength: 1, maxLength: 3 }) }) },
        { weight: 2, arbitrary: fc.record({ change: fc.nat(), shelf, words }) },
        { weight: 4, arbitrary: fc.record({ fold: shelf, limit: fc.integer({ min: 1, max: 8 }) }) },
        { weight: 1, arbitrary: fc.record({ unfold: shelf }) },
      );
      const query = fc.array(fc.constantFrom(...WORDS, "absent"), { minLength: 1, maxLength: 4 });
      const asked = fc.record({ query, on: fc.uniqueArray(shelf, { minLength: 1 }) });

      await fc.assert(
        fc.asyncProperty(fc.array(fc.tuple(step, asked), { minLength: 1, maxLength: 14 }), async (history) => {
          await empty(db);
          const sks = [await newShelf(db, "a"), await newShelf(db, "b"), await newShelf(db, "c")];
          const live = new Map<string, { sk: number; words: readonly string[] }>();
          let next = 0;
          const pick = (n: number) => [...live.keys()][n % Math.max(1, live.size)];

          for (const [action, { query, on }] of history) {
            if ("put" in action) {
              const rows = action.put.map((doc) => ({
                memoryId: uuid(next++),
                sk: sks[doc.shelf] as number,
                words: doc.words,
              }));
              await put(rows.map((row) => ({ ...row, text: row.words.join(" ") })));
              for (const row of rows) live.set(row.memoryId, row);
            } else if ("drop" in action) {
              const ids = [...new Set(action.drop.map(pick))].filter((id) => id !== undefined);
              await drop(ids);
              for (const id of ids) live.delete(id);
            } else if ("change" in action) {
              const id = pick(action.change);
              if (id === undefined) continue;
              const sk = sks[action.shelf] as number;
              await db.tx(async (sql) => {
                await dropLexical(sql, [id]);
                await putLexical(sql, [{ memoryId: id, sk, text: action.words.join(" ") }]);
              });
              live.set(id, { sk, words: action.words });
            } else if ("fold" in action) await foldShelf(db, sks[action.fold] as number, action.limit);
            else await unfoldShelf(db, sks[action.unfold] as number);

            const chosen = on.map((i) => sks[i] as number);
            const docs = [...live].flatMap(([id, doc]) => (chosen.includes(doc.sk) ? [naiveDoc(id, doc.words)] : []));
            expect(await search(db, query.join(" "), chosen)).toEqual(naiveBm25(docs, query));
          }
          expect(await verifyLexical(db)).toEqual([]);
        }),
        { numRuns: 40 },
      );
    });

    test("a common word over several blocks keeps its order through removals in the middle and at the end", async () => {
      const sk = await newShelf(db, "a");
      const live = new Map<string, string[]>();
      const add = async (from: number, to: number) => {
        const rows = Array.from({ length: to - from }, (_, i) => ({
          memoryId: uuid(from + i),
          sk,
          words: ["zebra", WORDS[(from + i) % 6] as string, ...Array((from + i) % 11).fill("kiwi")],
        }));
        await put(rows.map((row) => ({ ...row, text: row.words.join(" ") })));
        for (const row of rows) live.set(row.memoryId, row.words);
      };
      const remove = async (ids: string[]) => {
        await drop(ids);
        for (const id of ids) live.delete(id);
      };
      const check = async () => {
        const docs = [...live].map(([id, words]) => naiveDoc(id, words));
        expect(await search(db, "zebra lemon kiwi", [sk])).toEqual(naiveBm25(docs, ["zebra", "lemon", "kiwi"]));
        expect(await verifyLexical(db)).toEqual([]);
      };
      await add(0, 512);
      await foldAll(db, sk, 200);
      await check();
      // The tail is full and a block in the middle gets room in the same fold that appends.
      await remove(Array.from({ length: 30 }, (_, i) => uuid(100 + i)));
      await add(512, 600);
      await check();
      await foldAll(db, sk, 100);
      await check();
      // The whole tail leaves while new entries arrive.
      await remove(Array.from({ length: 88 }, (_, i) => uuid(512 + i)));
      await add(600, 620);
      await foldAll(db, sk, 300);
      await check();
      await remove([...live.keys()]);
      await foldAll(db, sk, 1000);
      await check();
      expect(await db.query("select count(*)::int4 as blocks from lex_block")).toEqual([{ blocks: 0 }]);
    });

    test("a very long memory keeps its score when it is folded", async () => {
      const sk = await newShelf(db, "a");
      const text = `${"zebra ".repeat(300)}${"piano ".repeat(70_000)}`;
      await put([
        { memoryId: uuid(1), sk, text },
        { memoryId: uuid(2), sk, text: "zebra piano lemon" },
      ]);
      const before = await search(db, "zebra piano", [sk]);
      await foldAll(db, sk);
      expect(before.length).toBe(2);
      expect(await search(db, "zebra piano", [sk])).toEqual(before);
    });

    test("shelves do not see each other's words or statistics", async () => {
      const mine = await newShelf(db, "mine");
      const other = await newShelf(db, "other");
      await put([{ memoryId: uuid(1), sk: mine, text: "zebra lemon" }]);
      const alone = await search(db, "zebra", [mine]);
      await put(Array.from({ length: 20 }, (_, i) => ({ memoryId: uuid(10 + i), sk: other, text: "zebra" })));
      await foldAll(db, other);
      await foldAll(db, mine);
      expect(alone.length).toBe(1);
      expect(await search(db, "zebra", [mine])).toEqual(alone);
      expect((await search(db, "zebra", [mine, other, mine])).length).toBe(21);
      expect(await search(db, "zebra", [])).toEqual([]);
      expect(await search(db, "zebra", [other + 1])).toEqual([]);
    });

    test("a memory has one live row, and a failed fold leaves nothing behind", async () => {
      const sk = await newShelf(db, "a");
      await put([{ memoryId: uuid(1), sk, text: "zebra" }]);
      await expect(put([{ memoryId: uuid(1), sk, text: "piano" }])).rejects.toThrow(/lex_doc_memory/);
      await foldAll(db, sk);
      await drop([uuid(1)]);
      await put([{ memoryId: uuid(2), sk, text: "zebra piano" }]);
      await db.query("delete from lex_block");
      const before = await db.query("select * from lex_doc order by doc");
      await expect(foldShelf(db, sk)).rejects.toMatchObject({ code: "integrity" });
      expect(await db.query("select * from lex_doc order by doc")).toEqual(before);
      expect(await verifyLexical(db)).toHaveLength(1);
      await unfoldShelf(db, sk);
      await foldAll(db, sk);
      expect(await verifyLexical(db)).toEqual([]);
      expect((await search(db, "zebra", [sk])).map((hit) => hit.memoryId)).toEqual([uuid(2)]);
    });

    test("the check names what is wrong", async () => {
      const sk = await newShelf(db, "a");
      await put([0, 1, 2].map((i) => ({ memoryId: uuid(i), sk, text: "zebra piano" })));
      await foldAll(db, sk);
      const harm = async (statement: string) => {
        const undo = new Error("undo");
        const found: string[] = [];
        await db
          .tx(async (sql) => {
            await sql.query("set transaction isolation level repeatable read");
            await sql.query(statement);
            const inside: Db = {
              ...db,
              tx: (work) =>
                work({ query: async (text, params) => (/^set /.test(text) ? [] : sql.query(text, params)) }),
            };
            found.push(...(await verifyLexical(inside)));
            throw undo;
          })
          .catch((error: unknown) => {
            if (error !== undo) throw error;
          });
        return found.join("\n");
      };
      expect(await harm("update shelves set n = n + 1")).toMatch(/n is 4, forward rows say 3/);
      expect(await harm("update shelves set tl = 0")).toMatch(/tl is 0, forward rows say 6/);
      expect(await harm("update shelves set slots = 2")).toMatch(/slots is 2, slot 2 is taken/);
      expect(await harm("update lex_block set n = 2")).toMatch(/n is 2, it has 21 bytes/);
      expect(await harm("update lex_block set b = 1")).toMatch(/out of order/);
      expect(await harm("update lex_block set x = set_byte(x, 4, 9)")).toMatch(/blocks hold 3 entries.* ask for 3/);
      expect(await harm("delete from lex_doc where slot = 0")).toMatch(/blocks hold 3 entries.* ask for 2/);
      expect(await harm("update lex_block set key = key + (1::int8 << 40)")).toMatch(/which does not exist/);
      expect(await harm("update lex_doc set slot = null where slot = 0")).toMatch(/does not fit its state/);
      expect(await verifyLexical(db)).toEqual([]);
    });

    test("lists the shelves that are worth folding", async () => {
      const [small, big] = [await newShelf(db, "small"), await newShelf(db, "big")];
      await put(Array.from({ length: 9 }, (_, i) => ({ memoryId: uuid(i), sk: i < 3 ? small : big, text: "zebra" })));
      expect(await shelvesToFold(db, 4)).toEqual([{ sk: big, waiting: 6 }]);
      expect(await shelvesToFold(db, 1)).toEqual([
        { sk: big, waiting: 6 },
        { sk: small, waiting: 3 },
      ]);
      await foldAll(db, big);
      expect(await shelvesToFold(db, 1)).toEqual([{ sk: small, waiting: 3 }]);
    });
  });
}

describe.skipIf(postgresUrl === undefined)("lexical index under concurrency", () => {
  test("writers, two folders and a reader at once: every snapshot is exact", async () => {
    const { db, close } = await openOnPostgres();
    try {
      await migrate(db);
      const sks = [await newShelf(db, "a"), await newShelf(db, "b")];
      const live = new Map<string, number>();
      const undo = new Error("undo");
      let writing = true;

      const writer = async (w: number) => {
        const mine: string[] = [];
        for (let i = 0; i < 120; i++) {
          const sk = sks[(w + i) % 2] as number;
          const id = uuid(w * 1000 + i);
          const text = ["zebra", WORDS[(w * 7 + i) % 6], WORDS[(i * i) % 6]].join(" ");
          const victims = i % 3 === 2 ? mine.splice(0, 2).reverse() : [];
          const changed = i % 5 === 4 ? mine[0] : undefined;
          const fails = i % 10 === 9;
          await db
            .tx(async (sql) => {
              await putLexical(sql, [{ memoryId: id, sk, text }]);
              await dropLexical(sql, victims);
              if (changed !== undefined) {
                await dropLexical(sql, [changed]);
                await putLexical(sql, [{ memoryId: changed, sk, text: "walnut tango" }]);
              }
              if (fails) throw undo;
            })
            .catch((error: unknown) => {
              if (error !== undo) throw error;
            });
          if (fails) mine.push(...victims);
          else {
            mine.push(id);
            live.set(id, sk);
            for (const victim of victims) live.delete(victim);
            if (changed !== undefined) live.set(changed, sk);
          }
        }
      };
      const folder = async () => {
        let folded = 0;
        while (writing) for (const sk of sks) folded += (await foldShelf(db, sk, 8)).folded;
        return folded;
      };
      const reader = async () => {
        let checks = 0;
        while (writing) {
          await db.tx(async (sql) => {
            await sql.query("set transaction isolation level repeatable read");
            const got = await search(sql, "zebra lemon walnut", sks);
            const rows = await sql.query<{ memory_id: string; len: number; x: Uint8Array }>(
              "select memory_id, len, x from lex_doc where state <> 2",
            );
            const docs = rows.map(({ memory_id, len, x }) => {
              const tf = new Map<number, number>();
              eachForward(x, (hash, count) => tf.set(hash, count));
              return { id: memory_id, len, tf };
            });
            expect(got).toEqual(naiveBm25(docs, ["zebra", "lemon", "walnut"].map(h40)));
          });
          checks++;
        }
        return checks;
      };

      const writers = Promise.all([0, 1, 2].map(writer)).finally(() => {
        writing = false;
      });
      const [, first, second, checks] = await Promise.all([writers, folder(), folder(), reader()]);
      expect(first + second).toBeGreaterThan(0);
      expect(checks).toBeGreaterThan(0);

      expect(await verifyLexical(db)).toEqual([]);
      for (const sk of sks) await foldAll(db, sk);
      expect(await verifyLexical(db)).toEqual([]);
      const left = await db.query<{ memory_id: string; sk: number }>("select memory_id, sk from lex_doc order by 1");
      expect(left.map((row) => [row.memory_id, row.sk])).toEqual([...live].sort(([a], [b]) => (a < b ? -1 : 1)));
    } finally {
      await close();
    }
  });
});
