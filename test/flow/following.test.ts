/** A call that is followed: until it is committed it can be cancelled and leaves nothing, and a long one says how far it is. */
import { expect, it } from "vitest";
import type { Following, Progress } from "../../src/engine/memory/following.ts";
import { callTool } from "../../src/engine/tools/call.ts";
import type { Outcome, ToolRequest } from "../../src/engine/tools/outcome.ts";
import { type HashEmbedder, hashEmbedder } from "../support/hash-embedder.ts";
import { gate } from "../support/owner-fakes.ts";
import { onEachStore, openRig, type Rig } from "../support/stores.ts";

const AGENT = { name: "test", tenant: "default", butler: "*", admin: false, voice: "user" } as const;
const CANCELLED = { ok: false, error: { code: "unavailable", message: expect.stringContaining("cancelled") } };

const follow = (rig: Rig, request: ToolRequest, following: Following): Promise<Outcome> =>
  callTool(rig.memory, AGENT, request, following);

const batch = (n: number) => ({
  episodes: Array.from({ length: n }, (_, at) => ({ content: `Row ${at} of the batch` })),
});

async function countOf(rig: Rig, table: string): Promise<number> {
  const [row] = await rig.db.query<{ n: number }>(`select count(*)::int4 as n from ${table}`);
  return row?.n ?? -1;
}

