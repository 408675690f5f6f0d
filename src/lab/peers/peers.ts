/** `butler bench peers`: the same memories and questions, one peer after the other, each in a process of its own. */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { homeAt } from "../../daemon/home.ts";
import { hasDatabase } from "../../engine/adapters/db/postgres-admin.ts";
import { locateModel } from "../../engine/adapters/model/files.ts";
import { invalid, unavailable } from "../../engine/domain/errors.ts";
import { programCommand } from "../../main/owner/launch.ts";
import type { Context } from "../../main/program/command.ts";
import { progressLine } from "../../main/words/progress.ts";
import { dropDatabase, thisMachine } from "../bench-home.ts";
import { postgres } from "../sql/peer-postgres.ts";
import { sqlite } from "../sql/peer-sqlite.ts";
import { type PeerResult, type PeersReport, peerLines } from "./figures.ts";
import { langgraph, langgraphPostgres } from "./langgraph.ts";
import { mastra } from "./mastra.ts";
import { materialOf } from "./material.ts";
import { type Filled, measurePeer, type PeerFigures, type PeerJob } from "./measure.ts";
import { mem0 } from "./mem0.ts";
import { ours, oursPostgres } from "./ours.ts";
import { install, missing } from "./packages.ts";
import type { Peer } from "./peer.ts";
import { lostTo, standings } from "./standings.ts";

const PEERS: readonly Peer[] = [ours, oursPostgres, sqlite, postgres, mem0, mastra, langgraph, langgraphPostgres];

export interface PeersOptions {
  readonly n: number;
  readonly queries: number;
  readonly data: string | undefined;
  readonly only: string | undefined;
  /** Minutes for filling one peer. */
  readonly minutes: number;
  /** Where the peers' stores are left, and found filled by the next run with the same memories. */
  readonly keep: string | undefined;
  readonly install: boolean;
  readonly json: boolean;
}

/** A process of a peer that takes longer than this, besides filling, is given up. */
const LIMIT_MS = 30 * 60_000;
const LAST_WORDS = 300;
const MINUTE_MS = 60_000;
const NOTE = "filled.json";

export async function benchPeers(options: PeersOptions, context: Context): Promise<void> {
  const { environment } = context;
  const home = homeAt(environment.home);
  const model = await locateModel({ modelDir: environment.modelDir, cacheDir: home.models, variant: "int8" });
  if (!model) throw unavailable("There is no embedding model to measure with; butler model pull fetches it.");
  const chosen = PEERS.filter(({ name }) => name.toLowerCase().includes(options.only?.toLowerCase() ?? ""));
  if (chosen.length === 0)
    throw invalid("--only", `--only must be a part of one of: ${PEERS.map((p) => p.name).join("; ")}.`);
  const machine = thisMachine();
  const material = await materialOf(options.n, options.queries, options.data);
  const progress = progressLine("Measuring");
  const peers: PeerResult[] = [];
  const root = options.keep === undefined ? await mkdtemp(join(tmpdir(), "butler-peers-")) : resolve(options.keep);
  const site: Site = {
    ...{ cache: join(home.root, "cache", "peers"), root, kept: options.keep !== undefined, install: options.install },
    ...{ model, databaseUrl: environment.databaseUrl, material, fill_ms: options.minutes * MINUTE_MS },
  };
  try {
    for (const [index, peer] of chosen.entries()) {
      const show = (step: string) => progress.show(index, chosen.length, `${peer.name}, ${step}`);
      const found = await resultOf(peer, site, show);
      const { name, what, persists, embeds, needsServer, packages } = peer;
      const result = typeof found === "string" ? { figures: null, reason: found } : { figures: found };
      peers.push({ name, what, persists, embeds, needsServer, packages, ...result });
    }
  } finally {
    if (options.keep === undefined) await rm(root, { recursive: true, force: true, maxRetries: 5 });
  }
  progress.done("done");
  const report: PeersReport = {
    n: material.memories.length,
    questions: material.questions.length,
    data: material.data ?? null,
    machine,
    model: `${model.version.model} ${model.version.variant}`,
    peers,
    standings: [ours.name, oursPostgres.name].flatMap((us) => standings(peers, us)),
    lost: [ours.name, oursPostgres.name].flatMap((us) => lostTo(peers, us)),
  };
  if (options.json) context.say(JSON.stringify(report, null, 2));
  else for (const line of peerLines(report)) context.say(line);
}

interface Site extends Pick<PeerJob, "cache" | "model" | "material" | "fill_ms"> {
  readonly root: string;
  readonly kept: boolean;
  readonly install: boolean;
  readonly databaseUrl: string | undefined;
}

