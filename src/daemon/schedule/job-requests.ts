/** What people ask about jobs: what there is and when it runs, what ran, and "run this one now". */
import { z } from "zod";
import type { Clock } from "../../engine/adapters/clock.ts";
import { conflict, invalid, MemoryError, notFound, reasonOf } from "../../engine/domain/errors.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Job } from "../../engine/memory/keep/job.ts";
import type { Ran } from "../../engine/memory/keep/run-job.ts";
import type { JobRun } from "../../engine/store/jobs/job-runs.ts";
import type { Outcome } from "../../engine/tools/outcome.ts";
import { keepers, type Roster } from "../roster/roster.ts";
import { nextSlot, type Zone } from "./cron.ts";
import { planOf, type Scheduler } from "./scheduler.ts";

export const JobRequest = z.discriminatedUnion("ask", [
  z.strictObject({ ask: z.literal("list"), butler: z.string().optional() }),
  z.strictObject({
    ask: z.literal("history"),
    butler: z.string(),
    job: z.string().optional(),
    limit: z.number().int().min(1).max(1_000),
  }),
  /** Repeated with the same ticket it does not start again, and says how it goes. */
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
  /** A job wrote to this store, which wants to be tidied. */
  changed(butler: string): void;
}

/** An answer comes at least this often, so that no connection waits for a long job. */
const PATIENCE_MS = 5_000;
/** How long a result is kept for whoever asked for it. */
const KEPT_MS = 10 * 60_000;

export function jobRequests(parts: JobRequestParts): (request: unknown) => Promise<Outcome> {
  const { clock, jobs, scheduler } = parts;
  const tickets = new Map<string, Promise<Outcome>>();

  function configOf(butler: string) {
    const roster = parts.roster();
    const config = roster.find(({ name }) => name === butler);
    if (!config)
      throw notFound(`There is no butler "${butler}"; there is ${roster.map(({ name }) => name).join(", ")}.`);
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

  async function list(butler: string | undefined): Promise<Outcome> {
    const chosen = butler === undefined ? keepers(parts.roster()) : [configOf(butler)];
    const rows = [];
    for (const config of chosen) {
      const plan = new Map(planOf(config, jobs).map(({ job, cron }) => [job, cron]));
      const latest = (await parts.hasStore(config.name))
        ? await parts.visit(config.name, ({ runs }) => runs.latest())
        : [];
      for (const { name, about } of jobs) {
        const cron = plan.get(name);
        const next = cron === undefined || clock.fixed ? undefined : nextSlot(cron, clock.now(), parts.zone);
        const last = latest.find(({ job }) => job === name);
        rows.push({
          butler: config.name,
          job: name,
          about,
          cron: cron ?? null,
          last: last ? runAnswer(last) : null,
          next: next?.toISOString() ?? null,
        });
      }
    }
    return { ok: true, answer: { jobs: rows } };
  }

  async function history(butler: string, job: string | undefined, limit: number): Promise<Outcome> {
    configOf(butler);
    if (job !== undefined) known(job);
    if (!(await parts.hasStore(butler))) return { ok: true, answer: { butler, runs: [] } };
    const runs = await parts.visit(butler, (engine) => engine.runs.history({ job, limit }));
    return { ok: true, answer: { butler, runs: runs.map(runAnswer) } };
  }

  function known(job: string): void {
    const names = jobs.map(({ name }) => name);
    if (!names.some((name) => name === job))
      throw invalid("job", `There is no job "${job}"; there is ${names.join(", ")}.`);
  }

  async function runOnce(request: Extract<JobRequest, { ask: "run" }>): Promise<Outcome> {
    const { butler, job, dry_run: dryRun } = request;
    configOf(butler);
    known(job);
    const now = nowOf(clock, request.now);
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

  async function run(request: Extract<JobRequest, { ask: "run" }>): Promise<Outcome> {
    const { ticket, butler, job } = request;
    const under = tickets.get(ticket) ?? runOnce(request).catch(refusal);
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

  return async (asked) => {
    const request = JobRequest.safeParse(asked);
    if (!request.success)
      return refusal(
        new MemoryError("unavailable", 'The running owner is of another build: "butler stop" ends it, then try again.'),
      );
    const { data } = request;
    try {
      if (data.ask === "list") return await list(data.butler);
      if (data.ask === "history") return await history(data.butler, data.job, data.limit);
      return await run(data);
    } catch (error) {
      return refusal(error);
    }
  };
}

/** As for tools: fixed time takes the caller's, real time refuses it. */
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

const ranAnswer = ({ job, state, report, error }: Ran) => ({
  job,
  state,
  report: report ?? null,
  error: error ?? null,
});