onEachStore("following", (open) => {
  async function withModel(): Promise<{ rig: Rig; model: HashEmbedder }> {
    const rig = await open({ model: false });
    const model = hashEmbedder("one");
    await rig.memory.adopt(model);
    return { rig, model };
  }

  it("a batch that is cancelled stops and leaves nothing; the others go on, and it can be sent again", async () => {
    const { rig, model } = await withModel();
    const reached = gate();
    const held = gate();
    model.before = async (text) => {
      if (Number(/^Row (\d+)/.exec(text)?.[1] ?? 0) < 20) return;
      reached.open();
      await held.passed;
    };
    const cancel = new AbortController();
    const request = { tool: "memory_ingest_batch", input: batch(300), idempotencyKey: "call:one" };
    const answer = follow(rig, request, { signal: cancel.signal });
    await reached.passed;
    const other = await rig.call("memory_store_episode", { content: "Told meanwhile", butler: "general" });
    cancel.abort();
    held.open();
    expect(await answer).toMatchObject(CANCELLED);
    expect(model.asked.length).toBeLessThan(40);
    expect(await rig.db.query("select id from episodes")).toEqual([{ id: other.id }]);
    expect(await countOf(rig, "memory_events")).toBe(1);
    expect(await countOf(rig, "idempotency_keys")).toBe(0);

    model.before = () => undefined;
    const again = await follow(rig, request, {});
    expect(again).toMatchObject({ ok: true });
    expect(await countOf(rig, "episodes")).toBe(301);
    // What is committed stays: a repeat of the same call gets its answer, whoever has cancelled since.
    expect(await follow(rig, request, { signal: new AbortController().signal })).toEqual(again);
    expect(await countOf(rig, "episodes")).toBe(301);
  });

  it("a call that was cancelled before it began does nothing, of every kind", async () => {
    const { rig } = await withModel();
    const signal = AbortSignal.abort();
    for (const [tool, input] of [
      ["memory_store_fact", { subject: "Ann", predicate: "likes", content: "tea" }],
      ["memory_search", { query: "tea" }],
      ["memory_context_batch", { requests: [{ trigger_prompt: "tea" }, { trigger_prompt: "coffee" }] }],
      ["memory_consolidate", {}],
    ] as const)
      expect(await follow(rig, { tool, input }, { signal }), tool).toMatchObject(CANCELLED);
    expect(await countOf(rig, "memory_events")).toBe(0);
  });

  it("a write that is cancelled inside of its transaction is rolled back", async () => {
    const { rig, model } = await withModel();
    const cancel = new AbortController();
    model.before = () => cancel.abort();
    const input = { subject: "Ann", predicate: "likes", content: "tea" };
    const request = { tool: "memory_store_fact", input, idempotencyKey: "call:two" };
    expect(await follow(rig, request, { signal: cancel.signal })).toMatchObject(CANCELLED);
    expect(await countOf(rig, "facts")).toBe(0);
    expect(await countOf(rig, "embeddings")).toBe(0);
    expect(await follow(rig, request, {})).toMatchObject({ ok: true, answer: { status: "created" } });
  });

  it("a search that is cancelled while its question is embedded goes no further", async () => {
    const { rig, model } = await withModel();
    await rig.call("memory_store_fact", { subject: "Ann", predicate: "likes", content: "tea" });
    await rig.settled();
    const cancel = new AbortController();
    model.before = () => cancel.abort();
    const request = { tool: "memory_search", input: { query: "what does Ann like" } };
    expect(await follow(rig, request, { signal: cancel.signal })).toMatchObject(CANCELLED);
    await rig.settled();
    const [row] = await rig.db.query<{ reference_count: number }>("select reference_count from facts");
    expect(row?.reference_count).toBe(0);
  });

  it("a search in the past tells the events it has read, and stops between two pages", async () => {
    const rig = await open({ model: false });
    for (let part = 0; part < 5; part++) {
      const episodes = batch(500).episodes.map(({ content }) => ({ content: `${content}, part ${part}` }));
      await rig.call("memory_ingest_batch", { episodes });
    }
    const as_of = rig.now.toISOString();
    rig.later(1);
    const request = { tool: "memory_search", input: { query: "row 7", as_of, limit: 1 } };
    const cancel = new AbortController();
    const seen: number[] = [];
    const tell = ({ done }: Progress) => {
      seen.push(done);
    };
    const stop = (step: Progress) => {
      tell(step);
      cancel.abort();
    };
    expect(await follow(rig, request, { signal: cancel.signal, progress: stop })).toMatchObject(CANCELLED);
    expect(seen.splice(0)).toEqual([2000]);

    // What was read before stays, so the next one has 500 to read.
    expect(await follow(rig, request, { progress: tell })).toMatchObject({ ok: true });
    expect(seen).toEqual([]);
    const anew = await openRig(rig.db);
    expect(await follow(anew, request, { progress: tell })).toMatchObject({ ok: true });
    expect(seen).toEqual([2000, 2500]);
  });

  it("a batch tells about twenty steps that grow up to its size", async () => {
    const { rig } = await withModel();
    const steps: Progress[] = [];
    const request = { tool: "memory_ingest_batch", input: batch(90) };
    await follow(rig, request, { progress: (step) => steps.push(step) });
    expect(steps.map(({ done }) => done)).toEqual(Array.from({ length: 18 }, (_, at) => (at + 1) * 5));
    expect(new Set(steps.map(({ total }) => total))).toEqual(new Set([90]));
  });

  it("what an agent learned can be cancelled and given again", async () => {
    const { rig, model } = await withModel();
    await rig.call("memory_ingest_batch", batch(3));
    const told: Progress[] = [];
    const given = await follow(rig, { tool: "memory_consolidate", input: {} }, { progress: (step) => told.push(step) });
    expect(told).toMatchObject([{ done: 1, total: 2 }]);
    const { run_id } = (given as Extract<Outcome, { ok: true }>).answer;
    const facts = Array.from({ length: 10 }, (_, at) => ({
      ...{ subject: `thing ${at}`, predicate: "is", content: `number ${at}`, permanence: "standard", episodes: ["e1"] },
    }));
    const cancel = new AbortController();
    model.before = () => cancel.abort();
    const request = { tool: "memory_consolidate", input: { run_id, facts } };
    expect(await follow(rig, request, { signal: cancel.signal })).toMatchObject(CANCELLED);
    expect(await countOf(rig, "facts")).toBe(0);
    model.before = () => undefined;
    const steps: number[] = [];
    expect(await follow(rig, request, { progress: ({ done }) => steps.push(done) })).toMatchObject({ ok: true });
    expect(steps).toEqual(Array.from({ length: 10 }, (_, at) => at + 1));
  });
});
