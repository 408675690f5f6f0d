/** Random lives of a memory, drawn by fast-check: every kind of call that leaves an event. */
import fc from "fast-check";
import { jobs } from "../../src/engine/memory/keep/jobs.ts";
import type { Rig } from "./stores.ts";

type Living = Pick<Rig, "outcome" | "later" | "settled" | "memory" | "now">;

export interface Teller extends Living {
  readonly ids: string[];
  readonly rules: string[];
  readonly episodes: string[];
}

export type Step = (life: Teller) => Promise<void>;

const place = fc.nat(60);
const words = fc.constantFrom(
  "Berlin",
  "berlin.",
  "Berlin",
  "Hamburg",
  "Rome in spring",
  "Zoë likes 東京 & <tags>",
  "a'b\"c\\d",
);
const session = fc.option(fc.constantFrom("s1", "s2", "s3"), { nil: undefined });
const at = <T>(list: readonly T[], index: number): T | undefined => list[index % Math.max(1, list.length)];

/** Refusals are part of life; only what succeeds leaves a trace. */
async function tell(life: Teller, tool: string, input: object, extra = {}): Promise<string | undefined> {
  const outcome = await life.outcome(tool, input, extra);
  if (!outcome.ok) return undefined;
  const { id } = outcome.answer as { id?: string };
  if (id !== undefined && !life.ids.includes(id)) life.ids.push(id);
  return id;
}

const episode = fc
  .record(
    {
      content: words,
      session_id: fc.constantFrom("s1", "s2"),
      speaker: fc.constantFrom("Ann", "Bo"),
      occurred_at: fc.constantFrom("2025-01-01", "2026-02-28T10:00:00Z"),
      importance: fc.double({ min: 0, max: 10, noNaN: true }),
      tags: fc.constantFrom([], ["a"], ["a", "b c", 'q"']),
      metadata: fc.constantFrom({}, { deep: { n: [1, 2.5, null, "x"] }, big: 1e21 }),
    },
    { requiredKeys: ["content"] },
  )
  .map(
    (input): Step =>
      async (life) => {
        const id = await tell(life, "memory_store_episode", input);
        if (id !== undefined) life.episodes.push(id);
      },
  );

const fact = fc
  .tuple(
    fc.record(
      {
        subject: fc.constantFrom("user", "User"),
        predicate: fc.constantFrom("lives_in", "Lives In"),
        content: words,
        scope: fc.constantFrom("global", "general"),
        permanence: fc.constantFrom("permanent", "stable", "volatile", "ephemeral"),
        confidence: fc.double({ min: 0.3, max: 1, noNaN: true }),
        importance: fc.constantFrom(1, 7.5, 10),
        valid_from: fc.constantFrom("2024-06-01", "2026-01-01"),
        valid_to: fc.constantFrom("2020-01-01", "2026-03-20", "2030-01-01"),
      },
      { requiredKeys: ["subject", "predicate", "content"] },
    ),
    fc.option(place, { nil: undefined }),
  )
  .map(
    ([input, source]): Step =>
      async (life) => {
        const cited = source === undefined ? undefined : at(life.episodes, source);
        await tell(life, "memory_store_fact", {
          ...input,
          ...(cited === undefined ? {} : { source_episode_id: cited }),
        });
      },
  );

const rule = fc
  .tuple(fc.constantFrom("Deploy on Friday", "deploy on friday", "Ask before deleting", "Use tabs"), place)
  .map(
    ([content, source]): Step =>
      async (life) => {
        const cited = at(life.episodes, source);
        const id = await tell(life, "memory_store_rule", {
          content,
          tags: ["ops"],
          matcher: { tool: "bash" },
          ...(cited === undefined ? {} : { source_episode_id: cited }),
        });
        if (id !== undefined && !life.rules.includes(id)) life.rules.push(id);
      },
  );

