/** Months that have already passed, lived by the engine itself on a moved clock while the daemon is stopped: nobody can wait for them. */
import { homeAt } from "../../../src/daemon/home.ts";
import { silentLog } from "../../../src/engine/adapters/log.ts";
import { jobs } from "../../../src/engine/memory/keep/jobs.ts";
import { jobRunner } from "../../../src/engine/memory/keep/run-job.ts";
import { openDb } from "../../../src/main/wiring/stores.ts";
import { scripted } from "../scripted-extractor.ts";
import { openRig, type Rig } from "../stores.ts";
import type { House } from "./house.ts";

const DAY_MS = 86_400_000;
/** Attempts are a minute, two, four and eight apart. */
const ATTEMPTS = 5;
const HOUR = 1 / 24;

export const PROVEN = "Ask before anything is booked that costs more than 50 euros.";
export const FADING = "a surprise trip to Oslo in the autumn";
export const POISON = "A text that no reader could make anything of, five times.";

/** The daemon is stopped meanwhile; its stores are there already. */
export async function livePast(house: House): Promise<void> {
  const { BUTLER_DATABASE_URL: databaseUrl } = house.variables;
  const db = await openDb({ folder: homeAt(house.home).store, databaseUrl }, "general", silentLog);
  const rig = await openRig(db);
  try {
    await live(rig, Date.now());
    await rig.settled();
  } finally {
    await rig.memory.close();
  }
}

async function live(rig: Rig, now: number): Promise<void> {
  const daysAgo = (days: number) => rig.set(new Date(now - days * DAY_MS));
  const runner = jobRunner(rig.memory, jobs);
  const job = (name: string) => runner.runNow(name, { dryRun: false, now: rig.now, interrupted: () => false });
  const fact = (predicate: string, content: string, permanence: string, more: object = {}) =>
    rig.call("memory_store_fact", { subject: "Ada", predicate, content, permanence, scope: "general", ...more });

  daysAgo(75);
  await fact("allergic to", "peanuts", "permanent", { importance: 10 });
  await fact("lives in", "Hamburg", "stable", { importance: 8 });
  await fact("plans", FADING, "volatile");
  await fact("waits for", "a parcel", "ephemeral");
  const rule = await rig.call("memory_store_rule", { content: PROVEN, scope: "general", tags: ["money"] });
  for (let n = 0; n < 16; n++) {
    daysAgo(70 - 2 * n);
    await rig.call("memory_mark_helpful", { rule_id: rule.id, session_id: `past-${n}` });
  }
  daysAgo(36);
  await fact("lives in", "Lisbon", "stable", { importance: 8 });
  daysAgo(30);
  await job("decay_sweep");
  daysAgo(20);
  await rig.call("memory_mark_helpful", {
    rule_id: rule.id,
    session_id: "past-last",
    note: "It stopped a wrong order.",
  });
  daysAgo(5);
  const told = { content: "Ada asked for a table for two on Friday.", session_id: "past-table", speaker: "Ada" };
  await rig.call("memory_store_episode", told);
  await job("consolidate");
  daysAgo(3);
  await job("decay_sweep");
  daysAgo(2);
  await failing(rig);
}

/** An episode that a provider answers wrongly until it is given up. */
async function failing(rig: Rig): Promise<void> {
  await rig.call("memory_store_episode", { content: POISON, session_id: "past-poison" });
  const memory = { ...rig.memory, extractor: scripted(() => "invalid_answer").extractor };
  const runner = jobRunner(memory, jobs);
  for (let n = 0; n < ATTEMPTS; n++) {
    await runner.runNow("consolidate", { dryRun: false, now: rig.now, interrupted: () => false });
    rig.later(HOUR);
  }
}
