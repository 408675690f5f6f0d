/** Times of the nightly sweep and of a replay, and of searches during the sweep. */

import type { Db } from "../../engine/adapters/db/port.ts";
import { decaySweep } from "../../engine/memory/keep/decay-sweep.ts";
import type { Memory } from "../../engine/memory/memory.ts";
import { replay } from "../../engine/memory/past/replay.ts";
import { asOwner } from "../../engine/memory/tenancy.ts";
import { callTool } from "../../engine/tools/call.ts";
import { round, type Spread, spread } from "../figures.ts";
import { episodeText, picker, queryText } from "../sentences.ts";

export interface SweepFigures {
  readonly facts: number;
  readonly changed: number;
  readonly seconds: number;
  readonly again_seconds: number;
  /** Times of keyword searches over the live episodes, one after the other, while the sweep runs. */
  readonly search_meanwhile: Spread;
  readonly peak_mb: number;
}

const IDENTITY = { name: "bench", tenant: "default", butler: "*", admin: true, voice: "user" } as const;

/** Facts made by SQL: a million through the write path would take hours. 10 % will fade and 5 % expire. */
async function fillFacts(db: Db, count: number, now: Date): Promise<void> {
  const size = 20_000;
  for (let from = 0; from < count; from += size)
    await db.query(
      `insert into facts (id, tenant_id, subject, predicate, subject_text, predicate_text, content, scope, validity,
         permanence, confidence, decay_rate, last_confirmed_at, source_butler, source, created_at)
       select gen_random_uuid(), 'default', 'subject ' || i, 'is', 'subject ' || i, 'is', 'the value of number ' || i,
         'global', 'active', 'volatile', 1, 0.03,
         $3::timestamptz - make_interval(days => case when i % 20 = 0 then 120 when i % 10 < 2 then 60 else i % 40 end),
         'bench', 'manual', $3::timestamptz - interval '200 days'
       from generate_series($1::int4, $2::int4) as i`,
      [from, Math.min(count, from + size) - 1, now],
    );
  await db.exec("analyze facts");
}

export async function measureSweep(memory: Memory, facts: number, residentMb: () => number): Promise<SweepFigures> {
  const now = memory.clock.now();
  await fillFacts(asOwner(memory, "lab"), facts, now);
  await storeEpisodes(memory, 500);
  const context = { memory, now, dryRun: false, interrupted: () => false };
  const times: number[] = [];
  let peak = residentMb();
  let running = true;
  const searching = (async () => {
    const words = picker(7);
    while (running) {
      const started = performance.now();
      const query = queryText(words);
      await callTool(memory, IDENTITY, { tool: "memory_search", input: { query, mode: "keyword" } });
      times.push(performance.now() - started);
      peak = Math.max(peak, residentMb());
      await new Promise((next) => setTimeout(next, 20));
    }
  })();
  const started = performance.now();
  const { changed } = await decaySweep.run(context);
  const seconds = (performance.now() - started) / 1000;
  running = false;
  await searching;
  const again = performance.now();
  await decaySweep.run(context);
  return {
    facts,
    changed,
    seconds: round(seconds, 2),
    again_seconds: round((performance.now() - again) / 1000, 2),
    search_meanwhile: spread(times),
    peak_mb: Math.round(peak),
  };
}

async function storeEpisodes(memory: Memory, count: number): Promise<void> {
  const words = picker(3);
  for (let from = 0; from < count; from += 100) {
    const episodes = Array.from({ length: Math.min(100, count - from) }, () => ({ content: episodeText(words) }));
    const outcome = await callTool(memory, IDENTITY, { tool: "memory_ingest_batch", input: { episodes } });
    if (!outcome.ok) throw new Error(outcome.error.message);
  }
}

export interface ReplayFigures {
  readonly events: number;
  readonly events_per_second: number;
}

/** Replays the events of freshly stored episodes into an empty store. */
export async function measureReplay(memory: Memory, episodes: number, into: Db): Promise<ReplayFigures> {
  await storeEpisodes(memory, episodes);
  await memory.afterwards.settled();
  const started = performance.now();
  const { events } = await replay(asOwner(memory, "lab"), into);
  return { events, events_per_second: Math.round(events / ((performance.now() - started) / 1000)) };
}
