/** A year in seconds: the clock moves day by day, the jobs run each night, and the events tell what became of each memory. */

import { DAY_MS, effectiveConfidence, type Permanence } from "../../engine/domain/lifecycle/decay.ts";
import { clip } from "../../engine/domain/text/text.ts";
import { jobNamed } from "../../engine/memory/keep/jobs.ts";
import type { Memory } from "../../engine/memory/memory.ts";
import { asOwner } from "../../engine/memory/tenancy.ts";
import { isLive, isLiveEpisode } from "../../engine/store/memories/live.ts";
import type { ToolAnswer, ToolInput } from "../../engine/tools/index.ts";
import type { AnyToolName } from "../../engine/tools/typed-call.ts";
import { COLUMNS, type Paint, title } from "./words.ts";

export type Ask = <N extends AnyToolName>(tool: N, input: ToolInput<N>, session: string) => Promise<ToolAnswer<N>>;

export interface YearStage {
  readonly memory: Memory;
  readonly start: Date;
  /** Moves the clock. */
  set(now: Date): void;
  readonly ask: Ask;
  /** Called once a month, so that a person sees it live. */
  progress(day: number): void;
}

export interface Step {
  readonly day: number;
  readonly date: string;
  readonly memory: string;
  readonly event: string;
  readonly why: string;
}

export interface Year {
  readonly steps: readonly Step[];
  /** Effective confidence at noon of each day; null once the memory is not recalled any more. */
  readonly curves: readonly { readonly memory: string; readonly values: readonly (number | null)[] }[];
  readonly stats: ToolAnswer<"memory_stats">;
}

export const DAYS = 365;
const NIGHTLY = ["consolidate", "promote", "decay_sweep", "episode_cleanup"] as const;

/** The days on which an episode is recalled: five in a row, then one a week until it is promoted to the long tier. */
const VISITS: readonly (readonly [day: number, session: string])[] = [
  [0, "mon"],
  [0, "tue"],
  [0, "wed"],
  ...[2, 4, 9, 11, 13, 15, 18, 20, 22, 24].map((day) => [day, `visit-${day}`] as const),
];

export async function liveYear(stage: YearStage): Promise<Year> {
  const { ask, memory } = stage;
  stage.set(stage.start);
  const fact = async (predicate: string, content: string, permanence: Permanence) =>
    (await ask("memory_store_fact", { subject: "user", predicate, content, permanence }, "first")).id;
  const rule = async (content: string) => (await ask("memory_store_rule", { content }, "first")).id;
  const episode = async (content: string) =>
    (await ask("memory_store_episode", { butler: memory.butler, content, session_id: "first" }, "first")).id;
  const cast = {
    "a permanent fact": await fact("born_in", "Lisbon", "permanent"),
    "a volatile fact": await fact("waiting_for", "the review of the invoice export", "volatile"),
    "a standard fact, confirmed once": await fact("editor", "Helix", "standard"),
    "an ephemeral fact": await fact("mood", "tired after the night shift", "ephemeral"),
    "a rule that helps": await rule("Try a migration on a copy of production first."),
    "a rule that harms": await rule("Restart the worker when its queue grows."),
    "a rule nobody marks": await rule("Name branches after their ticket."),
    "an episode that is asked for": await episode(
      "Always test a migration on a copy of production before the real run.",
    ),
    "an episode nobody asks for": await episode("The coffee machine on the second floor is broken again."),
  };
  const curves = new Map<string, (number | null)[]>(Object.keys(cast).map((name) => [name, []]));
  for (let day = 0; day <= DAYS; day++) {
    if (day % 30 === 0) stage.progress(day);
    stage.set(new Date(stage.start.getTime() + day * DAY_MS + 3 * 3_600_000));
    await evidence(day);
    stage.set(new Date(stage.start.getTime() + day * DAY_MS + 12 * 3_600_000));
    await memory.afterwards.settled();
    await nightly(memory);
    for (const [name, id] of Object.entries(cast)) curves.get(name)?.push(await confidenceOf(memory, id));
  }
  return {
    steps: await stepsOf(stage, cast),
    curves: [...curves].map(([name, values]) => ({ memory: name, values })),
    stats: await ask("memory_stats", {}, "last"),
  };

  async function evidence(day: number): Promise<void> {
    for (const [when, session] of VISITS)
      if (when === day) await ask("memory_get", { id: cast["an episode that is asked for"] }, session);
    if (day === 60) await ask("memory_confirm", { id: cast["a standard fact, confirmed once"] }, "later");
    if (day > 0 && day % 3 === 0 && day <= 45)
      await ask("memory_mark_helpful", { rule_id: cast["a rule that helps"], session_id: `trial-${day}` }, "trial");
    if (day === 10 || day === 20 || day === 30)
      await ask(
        "memory_mark_harmful",
        { rule_id: cast["a rule that harms"], reason: "payments under way were lost", session_id: `harm-${day}` },
        "harm",
      );
  }
}

