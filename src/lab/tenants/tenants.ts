/** `butler bench tenants`: what a tenant waits for its searches while another one sends ten times what it may. */
import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { readOwnerNote } from "../../daemon/owner/owner-file.ts";
import { stopOwner } from "../../daemon/owner/take-ownership.ts";
import { pause } from "../../daemon/pause.ts";
import { createToken } from "../../daemon/tokens/tokens.ts";
import { systemClock } from "../../engine/adapters/clock.ts";
import { MemoryError, unavailable } from "../../engine/domain/errors.ts";
import { maintain } from "../../engine/memory/keep/maintain.ts";
import { callTool as callMemory } from "../../engine/tools/call.ts";
import type { Context } from "../../main/program/command.ts";
import { type BenchHome, type BenchHomeOptions, opened, thisMachine, withBenchHome } from "../bench-home.ts";
import { most, type Report, round, type Spread, spread, type Verdict, verdictLine } from "../figures.ts";
import { distinct, episodeText, picker, queryText } from "../sentences.ts";
import { type Caller, callTool, ownConnections } from "./flood.ts";
import { type LoudTenant, loudTenant } from "./loud-tenant.ts";

interface TenantOptions extends BenchHomeOptions {
  readonly json: boolean;
}

interface TenantReport {
  readonly n: number;
  readonly store: Report["store"];
  readonly machine: Report["machine"];
  /** Calls a second that a tenant may make, and that the loud one made. */
  readonly limit: number;
  readonly sent_per_second: number;
  readonly loud: {
    readonly sent: number;
    readonly answered: number;
    readonly refused: number;
    readonly unanswered: number;
  };
  /** Of the quiet tenant's searches: by itself, and beside the loud one. */
  readonly alone: Spread;
  readonly beside: Spread;
  readonly targets: readonly Verdict[];
}

const TENANTS = ["quiet", "loud"] as const;
const LIMIT = 20;
const TIMES = 10;
/** Calls of the quiet tenant in a row; then the loud one begins or ends, so that both kinds of rows share the machine's moods. */
const ROW = 40;
const BETWEEN_MS = 100;
const WARM_UP = 3;
const SETTLE_MS = 2_000;
/** At first the loud one gets what it may send at once; only after that is it at ten times its limit. */
const BURST_MS = 1_500;
const BATCH = 100;

export async function benchTenants(options: TenantOptions, context: Context): Promise<void> {
  const report = await withBenchHome(options, context, measure);
  if (options.json) context.say(JSON.stringify(report, null, 2));
  else for (const line of lines(report)) context.say(line);
}

async function measure(bench: BenchHome): Promise<TenantReport> {
  const { home, program, n, store } = bench;
  const machine = thisMachine();
  await stopOwner(home);
  await fill(bench);
  const limits = { calls_per_second: LIMIT, tenant_calls_per_second: LIMIT, burst_seconds: 1 };
  const toml = Object.entries(limits).map(([key, value]) => `${key} = ${value}`);
  writeFileSync(home.daemonFile, ["[limits]", ...toml, ""].join("\n"));
  const tokens = await Promise.all(TENANTS.map((tenant) => tokenOf(bench, tenant)));
  const up = spawn(program.command, [...program.args, "up", "--port", "0"], { env: program.env, stdio: "ignore" });
  try {
    const port = await portOf(bench, up);
    const [quiet, noisy] = tokens as [string, string];
    const place = { port, butler: program.butler };
    const loud = await loudTenant({ ...place, token: noisy, perSecond: LIMIT * TIMES });
    const caller: Caller = { ...place, token: quiet, agent: ownConnections() };
    const figures = await compare(bench, caller, loud).finally(() => loud.close());
    const ratio = round(figures.beside.p95 / figures.alone.p95, 2);
    const targets = [most("search of the quiet tenant, p95 beside the loud one to p95 alone", "", ratio, 2)];
    return { n, store, machine, limit: LIMIT, sent_per_second: LIMIT * TIMES, ...figures, targets };
  } finally {
    await stopOwner(home);
    up.kill();
  }
}

