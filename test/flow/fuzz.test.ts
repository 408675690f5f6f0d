/** Every tool and every route of the pages' API, with inputs that nearly fit: an answer or a refusal in words, and nothing stored that should not be. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { z } from "zod";
import { apiRoutes } from "../../src/doors/http/api/routes.ts";
import { openPglite } from "../../src/engine/adapters/db/pglite.ts";
import { ERROR_CODES } from "../../src/engine/domain/errors.ts";
import { verifyReplay } from "../../src/engine/memory/past/replay.ts";
import { tools } from "../../src/engine/tools/index.ts";
import { importTranscripts } from "../../src/hosts/transcripts/import-transcripts.ts";
import { apiOver } from "../support/api-rig.ts";
import { anyText, fitting, fuzzed, type Schema, spoiled } from "../support/fuzz.ts";
import { bent, TRANSCRIPT_ROWS } from "../support/fuzz-transcripts.ts";
import { watchHeap } from "../support/heap.ts";
import { verifyInScratch } from "../support/scratch.ts";
import { migratedSnapshot, onEachStore, type Rig } from "../support/stores.ts";

/** Whatever is asked, it is never we who failed. */
const CODES = new Set<string>(ERROR_CODES.filter((code) => code !== "internal" && code !== "unauthorized"));

/** In bytes, after the first third. A few kilobytes kept of each call would pass it; what the tests store themselves takes a tenth. */
const MOST_GROWN = 12_000_000;

async function planted(rig: Rig): Promise<string[]> {
  const fact = await rig.call("memory_store_fact", { subject: "office", predicate: "is in", content: "Graz" });
  const rule = await rig.call("memory_store_rule", { content: "Run the tests before a commit." });
  const episode = await rig.call("memory_store_episode", { content: "We moved the office.", session_id: "s1" });
  return [fact.id, rule.id, episode.id, "01990000-0000-7000-8000-000000000000"].map(String);
}

onEachStore("inputs that nearly fit", (open, store) => {
  it("of every tool", async () => {
    const rig = await open({ model: false });
    const ids = await planted(rig);
    const all = tools.map(({ name, input }) => ({
      name,
      schema: z.toJSONSchema(input, { io: "input", unrepresentable: "any" }) as Schema,
    }));
    const answered = new Map<string, number>();
    const times = store === "PGlite" ? 6_000 : 1_500;
    const heap = watchHeap(times / 3);
    await fuzzed(times, async (d, told) => {
      await heap.step();
      const { name, schema } = d.one(all);
      const input = fitting(d, schema, ids) as Record<string, unknown>;
      const outcome = await rig.outcome(name, input);
      if (outcome.ok) answered.set(name, (answered.get(name) ?? 0) + 1);
      else
        expect(
          CODES.has(outcome.error.code),
          `${told}: ${name} ${JSON.stringify(input)} → ${JSON.stringify(outcome.error)}`,
        ).toBe(true);
    });
    await rig.settled();
    expect(await heap.grown()).toBeLessThan(MOST_GROWN);
    // Refusals alone would show nothing.
    expect([...answered.values()].reduce((sum, n) => sum + n, 0)).toBeGreaterThan(300);
    expect(answered.size).toBeGreaterThan(tools.length / 2);
    const scratch = await openPglite({ dir: undefined, snapshot: await migratedSnapshot() });
    const { differences, orphans } = await verifyReplay(rig.db, scratch).finally(() => scratch.close());
    expect({ differences, orphans }).toEqual({ differences: [], orphans: [] });
    const [broken] = await rig.db.query<{ n: number }>(
      `select count(*)::int4 as n from (select content from episodes union all select content from facts union all select content from rules) t
       where btrim(content) = '' or length(content) > 100000`,
    );
    expect(broken?.n).toBe(0);
  });

  it("of transcripts that are imported", async () => {
    const rig = await open({ model: false });
    const folder = mkdtempSync(join(tmpdir(), "fuzz-import-"));
    let [stored, n] = [0, 0];
    try {
      await fuzzed(40, async (d, told) => {
        const agent = d.one(["claude-code", "codex"] as const);
        const lines = Array.from({ length: 30 }, () => JSON.stringify(bent(d, d.one(TRANSCRIPT_ROWS[agent]))));
        const path = join(folder, `rollout-${n++}.jsonl`);
        writeFileSync(path, spoiled(d, `${lines.join("\n")}\n`));
        const done = await importTranscripts({
          ...{ roots: [{ agent, path }], since: undefined, signal: new AbortController().signal },
          project: () => undefined,
          store: async (rows, { session }) =>
            (await rig.outcome("memory_ingest_batch", { episodes: rows }, { session })) as never,
        });
        expect(done.complete, told).toBe(true);
        stored += done.stored;
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
    await rig.settled();
    expect(stored).toBeGreaterThan(10);
    const [rows] = await rig.db.query<{ n: number; blank: number }>(
      "select count(*)::int4 as n, count(*) filter (where btrim(content) = '')::int4 as blank from episodes",
    );
    expect(rows).toEqual({ n: stored, blank: 0 });
    expect(await verifyInScratch(rig.db)).toMatchObject({ differences: [], orphans: [] });
  });

  it("of every route", async () => {
    const rig = await open({ model: false });
    const ids = await planted(rig);
    const api = apiOver(rig);
    const all = apiRoutes.map(({ method, path, input }) => ({
      method,
      path,
      schema: z.toJSONSchema(input, { io: "input", unrepresentable: "any" }) as Schema,
    }));
    let answered = 0;
    const times = store === "PGlite" ? 3_000 : 600;
    const heap = watchHeap(times / 3);
    await fuzzed(times, async (d, told) => {
      await heap.step();
      const { method, path, schema } = d.one(all);
      const given = fitting(d, schema, ids);
      const one = () =>
        encodeURIComponent(d.chance(0.8) ? d.one(ids) : Buffer.from(anyText(d).slice(0, 500)).toString()) || "x";
      const at = path.replace(":name", d.chance(0.95) ? "general" : one()).replace(/:\w+/g, one);
      const fields = Object.entries((given ?? {}) as object).map(([name, value]) => [
        name,
        String(value).slice(0, 5_000),
      ]);
      const query = new URLSearchParams(fields as [string, string][]);
      const asked = method === "GET" ? `${at}?${query}` : at;
      const sent = d.chance(0.1) ? spoiled(d, JSON.stringify(given) ?? "") : given;
      const { status, body } = await api.ask(method, asked, method === "GET" ? {} : { body: sent });
      if (status === 200) answered += 1;
      const refused = body.error?.code;
      const is = status === 200 || CODES.has(refused) || status === 404 || status === 429;
      expect(
        is,
        `${told}: ${method} ${asked} ${JSON.stringify(sent)} → ${status} ${JSON.stringify(body).slice(0, 300)}`,
      ).toBe(true);
    });
    expect(answered).toBeGreaterThan(100);
    await rig.settled();
    expect(await heap.grown()).toBeLessThan(MOST_GROWN);
  });
});
