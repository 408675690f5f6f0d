/** `butler bench peers`: the same memories and questions, filled one peer after the other, asked in turns, each in a process of its own. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { homeAt } from "../../daemon/home.ts";
import { hasDatabase } from "../../engine/adapters/db/postgres-admin.ts";
import { locateModel } from "../../engine/adapters/model/files.ts";
import { invalid, reasonOf, unavailable } from "../../engine/domain/errors.ts";
import type { Context } from "../../main/program/command.ts";
import { progressLine } from "../../main/words/progress.ts";
import { dropDatabase, thisMachine } from "../bench-home.ts";
import { postgres } from "../sql/peer-postgres.ts";
import { sqlite } from "../sql/peer-sqlite.ts";
import { type PeerResult, type PeersReport, peerLines } from "./figures.ts";
import { langgraph, langgraphPostgres } from "./langgraph.ts";
import { mastra } from "./mastra.ts";
import { type Material, materialOf } from "./material.ts";
import { type Filled, type PeerFigures, type PeerJob, runPeer } from "./measure.ts";
import { mem0 } from "./mem0.ts";
import { ours, oursPostgres } from "./ours.ts";
import { install, missing } from "./packages.ts";
import { isNamed, type Peer } from "./peer.ts";
import { answerLine, type PeerProcess, startPeer } from "./process.ts";
import { lostTo, standings } from "./standings.ts";
import { askInTurns, turnsOf } from "./turns.ts";

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

const MINUTE_MS = 60_000;
const NOTE = "filled.json";

export async function benchPeers(options: PeersOptions, context: Context): Promise<void> {
  const { environment } = context;
  const home = homeAt(environment.home);
  const model = await locateModel({ modelDir: environment.modelDir, cacheDir: home.models, variant: "int8" });
  if (!model) throw unavailable("There is no embedding model to measure with; butler model pull fetches it.");
  const chosen = PEERS.filter(({ name }) => isNamed(name, options.only));
  if (chosen.length === 0)
    throw invalid(
      "--only",
      `--only must be a part of one of these, or parts of several with / between them: ${PEERS.map((p) => p.name).join("; ")}.`,
    );
  const machine = thisMachine();
  const material = await materialOf(options.n, options.queries, options.data);
  const progress = progressLine("Measuring");
  const root = options.keep === undefined ? await mkdtemp(join(tmpdir(), "butler-peers-")) : resolve(options.keep);
  const site: Site = {
    ...{ cache: join(home.root, "cache", "peers"), root, kept: options.keep !== undefined, install: options.install },
    ...{ model, databaseUrl: environment.databaseUrl, material, fill_ms: options.minutes * MINUTE_MS },
  };
  let step = 0;
  const show = (what: string) => progress.show(step, chosen.length, what);
  const prepared = new Map<string, Prepared | string>();
  let asked: Awaited<ReturnType<typeof askAll>>;
  try {
    for (const peer of chosen) {
      prepared.set(peer.name, await prepare(peer, site, (what) => show(`${peer.name}, ${what}`)));
      step++;
    }
    asked = await askAll(
      [...prepared.values()].filter((one) => typeof one !== "string"),
      material,
      show,
    );
  } finally {
    if (options.keep === undefined) await forget(prepared.values(), root);
  }
  const peers = chosen.map((peer): PeerResult => {
    const { name, what, persists, embeds, needsServer, packages } = peer;
    const ready = prepared.get(name);
    const found = typeof ready === "string" ? ready : asked.get(name);
    const result = typeof found === "object" ? { figures: found } : { figures: null, reason: found ?? "not asked" };
    return { name, what, persists, embeds, needsServer, packages, ...result };
  });
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

/** What a run without a folder of its own leaves nowhere. */
async function forget(all: Iterable<Prepared | string>, root: string): Promise<void> {
  await rm(root, { recursive: true, force: true, maxRetries: 5 });
  for (const one of all)
    if (typeof one !== "string" && one.job.server !== undefined)
      await dropDatabase(one.job.server.url, one.job.server.database);
}

interface Site extends Pick<PeerJob, "cache" | "model" | "material" | "fill_ms"> {
  readonly root: string;
  readonly kept: boolean;
  readonly install: boolean;
  readonly databaseUrl: string | undefined;
}

/** A peer that can be asked, or why it cannot. */
interface Prepared {
  readonly peer: Peer;
  readonly job: Job;
  /** Of a peer that keeps what it stores. */
  readonly filled?: Filled;
}