async function nightly(memory: Memory): Promise<void> {
  const context = { memory, now: memory.clock.now(), dryRun: false, interrupted: () => false };
  for (const name of NIGHTLY) await jobNamed(name)?.run(context);
}

async function confidenceOf(memory: Memory, id: string): Promise<number | null> {
  const [row] = await asOwner(memory, "lab").query<{ confidence: number; decay_rate: number; last_confirmed_at: Date }>(
    `select confidence, decay_rate, last_confirmed_at from facts where id = $1 and ${isLive()}
     union all
     select confidence, decay_rate, last_confirmed_at from rules where id = $1 and ${isLive()}
     union all
     select 1, 0, created_at from episodes where id = $1 and ${isLiveEpisode("", "$2")}`,
    [id, memory.clock.now()],
  );
  return row === undefined ? null : effectiveConfidence(row, memory.clock.now());
}

type StreamPage = ToolAnswer<"memory_activity_stream">;

async function stepsOf(stage: YearStage, cast: Record<string, string>): Promise<Step[]> {
  const names = new Map(Object.entries(cast).map(([name, id]) => [id, name]));
  const steps: Step[] = [];
  for (let cursor: string | undefined; ; ) {
    const page: StreamPage = await stage.ask(
      "memory_activity_stream",
      { limit: 1000, ...(cursor ? { cursor } : {}) },
      "last",
    );
    for (const event of page.events) {
      const name =
        names.get(event.entity_id) ?? (event.event_type.endsWith(".stored") ? "what was distilled" : undefined);
      if (name === undefined || isLeftOut(event.event_type)) continue;
      const at = new Date(event.occurred_at).getTime() - stage.start.getTime();
      const date = event.occurred_at.slice(0, 10);
      steps.push({ day: Math.floor(at / DAY_MS), date, memory: name, event: event.event_type, why: whyOf(event) });
    }
    if (!page.more) return steps;
    cursor = page.next_cursor;
  }
}

/** Leaves out marks and attempts: the changes of maturity that they lead to say more. */
const LEFT_OUT = ["rule.marked_helpful", "rule.marked_harmful", "episode.consolidation_attempted"];
const isLeftOut = (type: string) => LEFT_OUT.includes(type);

function whyOf({ payload }: StreamPage["events"][number]): string {
  const numbers = Object.entries(payload).filter(([, value]) => typeof value === "number" || typeof value === "string");
  return numbers
    .map(([key, value]) => `${key} ${typeof value === "number" ? Number(value.toFixed(3)) : clip(value as string, 24)}`)
    .join(", ");
}

const LEVELS = "▁▂▃▄▅▆▇█";
const PLOT = 60;

export function yearLines(year: Year, paint: Paint): string[] {
  const width = Math.max(...year.curves.map(({ memory }) => memory.length));
  return [
    title("What happened, from the audit stream", paint),
    ...year.steps.map(({ day, date, memory, event, why }) => {
      const line = `  ${String(day).padStart(3)}  ${date}  ${event.padEnd(20)} ${memory.padEnd(width)}`;
      return `${line}  ${paint("dim", clip(why, Math.max(10, COLUMNS - line.length - 2)))}`.trimEnd();
    }),
    title(
      "Effective confidence over the year (█ is 1, ▂ about 0.2: below it nothing is recalled; · is out of sight)",
      paint,
    ),
    `  ${" ".repeat(width)}  J${monthRuler()}`,
    ...year.curves.map(({ memory, values }) => `  ${memory.padEnd(width)}  ${plot(values)}`),
  ];
}

/** The axis has a tick every thirty days. */
const monthRuler = () =>
  Array.from({ length: PLOT - 1 }, (_, i) =>
    Math.floor(((i + 1) * DAYS) / PLOT / 30) > Math.floor((i * DAYS) / PLOT / 30) ? "┴" : "─",
  ).join("");

function plot(values: readonly (number | null)[]): string {
  return Array.from({ length: PLOT }, (_, i) => {
    const value = values[Math.floor((i * DAYS) / PLOT)];
    return value === null || value === undefined ? "·" : (LEVELS[Math.min(7, Math.floor(value * 8))] ?? "·");
  }).join("");
}