const mark = fc.tuple(place, fc.constantFrom("helpful", "harmful", "harmful"), session, fc.nat(2)).map(
  ([index, outcome, session_id, n]): Step =>
    async (life) => {
      const rule_id = at(life.rules, index);
      if (rule_id === undefined) return;
      for (let i = 0; i <= n; i++)
        await tell(life, `memory_mark_${outcome}`, { rule_id, ...(session_id === undefined ? {} : { session_id }) });
    },
);

const change = fc
  .tuple(fc.constantFrom("memory_confirm", "memory_forget", "memory_restore", "memory_restore"), place)
  .map(
    ([tool, index]): Step =>
      async (life) => {
        const id = at(life.ids, index);
        if (id !== undefined) await tell(life, tool, tool === "memory_forget" ? { id, reason: "no longer" } : { id });
      },
  );

const undo = place.map(
  (index): Step =>
    async (life) => {
      const id = at(life.ids, index);
      if (id === undefined) return;
      await tell(life, "memory_forget", { id });
      await tell(life, "memory_restore", { id });
    },
);

const read = fc
  .tuple(fc.constantFrom("memory_search", "memory_context", "memory_get", "memory_recall"), place, session)
  .map(
    ([tool, index, from]): Step =>
      async (life) => {
        const extra = from === undefined ? {} : { session: from };
        const id = at(life.ids, index);
        const input = {
          memory_search: { query: "berlin rome deploy", mode: "keyword" },
          memory_context: { trigger_prompt: "Rome and Berlin" },
          memory_recall: { topic: "deploy on friday" },
          memory_get: { id: id ?? "0198c0de-1234-7abc-8def-0123456789ab" },
        }[tool] as object;
        await life.outcome(tool, input, extra);
      },
  );

const batch = fc.array(fc.tuple(words, session), { minLength: 1, maxLength: 4 }).map(
  (rows): Step =>
    async (life) => {
      const episodes = rows.map(([content, session_id]) => ({
        content,
        ...(session_id === undefined ? {} : { session_id }),
      }));
      await life.outcome("memory_ingest_batch", { episodes });
    },
);

const note = fc.tuple(words, fc.constantFrom("eden", "mid", "long")).map(
  ([content, tier]): Step =>
    async (life) =>
      void (await tell(life, "memory_store", { content, tier })),
);

/** All jobs, or only one: transitions, promotions and deletions by the jobs themselves. */
const work = fc.constantFrom(...jobs, undefined).map(
  (chosen): Step =>
    async ({ memory, now }) => {
      for (const job of chosen === undefined ? jobs : [chosen])
        await job.run({ memory, now, dryRun: false, interrupted: () => false });
    },
);

/** Eight days are more than an eden episode lives, so that its twin takes its place. */
const wait = fc.constantFrom(0.01, 0.6, 3, 8, 40).map(
  (days): Step =>
    async (life) =>
      life.later(days),
);

export const steps = (length: number) =>
  fc.array(
    fc.oneof(
      work,
      undo,
      undo,
      episode,
      episode,
      fact,
      fact,
      fact,
      rule,
      mark,
      mark,
      change,
      change,
      change,
      read,
      batch,
      note,
      wait,
    ),
    {
      minLength: length,
      maxLength: length,
    },
  );

/** What somebody does by calling tools, without time passing: what an undo can take back. */
export const deeds = (maxLength: number) =>
  fc.array(fc.oneof(episode, episode, fact, fact, fact, rule, rule, mark, mark, mark, change, change, undo, note), {
    minLength: 1,
    maxLength,
  });

export async function live(rig: Living, drawn: readonly Step[], known?: Teller): Promise<Teller> {
  const life: Teller = {
    outcome: rig.outcome,
    later: rig.later,
    settled: rig.settled,
    memory: rig.memory,
    get now() {
      return rig.now;
    },
    ids: [...(known?.ids ?? [])],
    rules: [...(known?.rules ?? [])],
    episodes: [...(known?.episodes ?? [])],
  };
  for (const step of drawn) await step(life);
  await life.settled();
  return life;
}