async function prepare(peer: Peer, site: Site, show: (step: string) => void): Promise<Prepared | string> {
  const { cache, databaseUrl, root, kept, model, material, fill_ms } = site;
  if (peer.needsServer && databaseUrl === undefined) return "there is no server: BUTLER_DATABASE_URL is not set";
  await mkdir(cache, { recursive: true });
  let lacking = await missing(cache, peer);
  if (lacking !== undefined && site.install) lacking = await install(cache, peer);
  if (lacking !== undefined) return lacking;
  const slug = peer.name.replaceAll(/[^a-z0-9]+/gi, "-").toLowerCase();
  const database = kept ? `peers-${slug}` : `peers-${process.pid}-${slug}`;
  const server = peer.needsServer && databaseUrl !== undefined ? { url: databaseUrl, database } : undefined;
  const job = {
    ...{ peer: peer.name, cache, folder: join(root, slug), vectors: root, model, server, material, fill_ms },
  };
  if (!peer.persists) {
    await mkdir(job.folder, { recursive: true });
    return { peer, job };
  }
  try {
    return { peer, job, filled: (await filledBefore(job, peer)) ?? (await fill(job, peer, () => show("filled"))) };
  } catch (error) {
    return reasonOf(error);
  }
}

/** Figures of each, or why there are none. All are open when the first is asked. */
async function askAll(all: readonly Prepared[], material: Material, show: (step: string) => void) {
  const results = new Map<string, PeerFigures | string>();
  const open = new Map<string, PeerProcess>();
  try {
    for (const { peer, job } of all) {
      show(`${peer.name}, opened`);
      const started = await startPeer({ ...job, step: peer.persists ? "ask" : "both" });
      open.set(peer.name, started);
      try {
        await started.answer();
      } catch (error) {
        open.delete(peer.name);
        results.set(peer.name, reasonOf(error));
      }
    }
    const turns = turnsOf(material.questions.length, material.at_once.length);
    const asked = await askInTurns<PeerFigures>(open, turns, (turn) => show(`asked, turn ${turn} of ${turns.length}`));
    for (const { peer, filled } of all) {
      const figures = asked.get(peer.name);
      if (figures !== undefined)
        results.set(peer.name, typeof figures === "string" ? figures : { ...filled, ...figures });
    }
  } finally {
    for (const one of open.values()) one.kill();
  }
  return results;
}

type Job = Omit<PeerJob, "step">;

interface FilledNote extends Filled {
  readonly of: string;
  readonly fill_ms: number;
}

/** Tells other memories, another model, another server or other packages apart. */
const fingerprint = ({ material, model, server }: Job, { packages }: Peer): string =>
  createHash("sha256")
    .update(JSON.stringify([material.memories, model.version, server && new URL(server.url).host, packages]))
    .digest("hex");

async function filledBefore(job: Job, peer: Peer): Promise<Filled | undefined> {
  const note = join(job.folder, NOTE);
  if (!existsSync(note)) return undefined;
  if (job.server !== undefined && !(await hasDatabase(job.server.url, job.server.database))) return undefined;
  const { of, fill_ms, ...filled } = JSON.parse(await readFile(note, "utf8")) as FilledNote;
  // A note without it is of a build that took all that was given for stored: what the peer holds is unknown.
  if (filled.given === undefined) return undefined;
  // A peer that was given all would not hold more with more time; one that was not is given the time that is allowed now.
  const enough = filled.given === job.material.memories.length || fill_ms >= job.fill_ms;
  return enough && of === fingerprint(job, peer) ? filled : undefined;
}

/** From nothing: what an earlier run left half done, or filled with something else, is removed. */
async function fill(job: Job, peer: Peer, show: () => void): Promise<Filled> {
  show();
  await rm(job.folder, { recursive: true, force: true, maxRetries: 5 });
  await mkdir(job.folder, { recursive: true });
  if (job.server !== undefined) await dropDatabase(job.server.url, job.server.database);
  const filled = await (await startPeer({ ...job, step: "fill" })).answer<Filled>();
  const note: FilledNote = { ...filled, of: fingerprint(job, peer), fill_ms: job.fill_ms };
  await writeFile(join(job.folder, NOTE), JSON.stringify(note));
  return filled;
}

/** Inside the process of one peer. */
export async function measureJob(file: string, { say }: Pick<Context, "say">): Promise<void> {
  const job = JSON.parse(await readFile(file, "utf8")) as PeerJob;
  const peer = PEERS.find(({ name }) => name === job.peer);
  if (peer === undefined) throw invalid("--job", `There is no peer "${job.peer}".`);
  await runPeer(peer, job, (said) => say(answerLine(said)));
}
