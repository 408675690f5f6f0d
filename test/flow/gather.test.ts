/** A server is asked for the candidates of the words and of the nearest vectors when each are known: the answers are those of one statement. */
import { setImmediate as nextIteration } from "node:timers/promises";
import { afterEach, expect, it, vi } from "vitest";
import type { Db, PoolUse } from "../../src/engine/adapters/db/port.ts";
import { byteColumns } from "../../src/engine/adapters/db/postgres-bytes.ts";
import { wrapDb } from "../../src/engine/adapters/db/wrap.ts";
import { type Pick, picker } from "../../src/lab/sentences.ts";
import { hashEmbedder } from "../support/hash-embedder.ts";
import { onEachStore, openRig, type Rig } from "../support/stores.ts";

const WORDS = "river mill honey bees stone tea friday garden painting letter boat bread window lamp".split(" ");
const IDLE: PoolUse = { max: 10, in_use: 1, waiting: 0 };

/** What a test changes, and what was asked for since it looked last. */
interface Stage {
  order: "as it comes" | "words first" | "side by side" | "vectors first";
  pool: PoolUse;
  /** The candidates of the vectors will be asked for by themselves. */
  namesNobody: boolean;
  /** Before the answer of the first half is given. */
  between: () => Promise<unknown>;
  /** Of statements that bring bytes. */
  readonly texts: Set<string>;
  readonly sent: ("vectors" | "of words" | "of vectors" | "others" | "all")[];
}

/** What is waited for by some, until it has happened. */
function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** Whoever waits for an answer goes on, and asks for what it leads to. */
async function someTurns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await nextIteration();
}

/** Of a statement for candidates: folded ones by shelf, the others by id. */
const hitsIn = (params: readonly unknown[] = []) => [params[3], params[6]].flat().length;

function staged(db: Db): { db: Db; stage: Stage; begin: () => void } {
  const stage: Stage = {
    ...{ order: "as it comes", pool: IDLE, namesNobody: false, between: async () => undefined },
    ...{ texts: new Set(), sent: [] },
  };
  let [wordsRead, wordsBrought, vectorsFound, vectorsBrought] = [gate(), gate(), gate(), gate()];
  const begin = () => {
    stage.sent.length = 0;
    [wordsRead, wordsBrought, vectorsFound, vectorsBrought] = [gate(), gate(), gate(), gate()];
  };
  const half = async <R>(asking: () => Promise<R[]>, ofWords: boolean): Promise<R[]> => {
    const isFirst = stage.sent.every((part) => part === "vectors");
    stage.sent.push(ofWords ? "of words" : "of vectors");
    const answer = await asking();
    if (isFirst) await stage.between();
    if (ofWords) wordsRead.open();
    if (ofWords && stage.order === "side by side") await vectorsFound.opened.then(someTurns);
    (ofWords ? wordsBrought : vectorsBrought).open();
    return answer;
  };
  const vectors = async <R>(asking: () => Promise<R[]>): Promise<R[]> => {
    stage.sent.push("vectors");
    if (stage.order === "words first") await wordsBrought.opened;
    if (stage.order === "side by side") await wordsRead.opened;
    const answer = await asking();
    setImmediate(vectorsFound.open);
    return answer;
  };
  const replace = (inner: Db): Partial<Db> => ({
    ...(inner.pool && { pool: () => stage.pool }),
    query: async <R>(text: string, params?: readonly unknown[]) => {
      const asking = () => inner.query<R>(text, params);
      if (text.startsWith("with vectors as")) return vectors(asking);
      if (text.includes(" as snapshot,")) return half(asking, hitsIn(params) > 0);
      const answer = await asking();
      if (/^with (asked|keyword|still) as/.test(text)) stage.texts.add(text);
      if (text.startsWith("with asked as") && stage.order === "vectors first") {
        await vectorsFound.opened.then(someTurns);
        if (stage.namesNobody || stage.sent.includes("of vectors")) await vectorsBrought.opened;
      }
      if (text.includes("still as materialized"))
        stage.sent.push((answer as { same: boolean }[])[0]?.same ? "others" : "all");
      else if (text.startsWith("with keyword as")) stage.sent.push("all");
      return answer;
    },
  });
  return { db: wrapDb(db, replace), stage, begin };
}

const oneOf = <T>(p: Pick, list: readonly T[]): T => list[p.number(list.length)] as T;
const say = (p: Pick, most: number) => Array.from({ length: 1 + p.number(most) }, () => p.of(WORDS)).join(" ");

/** Five sessions of thirty turns, and facts and rules of which some replace others. */
async function furnish(rig: Rig, p: Pick): Promise<void> {
  for (let turn = 0; turn < 30; turn++)
    for (let session = 0; session < 5; session++)
      await rig.call("memory_store_episode", {
        ...{ content: `${say(p, 5)}${p.of(["", "?"])}`, session_id: `s${session}`, tags: oneOf(p, [[], ["red"]]) },
        speaker: p.of(["Ada", "Grace Hopper", "user"]),
      });
  for (let n = 0; n < 20; n++) {
    const key = { subject: p.of(["Ada", "team"]), predicate: p.of(["likes", "owns", "seeks"]) };
    await rig.call("memory_store_fact", { ...key, content: say(p, 3) });
    await rig.outcome("memory_store_rule", { content: `Mind the ${say(p, 3)}` });
  }
  await rig.settled();
}

