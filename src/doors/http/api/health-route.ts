/** Whether a butler is well: `/api/butlers/:name/memory/health`. It answers within five seconds when the store does not. */
import { z } from "zod";
import { CONDITIONS } from "../../../engine/domain/health/conditions.ts";
import type { Outcome } from "../../../engine/tools/outcome.ts";
import { viewToday } from "../../../engine/views/numbers/today.ts";
import type { Standing } from "../../backend.ts";
import { type ApiRoute, type Asked, MEMORY, refusal } from "./define.ts";

const JobRun = z.looseObject({ state: z.string(), started_at: z.string(), finished_at: z.string().nullable() });
const Job = z.looseObject({
  job: z.string(),
  about: z.string(),
  cron: z.string().nullable(),
  last: JobRun.nullable(),
  next: z.string().nullable(),
  overdue_seconds: z
    .number()
    .nullable()
    .optional()
    .describe("How late its run is; 0 when it is on time, null when nobody knows."),
});
export const Jobs = z.object({ jobs: z.array(Job) });

const Condition = z.object({
  id: z.enum(CONDITIONS),
  state: z.enum(["ok", "not_ok", "unknown"]),
  since: z.string().describe("As far as the running daemon knows."),
  says: z.string(),
  what_to_do: z.string().nullable().describe("Null while it is ok."),
});

const Latency = z.object({
  tool: z.string(),
  calls: z.number(),
  failed: z.number().describe("For a reason of ours: what a caller did wrong is not counted."),
  p50_ms: z.number(),
  p95_ms: z.number(),
});

export const Health = z.object({
  name: z.string(),
  ok: z.boolean().describe("False when the store does not answer or a condition is not ok."),
  store: z.enum(["open", "closed", "off", "failed", "unknown"]),
  reason: z.string().optional(),
  version: z.string(),
  model: z.string(),
  waiting: viewToday.output.shape.waiting.nullable().describe("Null when nobody knows; reason says why."),
  jobs: Jobs.shape.jobs.nullable(),
  sampled_at: z.string().nullable().describe("When the numbers below were read; null when they are not known."),
  conditions: z.array(Condition).describe("Empty for callers who do not run this butler."),
  sizes: z
    .object({
      database_bytes: z.number(),
      index_bytes: z.number(),
      rows: z.record(z.string(), z.number()).describe("By table; above 100,000 an estimate."),
      facts: z.record(z.string(), z.number()).describe("By state."),
      sampled_at: z.string(),
    })
    .nullable()
    .describe("Of the whole store; null when it is not known."),
  latency: z.array(Latency).describe("Of the calls of the last 15 minutes, by tool; empty when there were none."),
  spend: z.object({ today_usd: z.number(), cap_usd: z.number() }).nullable(),
  pool: z
    .object({ max: z.number(), in_use: z.number(), waiting: z.number() })
    .nullable()
    .describe("Connections to the database server; null for an embedded or closed store."),
});

/** A store that does not answer is waited for so long: measuring takes up to four seconds then, and the fleet's question waits for five. */
const PATIENCE_MS = 4_200;

export async function butlerHealth({ backend, principal, params, signal }: Asked): Promise<Outcome> {
  const { name = "" } = params;
  const { home } = backend;
  const [{ version, model, butlers }, today, jobs, standing] = await Promise.all([
    backend.health(),
    inTime(backend.invoke(principal, name, { tool: "view_today", input: {} }, { signal })),
    home && inTime(home.jobs(principal, name, { ask: "list" })),
    home && inTime<Standing>(home.standing(principal, name)),
  ]);
  const found = butlers.find((butler) => butler.name === name) ?? { name, store: "unknown" as const };
  const known = standing?.ok ? standing.answer : undefined;
  const reason = found.reason ?? known?.measured.unsampled ?? (today.ok ? undefined : today.error.message);
  const well = today.ok && found.store !== "failed" && found.store !== "unknown";
  return {
    ok: true,
    answer: {
      name,
      ok: well && !known?.conditions.some(({ state }) => state === "not_ok"),
      store: found.store,
      ...(reason === undefined ? {} : { reason }),
      version,
      model,
      waiting: today.ok ? today.answer.waiting : null,
      jobs: jobs?.ok ? jobs.answer.jobs : null,
      ...shown(known),
    },
  };
}

function shown(
  standing: Standing | undefined,
): Pick<z.infer<typeof Health>, "sampled_at" | "conditions" | "sizes" | "latency" | "spend" | "pool"> {
  const { measured, sizes, conditions = [] } = standing ?? {};
  const { sample, calls = [], pool, cap_usd = 0 } = measured ?? {};
  return {
    sampled_at: sample?.at.toISOString() ?? null,
    conditions: [...conditions],
    sizes: sizes
      ? {
          database_bytes: sizes.database_bytes,
          index_bytes: sizes.index_bytes,
          rows: { ...sizes.rows },
          facts: { ...sizes.facts },
          sampled_at: sizes.at.toISOString(),
        }
      : null,
    latency: [...calls],
    spend: sample ? { today_usd: sample.spent_usd, cap_usd } : null,
    pool: pool ?? null,
  };
}

/** What comes too late is refused in words; what was asked goes on by itself. */
async function inTime<T>(asked: Promise<Outcome<T>>): Promise<Outcome<T>> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Outcome<T>>((done) => {
    const words = `It gave no answer within ${PATIENCE_MS / 1_000} seconds.`;
    timer = setTimeout(() => done(refusal("unavailable", words)), PATIENCE_MS);
  });
  return Promise.race([asked, late]).finally(() => clearTimeout(timer));
}

export const healthRoute: ApiRoute = {
  id: "Health",
  method: "GET",
  path: `${MEMORY}/health`,
  summary: "Whether the butler is well, what waits, and what to do",
  input: z.strictObject({}),
  answer: Health,
  run: butlerHealth,
};
