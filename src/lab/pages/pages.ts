/** `butler bench pages`: a store as large as years of use make it, and what each route of the pages' API takes on it. */

import { rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type ButlerConfig, parseButlerToml } from "../../daemon/config/config.ts";
import { type Home, homeAt, prepareHome } from "../../daemon/home.ts";
import type { Backend, Principal } from "../../doors/backend.ts";
import { loopbackHosts } from "../../doors/http/guards.ts";
import { httpApp } from "../../doors/http/http.ts";
import { fixedClock } from "../../engine/adapters/clock.ts";
import { openOnnxEmbedder } from "../../engine/adapters/embedder/onnx.ts";
import { silentLog } from "../../engine/adapters/log.ts";
import { locateModel, type ModelFiles } from "../../engine/adapters/model/files.ts";
import { MemoryError, unavailable } from "../../engine/domain/errors.ts";
import { DAY_MS } from "../../engine/domain/lifecycle/decay.ts";
import { maintain } from "../../engine/memory/keep/maintain.ts";
import type { OpenMemory } from "../../engine/memory/open.ts";
import { asOwner } from "../../engine/memory/tenancy.ts";
import { callTool } from "../../engine/tools/call.ts";
import { tools } from "../../engine/tools/index.ts";
import { noteSession, sessionLogFile } from "../../hosts/sessions/session-log.ts";
import { homeReads } from "../../main/owner/home-reads.ts";
import type { Context } from "../../main/program/command.ts";
import { memoryOpener } from "../../main/wiring/engines.ts";
import { type Progress, progressLine } from "../../main/words/progress.ts";
import { dropDatabase, thisMachine } from "../bench-home.ts";
import { round, spread } from "../figures.ts";
import { picker } from "../sentences.ts";
import { countPages } from "../sql/pages.ts";
import { type PagesReport, pagesLines, pagesVerdicts } from "./figures.ts";
import { fillPages } from "./fill.ts";
import { BUTLER, NOW, type Sizes, timeOf } from "./plan.ts";
import { type Ask, questions } from "./questions.ts";

export interface PagesOptions {
  readonly sizes: Sizes;
  readonly calls: number;
  /** Only routes whose name has these words. */
  readonly only: string | undefined;
  readonly databaseUrl: string | undefined;
  /** The folder to fill and to leave behind; one that was filled before is used again. */
  readonly keep: string | undefined;
  readonly json: boolean;
}

interface Bench extends PagesOptions {
  readonly home: Home;
  readonly butler: ButlerConfig;
  readonly model: ModelFiles;
  readonly progress: Progress;
}

const WARM_UP = 3;
const SESSIONS = 2_500;

export async function benchPages(options: PagesOptions, context: Context): Promise<void> {
  const { environment, say } = context;
  const { databaseUrl, keep } = options;
  const cacheDir = homeAt(environment.home).models;
  const model = await locateModel({ modelDir: environment.modelDir, cacheDir, variant: "int8" });
  if (!model) throw unavailable("There is no embedding model to measure with; butler model pull fetches it.");
  const folder = keep === undefined ? await mkdtemp(join(tmpdir(), "butler-pages-")) : resolve(keep);
  const home = homeAt(folder);
  prepareHome(home);
  // Its episodes live for ten years, as those of the other benchmarks.
  const toml = `[butler]\nname = "${BUTLER}"\n\n[modules.memory.eden]\nttl_hours = 87600\nmax_entries = 10000000\n`;
  const progress = progressLine("Pages");
  try {
    const bench = { ...options, home, butler: parseButlerToml(toml, "butler.toml"), model, progress };
    const report = await measure(bench, context);
    progress.done("done");
    for (const line of options.json ? [JSON.stringify(report, null, 2)] : pagesLines(report)) say(line);
  } catch (error) {
    progress.done("failed");
    throw error;
  } finally {
    if (keep === undefined) {
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
      if (databaseUrl !== undefined) await dropDatabase(databaseUrl, BUTLER);
    }
  }
}

async function measure(bench: Bench, context: Context): Promise<PagesReport> {
  const machine = thisMachine();
  const embedder = await openOnnxEmbedder(bench.model);
  const stores = { folder: bench.home.store, databaseUrl: bench.databaseUrl };
  const clock = fixedClock(NOW);
  try {
    const memory = await memoryOpener({ stores, clock, log: silentLog })(bench.butler, embedder);
    try {
      const filled_seconds = await filled(bench, memory);
      bench.progress.show(0, 1, "reading it into memory, as an owner has after its first search");
      await memory.readModel.load(memory.versions.serving?.version, ROOT.tenant);
      const measured = {
        store: memory.db.kind,
        machine,
        model: `${bench.model.version.model} ${bench.model.version.variant}`,
        holds: await countPages(asOwner(memory, "lab")),
        calls: bench.calls,
        filled_seconds,
        ...(await measureRoutes(bench, pagesOf(bench, memory, context))),
      };
      return { ...measured, targets: pagesVerdicts(measured) };
    } finally {
      await memory.close();
    }
  } finally {
    await embedder.close();
  }
}

