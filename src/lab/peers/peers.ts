/** `butler bench peers`: the same memories and questions, one peer after the other, each in a process of its own. */
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { homeAt } from "../../daemon/home.ts";
import { locateModel, type ModelFiles } from "../../engine/adapters/model/files.ts";
import { invalid, unavailable } from "../../engine/domain/errors.ts";
import { programCommand } from "../../main/owner/launch.ts";
import type { Context } from "../../main/program/command.ts";
import { progressLine } from "../../main/words/progress.ts";
import { dropDatabase, thisMachine } from "../bench-home.ts";
import { postgres } from "../sql/peer-postgres.ts";
import { sqlite } from "../sql/peer-sqlite.ts";
import { lostTo, type PeerResult, type PeersReport, peerLines } from "./figures.ts";
import { langgraph, langgraphPostgres } from "./langgraph.ts";
import { mastra } from "./mastra.ts";
import { type Material, materialOf } from "./material.ts";
import { measurePeer, type PeerFigures, type PeerJob } from "./measure.ts";
import { mem0 } from "./mem0.ts";
import { ours, oursPostgres } from "./ours.ts";
import { install, missing } from "./packages.ts";
import type { Peer } from "./peer.ts";

const PEERS: readonly Peer[] = [ours, oursPostgres, sqlite, postgres, mem0, mastra, langgraph, langgraphPostgres];

export interface PeersOptions {
  readonly n: number;
  readonly queries: number;
  readonly data: string | undefined;
  readonly only: string | undefined;
  readonly install: boolean;
  readonly json: boolean;
}

/** A peer that takes longer than this for all of it is given up. */
const LIMIT_MS = 30 * 60_000;
const LAST_WORDS = 300;

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
  for (const [index, peer] of chosen.entries()) {
    progress.show(index, chosen.length, peer.name);
    const site = { cache: join(home.root, "cache", "peers"), model, databaseUrl: environment.databaseUrl, material };
    const found = await resultOf(peer, site, options.install);
    const { name, what, persists, embeds, packages } = peer;
    const result = typeof found === "string" ? { figures: null, reason: found } : { figures: found };
    peers.push({ name, what, persists, embeds, packages, ...result });
  }
  progress.done("done");
  const report: PeersReport = {
    n: material.memories.length,
    questions: material.questions.length,
    data: material.data ?? null,
    machine,
    model: `${model.version.model} ${model.version.variant}`,
    peers,
    lost: lostTo(peers, ours.name),
  };
  if (options.json) context.say(JSON.stringify(report, null, 2));
  else for (const line of peerLines(report)) context.say(line);
}

interface Site {
  readonly cache: string;
  readonly model: ModelFiles;
  readonly databaseUrl: string | undefined;
  readonly material: Material;
}

/** Its figures, or why there are none. */
async function resultOf(peer: Peer, site: Site, fetch: boolean): Promise<PeerFigures | string> {
  const { cache, databaseUrl } = site;
  if (peer.needsServer && databaseUrl === undefined) return "there is no server: BUTLER_DATABASE_URL is not set";
  await mkdir(cache, { recursive: true });
  let lacking = await missing(cache, peer);
  if (lacking !== undefined && fetch) lacking = await install(cache, peer);
  if (lacking !== undefined) return lacking;
  const folder = await mkdtemp(join(tmpdir(), "butler-peer-"));
  const database = `peers_${process.pid}`;
  const server = peer.needsServer && databaseUrl !== undefined ? { url: databaseUrl, database } : undefined;
  try {
    const job: PeerJob = { ...site, peer: peer.name, folder, server };
    const file = join(folder, "job.json");
    await writeFile(file, JSON.stringify(job));
    return await inItsProcess(file);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    if (server !== undefined) await dropDatabase(server.url, database);
  }
}

function inItsProcess(file: string): Promise<PeerFigures | string> {
  const { command, args } = programCommand();
  // Some of these programs report to their makers unless they are told not to.
  const silent = ["MEM0_TELEMETRY=false", "MASTRA_TELEMETRY_DISABLED=1", "DO_NOT_TRACK=1"];
  const words = [...silent, command, ...args, "bench", "peers", "--job", file];
  return new Promise((done) => {
    const child = spawn("env", words, { stdio: ["ignore", "pipe", "pipe"] });
    const timer = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
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
      if (signal === "SIGKILL") return done(`it took longer than ${LIMIT_MS / 60_000} minutes, or was killed`);
      if (code !== 0) return done(complained.trim().slice(-LAST_WORDS) || `its process ended with ${code}`);
      // Peers may print words of their own before the figures.
      done(JSON.parse(said.trim().split("\n").at(-1) ?? "") as PeerFigures);
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
