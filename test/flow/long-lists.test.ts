/** A search that leaves the longest lists unread finds what one that reads everything finds: the same memories with the same scores. */
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { openPglite } from "../../src/engine/adapters/db/pglite.ts";
import type { Db, Sql } from "../../src/engine/adapters/db/port.ts";
import { openPostgres } from "../../src/engine/adapters/db/postgres.ts";
import type { Hit, Members } from "../../src/engine/domain/ranking/words/bm25.ts";
import { rank } from "../../src/engine/domain/ranking/words/sums.ts";
import { foldShelf } from "../../src/engine/store/index/fold.ts";
import { dropLexical, fetchPostings, putLexical, resolveHits } from "../../src/engine/store/index/lexical.ts";
import { unfoldShelf, verifyLexical } from "../../src/engine/store/index/lexical-check.ts";
import { addLongLists } from "../../src/engine/store/index/long-lists.ts";
import { rankWords } from "../../src/engine/store/index/rank-words.ts";
import { migrate } from "../../src/engine/store/schema/migrate.ts";
import { freshDatabase } from "../support/postgres.ts";
import { migratedSnapshot } from "../support/stores.ts";

const postgresUrl = inject("postgresUrl");

const STORES = [
  {
    name: "pglite",
    skip: false,
    open: async () => {
      const db = await openPglite({ dir: undefined, snapshot: await migratedSnapshot() });
      return { db, close: () => db.close() };
    },
  },
  {
    name: "postgres",
    skip: postgresUrl === undefined,
    open: async () => {
      const database = await freshDatabase(postgresUrl as string);
      const db = await openPostgres({ url: database.url, max: 4 });
      return { db, close: () => db.close().then(database.drop) };
    },
  },
];

/** From frequent to rare; each its own stem. */
const WORDS = ["zebra", "piano", "lemon", "tango", "kiwi", "walnut"];
const uuid = (i: number) => `00000000-0000-4000-8000-${i.toString(16).padStart(12, "0")}`;
/** Every list of the table may be left, and nearly all of a question. */
const ALWAYS = { share: 0.8, from: 1 };

/** Counts the statements that a piece of work takes. */
function counted(sql: Sql): Sql & { statements: number } {
  const counter = {
    statements: 0,
    query: <R>(text: string, params?: readonly unknown[]) => {
      counter.statements++;
      return sql.query<R>(text, params);
    },
  };
  return counter;
}

