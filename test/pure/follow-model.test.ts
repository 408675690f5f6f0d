/** How the read model follows its store: whom a search waits for, and what a writer hands over. */
import { expect, it } from "vitest";
import type { ChangeListener, Db } from "../../src/engine/adapters/db/port.ts";
import { silentLog } from "../../src/engine/adapters/log.ts";
import { followModel } from "../../src/engine/memory/read-model/follow.ts";
import { givenEpisode } from "../../src/engine/memory/read-model/given.ts";
import type { NewEpisode } from "../../src/engine/store/memories/episodes.ts";

const VERSION = 1;
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A store that is empty when it is loaded; what is read later waits until the test lets it be answered. */
async function followed({ failedMs }: { failedMs?: number } = {}) {
  let fails = false;
  let listener: ChangeListener | undefined;
  const counts: (readonly string[])[] = [];
  const reads: { readonly ids: readonly string[]; readonly answer: () => void }[] = [];
  const db = {
    kind: "pglite",
    exec: async () => undefined,
    async query(text: string, params: readonly unknown[] = []) {
      if (fails) throw new Error("out of memory");
      if (text.includes("halfvec_send")) {
        await new Promise<void>((resolve) => reads.push({ ids: params[0] as string[], answer: resolve }));
        return [{ rows: null, words: null, forwards: null, vectors: null, halves: null, tokens: null, links: null }];
      }
      if (text.includes("json_build_array(c.id")) {
        counts.push(params[0] as string[]);
        return [{ counts: null }];
      }
      return text.includes("pg_trigger") || text.includes("count(*)") ? [{ n: 0 }] : [];
    },
    onChange(heard: ChangeListener) {
      listener = heard;
      return () => undefined;
    },
  } as unknown as Db;
  const model = followModel(db, silentLog, failedMs);
  await model.load(VERSION, "default");
  return {
    model,
    reads,
    counts,
    fail(now: boolean) {
      fails = now;
    },
    tell: (...ids: string[]) => listener?.(ids, false),
    tellCounted: (...ids: string[]) => listener?.(ids, true),
  };
}

const settledNow = async (promise: Promise<unknown>): Promise<boolean> => {
  const pending = Symbol("pending");
  await turn();
  return (await Promise.race([promise, Promise.resolve(pending)])) !== pending;
};

it("a search waits for what was told before it began, however much is written meanwhile", async () => {
  const { model, reads, tell } = await followed();
  tell("a");
  await turn();
  const search = model.caughtUp(VERSION, "default");
  for (let i = 0; i < 20; i++) tell(`b${i}`);
  expect(await settledNow(search)).toBe(false);
  expect(reads.map(({ ids }) => ids)).toEqual([["a"]]);
  reads[0]?.answer();
  expect(await search).toBeDefined();
  // The next one began after those were told.
  const later = model.caughtUp(VERSION, "default");
  expect(await settledNow(later)).toBe(false);
  reads[1]?.answer();
  expect(await later).toBeDefined();
  expect(reads).toHaveLength(2);
});

function roses() {
  const now = new Date("2026-05-04T10:00:00Z");
  const episode = {
    ...{
      id: "00000000-0000-7000-8000-000000000001",
      tenant_id: "t",
      butler: "b",
      validity: "active",
      content: "Roses.",
    },
    ...{ summary: null, importance: 5, tags: [], reference_count: 0, created_at: now, last_referenced_at: null },
    ...{ prior_referenced_at: null, trust: "user", tier: "eden", session_id: null, ordinal: null, speaker: null },
    ...{ occurred_at: now, expires_at: now },
  } as unknown as NewEpisode;
  const indexed = { id: episode.id, sk: 1, text: episode.content, vector: undefined, visibleUntil: now };
  const given = [givenEpisode(episode, indexed, { len: 0, x: new Uint8Array(0) })];
  return { episode, given };
}

it("a memory that its writer has handed over is known as soon as its commit is told, and is not read", async () => {
  const { model, reads, tell } = await followed();
  const { episode, given } = roses();

  model.expect(given);
  expect((await model.caughtUp(VERSION, "default"))?.slotOf(episode.id)).toBeUndefined();
  tell(episode.id, episode.id, episode.id);
  expect((await model.caughtUp(VERSION, "default"))?.rowAt(0)?.content).toBe("Roses.");
  model.unexpect(given);
  expect(reads).toHaveLength(0);

  // What changes it later is read.
  tell(episode.id);
  await turn();
  expect(reads.map(({ ids }) => ids)).toEqual([[episode.id]]);
  reads[0]?.answer();
  expect((await model.caughtUp(VERSION, "default"))?.slotOf(episode.id)).toBeUndefined();
});

it("counts that this process has made are known as soon as their commit is told; others are read", async () => {
  const { model, tell, tellCounted, counts } = await followed();
  const { episode, given } = roses();
  model.expect(given);
  tell(episode.id);
  model.unexpect(given);
  const row = async () => (await model.caughtUp(VERSION, "default"))?.rowAt(0);
  const at = new Date("2026-05-05T10:00:00Z");
  const counted = [
    {
      ...{ id: episode.id, reference_count: 3, last_referenced_at: at, prior_referenced_at: null, expires_at: at },
      ...{ version: VERSION, visible_until: at },
    },
  ];

  model.expectCounts(counted);
  expect(await row()).toMatchObject({ reference_count: 0, last_referenced_at: null });
  tellCounted(episode.id);
  expect(await row()).toMatchObject({
    ...{ reference_count: 3, last_referenced_at: at.getTime(), expires_at: at.getTime() },
  });
  model.unexpectCounts(counted);
  await model.settled();
  expect(counts).toEqual([]);

  tellCounted(episode.id);
  await model.settled();
  expect(counts).toEqual([[episode.id]]);
});

it("it is in step where everything that was told has been read, and only for its own version", async () => {
  const { model, reads, tell } = await followed();
  expect(model.inStep?.(VERSION)).toBeDefined();
  expect(model.inStep?.(VERSION + 1)).toBeUndefined();
  tell("a");
  expect(model.inStep?.(VERSION)).toBeUndefined();
  await turn();
  reads[0]?.answer();
  await model.caughtUp(VERSION, "default");
  expect(model.inStep?.(VERSION)).toBeDefined();
  await model.close();
  expect(model.inStep?.(VERSION)).toBeUndefined();
});

it("after a failure the store answers, and later the model is loaded again", async () => {
  for (const { failedMs, isBack } of [
    { failedMs: 0, isBack: true },
    { failedMs: 60_000, isBack: false },
  ]) {
    const { model, tell, fail } = await followed({ failedMs });
    fail(true);
    tell("a");
    expect(await model.caughtUp(VERSION, "default")).toBeUndefined();
    fail(false);
    await model.load(VERSION, "default");
    expect((await model.caughtUp(VERSION, "default")) !== undefined).toBe(isBack);
    await model.close();
  }
});
