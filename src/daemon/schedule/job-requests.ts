/** Answers `butler job`: lists jobs with their next run, shows what ran, and runs one now. */
import { z } from "zod";
import type { Clock } from "../../engine/adapters/clock.ts";
import { conflict, invalid, MemoryError, notFound, reasonOf } from "../../engine/domain/errors.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Job } from "../../engine/memory/keep/job.ts";
import type { JobResult } from "../../engine/memory/keep/perform-run.ts";
import type { JobRun } from "../../engine/store/jobs/job-runs.ts";
import type { Outcome } from "../../engine/tools/outcome.ts";
import type { ButlerConfig } from "../config/config.ts";
import { keptHere, type Roster } from "../roster/roster.ts";
import { nextSlot, type Zone } from "./cron.ts";
import type { Scheduler } from "./scheduler.ts";
import { planOf } from "./slots.ts";

export const JobRequest = z.discriminatedUnion("ask", [
  z.strictObject({ ask: z.literal("list"), butler: z.string().optional() }),
  z.strictObject({
    ask: z.literal("history"),
    butler: z.string(),
    job: z.string().optional(),
    limit: z.number().int().min(1).max(1_000),
  }),
  /** Repeated with the same ticket it does not start a second run: it answers with the state of the first. */
  z.strictObject({
    ask: z.literal("run"),
    butler: z.string(),
    job: z.string(),
    dry_run: z.boolean(),
    ticket: z.string().min(1),
    now: z.string().optional(),
  }),
]);
export type JobRequest = z.infer<typeof JobRequest>;

export interface JobRequestParts {
  roster(): Roster;
  readonly clock: Clock;
  readonly jobs: readonly Job[];
  readonly scheduler: Scheduler;
  readonly zone?: Zone;
  hasStore(butler: string): Promise<boolean>;
  visit<T>(butler: string, work: (engine: Engine) => Promise<T>): Promise<T>;
  /** A job wrote to this store: maintenance is due. */
  changed(butler: string): void;
}

/** Runs that people asked for, by ticket. */
type Tickets = Map<string, Promise<Outcome>>;
type RunRequest = Extract<JobRequest, { ask: "run" }>;

/** After this long the answer is `running`, and the client asks again: no connection waits for a long job. */
const PATIENCE_MS = 5_000;
/** How long a result is kept for whoever asked for it. */
const KEPT_MS = 10 * 60_000;

/** The returned function never throws. */
export function jobRequests(parts: JobRequestParts): (request: unknown) => Promise<Outcome> {
  const tickets: Tickets = new Map();
  return async (asked) => {
    const request = JobRequest.safeParse(asked);
    if (!request.success)
      return refusal(
        new MemoryError("unavailable", 'The running owner is of another build: "butler stop" ends it, then try again.'),
      );
    const { data } = request;
    try {
      if (data.ask === "list") return await list(parts, data.butler);
      if (data.ask === "history") return await history(parts, data.butler, data.job, data.limit);
      return await run(parts, tickets, data);
    } catch (error) {
      return refusal(error);
    }
  };
}

/** Throws for a butler without jobs here: an unknown one, or one whose memory is off or kept elsewhere. */
function configOf({ roster }: JobRequestParts, butler: string): ButlerConfig {
  const all = roster();
  const config = all.find(({ name }) => name === butler);
  if (!config) throw notFound(`There is no butler "${butler}"; there is ${all.map(({ name }) => name).join(", ")}.`);
  if (!config.memory.enabled)
    throw new MemoryError(
      "unavailable",
      `"${butler}" has no memory; [modules.memory] in its butler.toml switches it on.`,
    );
  if (config.memory.service !== undefined)
    throw new MemoryError(
      "unavailable",
      `"${butler}" keeps its memory at ${config.memory.service}, where its jobs run.`,
    );
  return config;
}

function refuseUnknown({ jobs }: JobRequestParts, job: string): void {
  const names = jobs.map(({ name }) => name);
  if (!names.some((name) => name === job))
    throw invalid("job", `There is no job "${job}"; there is ${names.join(", ")}.`);
}