describe.each(STORES.filter(({ skip }) => !skip))("long lists on $name", ({ open }) => {
  let opened: { db: Db; close(): Promise<void> };
  let db: Db;
  beforeAll(async () => {
    opened = await open();
    db = opened.db;
    await migrate(db);
  });
  afterAll(() => opened?.close());
  beforeEach(() => empty());

  const empty = () => db.exec("truncate lex_doc, lex_block, lex_long, shelves restart identity cascade");
  const newShelves = async () => {
    const rows = await db.query<{ sk: number }>(
      `insert into shelves (tenant_id, scope, type) select 't', scope, 'fact' from unnest('{a,b,c}'::text[]) as scope returning sk`,
    );
    return rows.map(({ sk }) => sk);
  };
  const put = (rows: readonly { id: number; sk: number; words: readonly string[] }[]) =>
    db.tx((sql) =>
      putLexical(
        sql,
        rows.map(({ id, sk, words }) => ({ memoryId: uuid(id), sk, text: words.join(" ") })),
      ),
    );
  const drop = (ids: readonly number[]) => db.tx((sql) => dropLexical(sql, ids.map(uuid)));
  const found = async (hits: readonly Hit[]) => resolveHits(db, hits);

  /** Both ways for some depths, pages, members and groups; tells how the first page was found. */
  async function compare(
    words: readonly string[],
    groups: readonly number[][],
    k: number,
  ): Promise<"without reading all" | "reading all after all" | "in one go"> {
    const { slots, ids } = await membersOf(3);
    const counter = counted(db);
    const bounded = await rankWords(counter, words, groups, () => k, ALWAYS);
    const first = await Promise.all(bounded.rankings.map((ranking) => ranking.top(k)));
    const { statements } = counter;
    expect(statements).toBeLessThanOrEqual(2);
    for (const [at, group] of groups.entries()) {
      const whole = rank(await fetchPostings(db, words, group));
      const own = bounded.rankings[at];
      if (own === undefined) throw new Error("a ranking for each group");
      expect({ n: own.n, avgdl: own.avgdl, terms: own.terms }).toEqual({
        n: whole.n,
        avgdl: whole.avgdl,
        terms: whole.terms,
      });
      expect(await found(first[at] ?? [])).toEqual(await found(whole.top(k)));
      const half = Math.ceil(k / 2);
      expect(await found(await own.top(half))).toEqual(await found(whole.top(half)));
      const offset = whole.top(k).length;
      expect(await found(await own.top(2 * k, offset))).toEqual(await found(whole.top(2 * k, offset)));
      expect(await found(await own.topAmong(k, { slots, ids }))).toEqual(
        await found(whole.topAmong(k, { slots, ids })),
      );
      expect((await own.whole()).total).toBe(whole.total);
    }
    if (statements === 2) return "reading all after all";
    const { unread } = await fetchPostings(db, words, groups.flat(), ALWAYS);
    return unread.length > 0 ? "without reading all" : "in one go";
  }

  /** Every n-th memory. */
  async function membersOf(n: number): Promise<Members> {
    const rows = await db.query<{ memory_id: string; sk: number; slot: number | null }>(
      "select memory_id, sk, slot from lex_doc where state <> 2 and doc % $1 = 0",
      [n],
    );
    const slots = new Map<number, Set<number>>();
    for (const { sk, slot } of rows) if (slot !== null) slots.set(sk, (slots.get(sk) ?? new Set()).add(slot));
    return { slots, ids: new Set(rows.filter(({ slot }) => slot === null).map(({ memory_id }) => memory_id)) };
  }

  test("after any history the best are those of the whole ranking, to the last tie", async () => {
    const shelf = fc.integer({ min: 0, max: 2 });
    // The smallest of three numbers: early words come more often.
    const word = fc
      .tuple(...[1, 2, 3].map(() => fc.integer({ min: 0, max: WORDS.length - 1 })))
      .map((some) => WORDS[Math.min(...some)] as string);
    const doc = fc.record({ shelf, words: fc.array(word, { minLength: 1, maxLength: 9 }) });
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.record({ put: fc.array(doc, { minLength: 10, maxLength: 40 }) }) },
      { weight: 2, arbitrary: fc.record({ drop: fc.array(fc.nat(), { minLength: 1, maxLength: 6 }) }) },
      { weight: 1, arbitrary: fc.record({ change: fc.nat(), doc }) },
      { weight: 3, arbitrary: fc.record({ fold: shelf, limit: fc.integer({ min: 5, max: 60 }) }) },
      { weight: 2, arbitrary: fc.record({ bound: fc.constant(1) }) },
      { weight: 1, arbitrary: fc.record({ unfold: shelf }) },
    );
    const asked = fc.record({
      words: fc.array(word, { minLength: 1, maxLength: 5 }),
      k: fc.integer({ min: 1, max: 12 }),
      apart: fc.boolean(),
    });
    const history = fc.tuple(
      fc.array(doc, { minLength: 60, maxLength: 60 }),
      fc.array(fc.tuple(step, asked), { maxLength: 8 }),
    );
    const ways: Record<string, number> = {};
    await fc.assert(
      fc.asyncProperty(history, async ([docs, steps]) => {
        await empty();
        const sks = await newShelves();
        const live = new Map<number, number>();
        let next = 0;
        const add = async (some: readonly { shelf: number; words: readonly string[] }[]) => {
          const rows = some.map((one) => ({ id: next++, sk: sks[one.shelf] as number, words: one.words }));
          await put(rows);
          for (const { id, sk } of rows) live.set(id, sk);
        };
        const pick = (n: number) => [...live.keys()][n % Math.max(1, live.size)] ?? -1;
        await add(docs);
        for (const sk of sks) await foldShelf(db, sk, 100);
        await addLongLists(db, 1);
        for (const [action, { words, k, apart }] of steps) {
          if ("put" in action) await add(action.put);
          else if ("drop" in action) {
            const ids = [...new Set(action.drop.map(pick))];
            await drop(ids);
            for (const id of ids) live.delete(id);
          } else if ("change" in action) {
            await drop([pick(action.change)]);
            live.delete(pick(action.change));
            await add([action.doc]);
          } else if ("fold" in action) await foldShelf(db, sks[action.fold] as number, action.limit);
          else if ("bound" in action) await addLongLists(db, action.bound);
          else await unfoldShelf(db, sks[action.unfold] as number);
          const groups = apart ? [[sks[0] as number], sks.slice(1)] : [sks];
          const way = await compare(words, groups, k);
          ways[way] = (ways[way] ?? 0) + 1;
        }
        expect(await verifyLexical(db)).toEqual([]);
      }),
      { numRuns: 10 },
    );
    expect(Object.keys(ways).sort()).toEqual(["in one go", "reading all after all", "without reading all"]);
  });

  test("a frequent word is not read where a rare one decides, and is where it may decide itself", async () => {
    const [sk] = (await newShelves()) as [number];
    await put(
      Array.from({ length: 600 }, (_, id) => ({ id, sk, words: ["zebra", ...(id % 20 === 0 ? ["walnut"] : [])] })),
    );
    await foldShelf(db, sk, 600);
    expect(await addLongLists(db)).toBe(0);
    expect(await addLongLists(db, 3)).toBe(1);
    expect(await addLongLists(db, 3)).toBe(0);
    const blocksRead = async (words: readonly string[], k: number) => {
      const read: number[] = [];
      const watched: Sql = {
        query: async <R>(text: string, params?: readonly unknown[]) => {
          const rows = await db.query<R>(text, params);
          read.push(rows.filter((row) => (row as { kind?: number }).kind === 0).length);
          return rows;
        },
      };
      await rankWords(watched, words, [[sk]], () => k, ALWAYS);
      return read;
    };
    expect(await blocksRead(["zebra", "walnut"], 5)).toEqual([1]);
    expect(await blocksRead(["zebra", "walnut"], 40)).toEqual([1, 2]);
    expect(await blocksRead(["zebra"], 5)).toEqual([1]);
    await compare(["zebra", "walnut"], [[sk]], 5);
  });

  test("the check finds a list that says too little", async () => {
    const [sk] = (await newShelves()) as [number];
    await put(Array.from({ length: 9 }, (_, id) => ({ id, sk, words: ["zebra", "piano"] })));
    await foldShelf(db, sk);
    await addLongLists(db, 1);
    expect(await verifyLexical(db)).toEqual([]);
    await db.query("update lex_long set df = df + 1");
    expect((await verifyLexical(db)).join()).toMatch(/df is 10 and blocks hold 9 entries/);
    await db.query("update lex_long set df = df - 1, least = set_byte(least, 0, 3)");
    expect((await verifyLexical(db)).join()).toMatch(/shorter memories have the word/);
    await db.query("update lex_long set least = set_byte(least, 0, 2)");
    expect(await verifyLexical(db)).toEqual([]);
    await db.query("update lex_block set slim = null where key in (select min(key) from lex_block)");
    expect((await verifyLexical(db)).join()).toMatch(/its slim form is not that of its entries/);
    await unfoldShelf(db, sk);
    expect(await db.query("select 1 from lex_long")).toEqual([]);
  });
});