/** Its figures, or why there are none. */
async function resultOf(peer: Peer, site: Site, show: (step: string) => void): Promise<PeerFigures | string> {
  const { cache, databaseUrl, root, kept } = site;
  if (peer.needsServer && databaseUrl === undefined) return "there is no server: BUTLER_DATABASE_URL is not set";
  await mkdir(cache, { recursive: true });
  let lacking = await missing(cache, peer);
  if (lacking !== undefined && site.install) lacking = await install(cache, peer);
  if (lacking !== undefined) return lacking;
  const slug = peer.name.replaceAll(/[^a-z0-9]+/gi, "-").toLowerCase();
  const database = `peers-${kept ? slug : process.pid}`;
  const server = peer.needsServer && databaseUrl !== undefined ? { url: databaseUrl, database } : undefined;
  const { model, material, fill_ms } = site;
  const job = {
    ...{ peer: peer.name, cache, folder: join(root, slug), vectors: root, model, server, material, fill_ms },
  };
  try {
    if (!peer.persists) {
      show("filled and asked");
      await mkdir(job.folder, { recursive: true });
      return await inItsProcess<PeerFigures>({ ...job, step: "both" });
    }
    const filled = (await filledBefore(job, peer)) ?? (await fill(job, peer, () => show("filled")));
    if (typeof filled === "string") return filled;
    show("asked");
    const figures = await inItsProcess<Omit<PeerFigures, keyof Filled>>({ ...job, step: "measure" });
    return typeof figures === "string" ? figures : { ...filled, ...figures };
  } finally {
    if (!kept && server !== undefined) await dropDatabase(server.url, database);
  }
}

type Job = Omit<PeerJob, "step">;

interface FilledNote extends Filled {
  readonly of: string;
}

/** Tells other memories, another model, another server or other packages apart. */
const fingerprint = ({ material, model, server, fill_ms }: Job, { packages }: Peer): string =>
  createHash("sha256")
    .update(JSON.stringify([material.memories, model.version, server && new URL(server.url).host, packages, fill_ms]))
    .digest("hex");

async function filledBefore(job: Job, peer: Peer): Promise<Filled | undefined> {
  const note = join(job.folder, NOTE);
  if (!existsSync(note)) return undefined;
  if (job.server !== undefined && !(await hasDatabase(job.server.url, job.server.database))) return undefined;
  const { of, ...filled } = JSON.parse(await readFile(note, "utf8")) as FilledNote;
  return of === fingerprint(job, peer) ? filled : undefined;
}

/** From nothing: what an earlier run left half done, or filled with something else, is removed. */
async function fill(job: Job, peer: Peer, show: () => void): Promise<Filled | string> {
  show();
  await rm(job.folder, { recursive: true, force: true, maxRetries: 5 });
  await mkdir(job.folder, { recursive: true });
  if (job.server !== undefined) await dropDatabase(job.server.url, job.server.database);
  const filled = await inItsProcess<Filled>({ ...job, step: "fill" });
  if (typeof filled === "string") return filled;
  const note: FilledNote = { ...filled, of: fingerprint(job, peer) };
  await writeFile(join(job.folder, NOTE), JSON.stringify(note));
  return filled;
}

async function inItsProcess<T>(job: PeerJob): Promise<T | string> {
  const file = join(job.folder, "job.json");
  await writeFile(file, JSON.stringify(job));
  const { command, args } = programCommand();
  // Some of these programs report to their makers unless they are told not to.
  const silent = ["MEM0_TELEMETRY=false", "MASTRA_TELEMETRY_DISABLED=1", "DO_NOT_TRACK=1"];
  const words = [...silent, command, ...args, "bench", "peers", "--job", file];
  return new Promise((done) => {
    const child = spawn("env", words, { stdio: ["ignore", "pipe", "pipe"] });
    const timer = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS + job.fill_ms);
    let said = "";
    let complained = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      said += chunk;
    });
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      complained += chunk;
    });
    child.once("error", (error) => done(String(error)));
    child.once("close", (code, signal) => {
      clearTimeout(timer);
      if (signal === "SIGKILL")
        return done(`it took longer than ${(LIMIT_MS + job.fill_ms) / MINUTE_MS} minutes, or was killed`);
      if (code !== 0) return done(complained.trim().slice(-LAST_WORDS) || `its process ended with ${code}`);
      // Peers may print words of their own before the figures.
      done(JSON.parse(said.trim().split("\n").at(-1) ?? "") as T);
    });
  });
}

/** Inside the process of one peer. */
export async function measureJob(file: string, { say }: Pick<Context, "say">): Promise<void> {
  const job = JSON.parse(await readFile(file, "utf8")) as PeerJob;
  const peer = PEERS.find(({ name }) => name === job.peer);
  if (peer === undefined) throw invalid("--job", `There is no peer "${job.peer}".`);
  say(JSON.stringify(await measurePeer(peer, job)));
}