/** What is sent for candidates, by what is known first. */
const HALVES: Readonly<Record<Exclude<Stage["order"], "as it comes">, Stage["sent"]>> = {
  "words first": ["vectors", "of words", "others"],
  "side by side": ["vectors", "of words", "of vectors"],
  "vectors first": ["vectors", "of vectors", "of words"],
};

/** Of all tests: the time of a process goes on. */
let later = 0;

afterEach(() => vi.restoreAllMocks());

onEachStore("candidates", (open, store) => {
  const onServer = store.includes("PostgreSQL");
  const furnished = async (seed: number) => {
    const { db, stage, begin } = staged((await open({ model: false })).db);
    const rig = await openRig(db, { model: false });
    await rig.memory.adopt(hashEmbedder("gather"));
    // As in a store that is too large to be held in memory.
    Object.assign(rig.memory.readModel, { load: async () => undefined, caughtUp: async () => undefined });
    // Answers are compared with each other: counting them would change the next.
    Object.assign(rig.memory.uncounted, { push: () => 0 });
    const p = picker(seed);
    await furnish(rig, p);
    // Each question is asked long after the one before: what was written meanwhile is forgotten.
    const now = performance.now.bind(performance);
    vi.spyOn(performance, "now").mockImplementation(() => now() + later);
    const ask = async (question: Record<string, unknown>) => {
      begin();
      later += 5_000;
      return (await rig.call("memory_search", { min_relevance: 0, explain: true, ...question })).results;
    };
    // From now on it is known how deep to look.
    await ask({ query: "river" });
    return { rig, stage, p, ask };
  };

  it("are the same in two statements, whichever are known first", async () => {
    const { stage, p, ask } = await furnished(11);
    const inTwo = new Map(Object.keys(HALVES).map((order) => [order, 0]));
    for (let n = 0; n < 25; n++) {
      const question = {
        query: `${p.of(["", "", "Ada "])}${say(p, 2)}`,
        limit: oneOf(p, [5, 20, 60]),
        ...oneOf(p, [{}, {}, { tags: ["red"] }, { types: ["fact", "rule"] }]),
      };
      stage.order = "as it comes";
      stage.pool = { ...IDLE, in_use: IDLE.max };
      const whole = await ask(question);
      expect(whole.length).toBeGreaterThan(0);
      expect(stage.sent.filter((part) => part !== "vectors")).toEqual(["all"]);
      stage.pool = IDLE;
      for (const [order, parts] of onServer ? Object.entries(HALVES) : []) {
        stage.order = order as Stage["order"];
        // Elsewhere on the server something may be committed between two statements: then all are asked for, and it is tried again.
        for (let tries = 0; tries < 5; tries++) {
          expect(await ask(question), order).toEqual(whole);
          if (stage.sent.at(-1) !== "all") break;
        }
        if (stage.sent.join() === parts.join()) inTwo.set(order, (inTwo.get(order) ?? 0) + 1);
      }
    }
    // A column that is not named would come as text, which is twice as long.
    const bytes = { dataTypeID: 17, format: "text" };
    for (const text of stage.texts) {
      const columns = byteColumns();
      columns.note(text, [bytes]);
      expect(columns.formats(text), text).toEqual([1]);
    }
    for (const [order, count] of inTwo) expect(count > 5, `${order}: ${count}`).toBe(onServer);
  });

  it("are all of one moment when something changes between the two", async () => {
    const { rig, stage, ask } = await furnished(12);
    const question = { query: "river mill honey bees tea", limit: 60 };
    stage.namesNobody = true;
    const ids = (all: readonly { id: string }[]) => all.map(({ id }) => id);
    if (!onServer) {
      await ask(question);
      return expect(stage.sent).toEqual(["all"]);
    }
    for (const [order, parts] of Object.entries(HALVES)) {
      stage.order = "as it comes";
      await rig.settled();
      const gone = ids(await ask(question)).slice(0, 3);
      const written: string[] = [];
      let changing: Promise<void> | undefined;
      const change = async () => {
        for (const id of gone) await rig.call("memory_forget", { id });
        const content = `${question.query} ${order}`;
        written.push((await rig.call("memory_store_fact", { subject: "Ada", predicate: "likes", content })).id);
      };
      stage.order = order as Stage["order"];
      stage.between = () => {
        changing ??= change();
        return changing;
      };
      const during = ids(await ask(question));
      await changing;
      await rig.settled();
      stage.between = async () => undefined;
      expect(stage.sent.slice(0, 2), order).toEqual(parts.slice(0, 2));
      expect(stage.sent.at(-1), order).toBe("all");
      stage.order = "as it comes";
      const after = ids(await ask({ ...question, limit: 200 }));
      expect(after, order).toContain(written[0]);
      // None is told that is not so any more, be it forgotten or replaced.
      expect(during.length, order).toBeGreaterThan(10);
      expect(
        during.filter((id) => !after.includes(id)),
        order,
      ).toEqual([]);
    }
  });
});
