/** A server is asked for the candidates of the words while it looks for the nearest vectors: the answers are those of one statement. */
import { expect, it } from "vitest";
import type { Db, PoolUse } from "../../src/engine/adapters/db/port.ts";
import { wrapDb } from "../../src/engine/adapters/db/wrap.ts";
import { type Pick, picker } from "../../src/lab/sentences.ts";
import { hashEmbedder } from "../support/hash-embedder.ts";
import { onEachStore, openRig, type Rig } from "../support/stores.ts";

const WORDS = "river mill honey bees stone tea friday garden painting letter boat bread window lamp".split(" ");
const IDLE: PoolUse = { max: 10, in_use: 1, waiting: 0 };

/** What a test changes, and what was asked for since it looked last. */
interface Stage {
  /** The vectors are not found before the first statement for candidates is answered. */
  inTwo: boolean;
  pool: PoolUse;
  between: () => Promise<unknown>;
  readonly sent: ("vectors" | "first" | "second, all" | "second, others")[];
}

function staged(db: Db): { db: Db; stage: Stage } {
  const stage: Stage = { inTwo: false, pool: IDLE, between: async () => undefined, sent: [] };
  let open: () => void = () => undefined;
  const replace = (inner: Db): Partial<Db> => ({
    ...(inner.pool && { pool: () => stage.pool }),
    query: async <R>(text: string, params?: readonly unknown[]) => {
      if (text.startsWith("with vectors as")) {
        stage.sent.push("vectors");
        if (stage.inTwo)
          await new Promise<void>((resolve) => {
            open = resolve;
          });
      }
      const answer = await inner.query<R>(text, params);
      if (text.includes(" as snapshot,")) {
        stage.sent.push("first");
        await stage.between();
        open();
      }
      if (text.includes("still as materialized"))
        stage.sent.push((answer as { same: boolean }[])[0]?.same ? "second, others" : "second, all");
      return answer;
    },
  });
  return { db: wrapDb(db, replace), stage };
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

onEachStore("candidates", (open, store) => {
  const onServer = store.includes("PostgreSQL");
  const furnished = async (seed: number) => {
    const { db, stage } = staged((await open({ model: false })).db);
    const rig = await openRig(db, { model: false });
    await rig.memory.adopt(hashEmbedder("gather"));
    // As in a store that is too large to be held in memory.
    Object.assign(rig.memory.readModel, { load: async () => undefined, caughtUp: async () => undefined });
    // Answers are compared with each other: counting them would change the next.
    Object.assign(rig.memory.uncounted, { push: () => 0 });
    const p = picker(seed);
    await furnish(rig, p);
    const ask = async (question: Record<string, unknown>) => {
      stage.sent.length = 0;
      return (await rig.call("memory_search", { min_relevance: 0, explain: true, ...question })).results;
    };
    // From now on it is known how deep to look.
    await ask({ query: "river" });
    return { rig, stage, p, ask };
  };

  it("are the same in two statements", async () => {
    const { stage, p, ask } = await furnished(11);
    let inTwo = 0;
    for (let n = 0; n < 25; n++) {
      const question = {
        query: `${p.of(["", "", "Ada "])}${say(p, 2)}`,
        limit: oneOf(p, [5, 20, 60]),
        ...oneOf(p, [{}, {}, { tags: ["red"] }, { types: ["fact", "rule"] }]),
      };
      stage.inTwo = false;
      stage.pool = { ...IDLE, in_use: IDLE.max };
      const whole = await ask(question);
      expect(whole.length).toBeGreaterThan(0);
      expect(stage.sent.filter((part) => part !== "vectors")).toEqual([]);
      stage.inTwo = true;
      stage.pool = IDLE;
      expect(await ask(question)).toEqual(whole);
      if (stage.sent.includes("second, others")) inTwo++;
    }
    // Elsewhere on the server something may be committed between two statements.
    expect(inTwo > 5).toBe(onServer);
  });

  it("are all of one moment when something changes between the two", async () => {
    const { rig, stage, ask } = await furnished(12);
    const question = { query: "river mill honey bees tea", limit: 60 };
    const ids = (all: readonly { id: string }[]) => all.map(({ id }) => id);
    const gone = ids(await ask(question)).slice(0, 3);
    const written: string[] = [];
    const change = async () => {
      for (const id of gone) await rig.call("memory_forget", { id });
      const told = await rig.call("memory_store_fact", { subject: "Ada", predicate: "likes", content: question.query });
      written.push(told.id);
    };
    stage.inTwo = true;
    stage.between = onServer ? change : stage.between;
    const during = ids(await ask(question));
    if (!onServer) return expect(stage.sent).toEqual([]);
    expect(stage.sent).toEqual(["vectors", "first", "second, all"]);
    stage.inTwo = false;
    const after = await ask({ ...question, limit: 200 });
    expect(ids(after)).toContain(written[0]);
    // None is told that is not so any more, be it forgotten or replaced.
    expect(during.length).toBeGreaterThan(10);
    expect(during.filter((id) => !ids(after).includes(id))).toEqual([]);
  });
});