async function list(parts: JobRequestParts, butler: string | undefined): Promise<Outcome> {
  const { clock, jobs, zone } = parts;
  const chosen = butler === undefined ? keptHere(parts.roster()) : [configOf(parts, butler)];
  const rows = [];
  for (const config of chosen) {
    const plan = new Map(planOf(config, jobs).map(({ job, cron }) => [job, cron]));
    const there = await parts.hasStore(config.name);
    const latest = there ? await parts.visit(config.name, ({ runs }) => runs.latest()) : [];
    const late = parts.scheduler.overdue(config.name);
    for (const { name, about } of jobs) {
      const cron = plan.get(name);
      const next = cron === undefined || clock.fixed ? undefined : nextSlot(cron, clock.now(), zone);
      const last = latest.find(({ job }) => job === name);
      rows.push({
        butler: config.name,
        job: name,
        about,
        cron: cron ?? null,
        last: last ? runAnswer(last) : null,
        next: next?.toISOString() ?? null,
        overdue_seconds: late === undefined ? null : Math.round(late[name] ?? 0),
      });
    }
  }
  return { ok: true, answer: { jobs: rows } };
}

async function history(
  parts: JobRequestParts,
  butler: string,
  job: string | undefined,
  limit: number,
): Promise<Outcome> {
  configOf(parts, butler);
  if (job !== undefined) refuseUnknown(parts, job);
  if (!(await parts.hasStore(butler))) return { ok: true, answer: { butler, runs: [] } };
  const found = await parts.visit(butler, ({ runs }) => runs.history({ job, limit }));
  return { ok: true, answer: { butler, runs: found.map(runAnswer) } };
}

async function run(parts: JobRequestParts, tickets: Tickets, request: RunRequest): Promise<Outcome> {
  const { ticket, butler, job } = request;
  const under = tickets.get(ticket) ?? runOnce(parts, request).catch(refusal);
  if (!tickets.has(ticket)) {
    tickets.set(ticket, under);
    void under.then(() => setTimeout(() => tickets.delete(ticket), KEPT_MS).unref());
  }
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<Outcome>((done) => {
    timer = setTimeout(() => done({ ok: true, answer: { butler, job, state: "running" } }), PATIENCE_MS);
  });
  return Promise.race([under, patience]).finally(() => clearTimeout(timer));
}

async function runOnce(parts: JobRequestParts, request: RunRequest): Promise<Outcome> {
  const { scheduler } = parts;
  const { butler, job, dry_run: dryRun } = request;
  configOf(parts, butler);
  refuseUnknown(parts, job);
  const now = nowOf(parts.clock, request.now);
  const started = performance.now();
  const ran = await scheduler.track(() =>
    parts.visit(butler, async (engine) => {
      const done = await engine.runJob(job, { dryRun, now, interrupted: scheduler.stopping });
      if (!dryRun) parts.changed(butler);
      return done;
    }),
  );
  const seconds = Math.round((performance.now() - started) / 10) / 100;
  return { ok: true, answer: { butler, dry_run: dryRun, seconds, ...ranAnswer(ran) } };
}

/** As for tools: an owner on a fixed clock takes the caller's time, one on real time refuses it. */
function nowOf(clock: Clock, asked: string | undefined): Date | undefined {
  if (asked === undefined) return undefined;
  if (!clock.fixed)
    throw conflict(
      "BUTLER_NOW is set, but the memory runs on real time: unset it, or stop the owner and start it with BUTLER_NOW.",
    );
  return new Date(asked);
}

function refusal(error: unknown): Outcome {
  if (!(error instanceof MemoryError)) return { ok: false, error: { code: "internal", message: reasonOf(error) } };
  const { code, message, field } = error;
  return { ok: false, error: { code, message, ...(field === undefined ? {} : { field }) } };
}

const runAnswer = (run: JobRun) => ({
  ...run,
  slot: run.slot?.toISOString() ?? null,
  started_at: run.started_at.toISOString(),
  finished_at: run.finished_at?.toISOString() ?? null,
});

const ranAnswer = ({ job, state, report, error }: JobResult) => ({
  job,
  state,
  report: report ?? null,
  error: error ?? null,
});