/** The same number of memories for both tenants, in one store. */
async function fill(bench: BenchHome): Promise<void> {
  const { memory, close } = await opened(bench);
  try {
    for (const tenant of TENANTS) {
      const p = picker(20_260_301);
      const texts = distinct(bench.n, () => episodeText(p));
      const by = { name: "bench", tenant, butler: "*", admin: false, voice: "user" } as const;
      for (let from = 0; from < texts.length; from += BATCH) {
        const episodes = texts.slice(from, from + BATCH).map((content) => ({ content }));
        const outcome = await callMemory(memory, by, { tool: "memory_ingest_batch", input: { episodes } });
        if (!outcome.ok) throw new MemoryError(outcome.error.code, outcome.error.message);
        bench.progress.show(from, texts.length, `memories of the ${tenant} tenant`);
      }
    }
    await maintain(memory, { level: "light" });
  } finally {
    await close();
  }
}

async function tokenOf({ home, program }: BenchHome, tenant: string): Promise<string> {
  const name = `${tenant}-${process.pid}`;
  const asked = { name, butler: program.butler, tenant, role: "writer" } as const;
  return (await createToken(home, asked, systemClock.now())).token;
}

async function portOf({ home }: BenchHome, up: ChildProcess): Promise<number> {
  while (up.exitCode === null) {
    const { port } = readOwnerNote(home) ?? {};
    if (typeof port === "number") return port;
    await pause(100);
  }
  throw unavailable(`butler up ended with ${up.exitCode}.`);
}

async function compare({ queries, progress }: BenchHome, quiet: Caller, loud: LoudTenant) {
  const p = picker(11);
  const question = () => ({ query: queryText(p), limit: 10 });
  const times = { alone: [] as number[], beside: [] as number[] };
  const counted = { sent: 0, answered: 0, refused: 0, unanswered: 0 };
  const row = async (kept: number[]) => {
    for (let n = 0; n < ROW; n++) {
      const started = performance.now();
      const status = await callTool(quiet, "memory_search", question());
      if (status !== 200) throw unavailable(`The quiet tenant was answered ${status}.`);
      kept.push(performance.now() - started);
      await pause(BETWEEN_MS);
    }
  };
  for (let n = 0; n < WARM_UP; n++) await row([]);
  while (times.beside.length < queries) {
    progress.show(times.beside.length, queries, "searches of the quiet tenant");
    await row(times.alone);
    loud.begin();
    await pause(BURST_MS);
    await row(times.beside);
    const { sent, answers } = await loud.end();
    const [answered, refused] = [answers[200] ?? 0, (answers[429] ?? 0) + (answers[503] ?? 0)];
    counted.sent += sent;
    counted.answered += answered;
    counted.refused += refused;
    counted.unanswered += sent - answered - refused;
    // What follows the last answers of the loud one is not to be found in the next row alone.
    await pause(SETTLE_MS);
  }
  return { loud: counted, alone: spread(times.alone), beside: spread(times.beside) };
}

function lines({ n, store, limit, sent_per_second, loud, alone, beside, targets }: TenantReport): string[] {
  const told = ({ p50, p95, max }: Spread) => `p50 ${p50} ms, p95 ${p95} ms, at most ${max} ms`;
  return [
    `Two tenants with ${n} memories each in one store (${store}), each with a limit of ${limit} calls a second.`,
    `The loud one sends ${sent_per_second} a second: ${loud.sent} sent, ${loud.answered} answered, ${loud.refused} refused, ${loud.unanswered} still waiting when it ended.`,
    `Searches of the quiet one alone: ${told(alone)}; beside the loud one: ${told(beside)}.`,
    ...targets.map(verdictLine),
  ];
}