async function filled({ sizes, progress, home }: Bench, memory: OpenMemory): Promise<number | null> {
  const { facts, events } = await countPages(asOwner(memory, "lab"));
  if (facts === sizes.facts && events > 0) return null;
  if (facts > 0)
    throw new MemoryError(
      "conflict",
      `The store in ${home.root} holds ${facts} facts and ${events} events, not what was asked for: choose an empty folder or the same numbers.`,
    );
  const started = performance.now();
  const show = (done: number, total: number, what: string) =>
    progress.show(done, total, `${what}, ${Math.floor((done / total) * 10) * 10} %`);
  await fillPages(memory, sizes, Math.min(4_000, Math.ceil(sizes.facts / 5)), show);
  logSessions(home);
  progress.show(1, 1, "maintenance");
  await maintain(memory, { level: "full" });
  return round((performance.now() - started) / 1_000);
}

function logSessions(home: Home): void {
  rmSync(sessionLogFile(home), { force: true });
  for (let n = 0; n < SESSIONS; n++) {
    const at = timeOf(n, SESSIONS).toISOString();
    const about = {
      butler: BUTLER,
      agent: "claude-code",
      kind: "hook",
      folder: "/home/acme",
      prompt: `Task ${n}`,
    } as const;
    noteSession(home, { started: { ...about, id: `bench-${n}`, at, memory: "used" } });
    noteSession(home, { told: { id: `bench-${n}`, at, ids: [], tokens: 900 } });
    noteSession(home, { ended: { id: `bench-${n}`, at, state: "done", episodes: 20 } });
  }
}

const ROOT: Principal = { name: "root", tenant: "default", butler: "*", admin: true, voice: "user" };

/** The real HTTP door over the memory, as the owner has it; jobs and health are not asked for, because the owner's scheduler and sampler answer them. */
function pagesOf(bench: Bench, memory: OpenMemory, { environment }: Context) {
  const owner = {
    roster: () => [bench.butler],
    jobs: async () => ({
      ok: false as const,
      error: { code: "unavailable" as const, message: "Nothing runs jobs here." },
    }),
    standing: async () => undefined,
  };
  const backend: Backend = {
    butlers: async () => [{ name: BUTLER, role: "butler", description: "" }],
    invoke: (principal, _, request, following) => callTool(memory, principal, request, following),
    health: async () => ({ ok: true, version: "bench", model: "", butlers: [{ name: BUTLER, store: "open" }] }),
    home: homeReads({ environment, home: bench.home, owner, clock: fixedClock(NOW), follow: () => () => undefined }),
  };
  const app = httpApp({
    backend,
    tools,
    authenticate: async () => ROOT,
    allowedHosts: loopbackHosts(4270),
    log: silentLog,
    version: "bench",
  });
  return async (path: string, body?: unknown): Promise<string> => {
    const response = await app.request(`/api/butlers/${BUTLER}/memory/${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { host: "127.0.0.1:4270", authorization: "Bearer bench", "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.status !== 200) throw new MemoryError("internal", `${path}: ${response.status} ${text.slice(0, 300)}`);
    return text;
  };
}

async function firstPast({ progress }: Bench, ask: Ask): Promise<number> {
  progress.show(0, 1, "the first search of a past day, which reads the stream");
  const started = performance.now();
  await ask(`search?q=first&as_of=${new Date(NOW.getTime() - DAY_MS).toISOString()}`);
  return round((performance.now() - started) / 1_000);
}

async function measureRoutes(bench: Bench, request: (path: string, body?: unknown) => Promise<string>) {
  const ask: Ask = async (path, body) => JSON.parse(await request(path, body)) as Record<string, unknown>;
  const asked = (await questions(ask)).filter(({ name }) => name.includes(bench.only ?? ""));
  const ofThePast = asked.some(({ name }) => name.includes("as of a day"));
  const first_past_seconds = ofThePast ? await firstPast(bench, ask) : null;
  const routes: Record<string, PagesReport["routes"][string]> = {};
  const paths = new Set<string>();
  for (const [at, { name, requests }] of asked.entries()) {
    bench.progress.show(at, asked.length, name);
    const p = picker(11 + at);
    const times: number[] = [];
    let cpu = process.cpuUsage();
    let bytes = 0;
    for (let call = -Math.min(WARM_UP, bench.calls); call < bench.calls; call++)
      for (const { path, body } of requests(p)) {
        if (call === 0) cpu = process.cpuUsage();
        paths.add(path.replace(/\?.*/, "").replace(/^(memories|runs|sessions)\/[^/]+/, "$1/:id"));
        const started = performance.now();
        const text = await request(path, body);
        if (call >= 0) times.push(performance.now() - started);
        bytes = Math.max(bytes, Buffer.byteLength(text));
      }
    const { user, system } = process.cpuUsage(cpu);
    routes[name] = { ...spread(times), cpu_ms: round((user + system) / 1_000 / times.length), bytes };
  }
  return { first_past_seconds, routes, asked: [...paths] };
}
