/** Fills one peer, and measures it in another process, which nothing else has warmed or filled. */
import { ensureDatabase } from "../../engine/adapters/db/postgres-admin.ts";
import { openOnnxEmbedder } from "../../engine/adapters/embedder/onnx.ts";
import type { Embedder } from "../../engine/adapters/embedder/port.ts";
import type { ModelFiles } from "../../engine/adapters/model/files.ts";
import { familyResidentMb, ownCpuMs } from "../family.ts";
import { round, type Spread, spread } from "../figures.ts";
import { type KnownVectors, knownVectors } from "../known-vectors.ts";
import { tidyDatabase } from "../sql/peer-server.ts";
import { serverCpuAt } from "../sql/server-cpu.ts";
import type { Material } from "./material.ts";
import { loaderOf } from "./packages.ts";
import type { OpenPeer, Peer } from "./peer.ts";

/** What a process is told, by a file. */
export interface PeerJob {
  readonly peer: string;
  /** A peer that keeps nothing is filled and measured by one process. */
  readonly step: "fill" | "measure" | "both";
  readonly cache: string;
  readonly folder: string;
  /** Where the vectors of the memories are, for all peers. */
  readonly vectors: string;
  readonly model: ModelFiles;
  readonly server: { readonly url: string; readonly database: string } | undefined;
  readonly material: Material;
  /** After so many milliseconds a peer is given no more memories. */
  readonly fill_ms: number;
}

export interface Filled {
  /** Fewer than there are, where the time was over. */
  readonly stored: number;
  /** Without the seconds in which it waited for the model: the vectors of all memories are made once, for all peers. */
  readonly store_seconds: number;
  readonly store_per_second: number;
}

export interface PeerFigures extends Filled {
  readonly search: Spread;
  /** The model alone on such texts, in the same process and in turns with the searches: both share the machine's moods. */
  readonly floor: Spread;
  readonly times_floor: { readonly p50: number; readonly p95: number };
  readonly per_second: number;
  /** CPU time of its process and of the one with the model a search, eight at once. */
  readonly cpu_ms: number;
  /** That of all processes of its server meanwhile; null where there is none, or it cannot be seen from here. */
  readonly server_cpu_ms: number | null;
  readonly resident_mb: number;
  /** Percent of the evidence among the first ten, mean over questions; null without labelled questions. */
  readonly recall: number | null;
}

const LIMIT = 10;
const BATCH = 100;
const WARM_UP = 20;
const SEARCHERS = 8;
/** No more questions are asked after this, one at a time and at once: the slowest peer is not to take the whole hour. */
const SEARCH_MS = 90_000;

/** What `fill` gives, or the figures without it. */
export async function measurePeer(peer: Peer, job: PeerJob): Promise<Filled | Omit<PeerFigures, keyof Filled>> {
  const embedder = await openOnnxEmbedder(job.model);
  try {
    const { folder, server, cache, material } = job;
    const databaseUrl =
      server === undefined || !peer.needsServer ? undefined : await ensureDatabase(server.url, server.database);
    const vectors = job.step === "measure" ? undefined : await knownVectors(embedder, job.vectors);
    // While it is filled it gets what is known; its searches embed what they are asked.
    let source = vectors?.embedder ?? embedder;
    const switching: Embedder = {
      version: embedder.version,
      embed: (text, priority) => source.embed(text, priority),
      close: async () => undefined,
    };
    const place = { folder, server, databaseUrl, load: loaderOf(cache, peer) };
    const opened = await peer.open({ ...place, embedder: switching });
    try {
      const filled = vectors && (await fillOpened(opened, job, vectors, databaseUrl));
      if (filled !== undefined && job.step === "fill") return filled;
      source = embedder;
      return { ...filled, ...(await measureOpened(opened, material, embedder, databaseUrl)) };
    } finally {
      await opened.close();
    }
  } finally {
    await embedder.close();
  }
}

async function fillOpened(
  peer: OpenPeer,
  { material: { memories }, fill_ms }: PeerJob,
  vectors: KnownVectors,
  databaseUrl: string | undefined,
): Promise<Filled> {
  const since = performance.now();
  const spent = () => performance.now() - since - vectors.modelMs();
  let stored = 0;
  while (stored < memories.length && spent() < fill_ms) {
    const some = memories.slice(stored, stored + BATCH);
    await peer.store(some);
    stored += some.length;
  }
  const seconds = spent() / 1_000;
  await vectors.save();
  await peer.settle?.();
  if (databaseUrl !== undefined) await tidyDatabase(databaseUrl);
  return { stored, store_seconds: round(seconds), store_per_second: round(stored / seconds) };
}

async function measureOpened(
  peer: OpenPeer,
  { questions, at_once, alone: texts }: Material,
  embedder: Embedder,
  databaseUrl: string | undefined,
): Promise<Omit<PeerFigures, keyof Filled>> {
  await peer.ready?.();
  for (const text of at_once.slice(0, WARM_UP)) await peer.search(`${text}, again`, LIMIT);
  const alone: number[] = [];
  const times: number[] = [];
  const shares: number[] = [];
  const until = performance.now() + SEARCH_MS;
  for (const [index, { text, evidence }] of questions.entries()) {
    const begun = performance.now();
    if (begun > until) break;
    await embedder.embed(texts[index] ?? `${text} (alone)`, "query");
    const started = performance.now();
    const found = await peer.search(text, LIMIT);
    alone.push(started - begun);
    times.push(performance.now() - started);
    if (evidence.length > 0) shares.push(shareOf(evidence, found));
  }
  const [search, floor] = [spread(times), spread(alone)];
  const [cpu, serverCpu] = [ownCpuMs(), await serverCpuAt(databaseUrl)];
  const { per_second, count } = await atOnce(peer, at_once);
  const cpuMs = ownCpuMs() - cpu;
  const serverNow = await serverCpuAt(databaseUrl);
  return {
    search,
    floor,
    times_floor: { p50: round(search.p50 / floor.p50, 2), p95: round(search.p95 / floor.p95, 2) },
    per_second,
    cpu_ms: round(cpuMs / count),
    server_cpu_ms: serverCpu === null || serverNow === null ? null : round((serverNow - serverCpu) / count),
    resident_mb: familyResidentMb(process.pid) ?? round(process.memoryUsage().rss / 1e6, 0),
    recall: shares.length === 0 ? null : round((100 * shares.reduce((sum, one) => sum + one, 0)) / shares.length),
  };
}

export const shareOf = (evidence: readonly string[], found: readonly string[]): number =>
  evidence.filter((key) => found.slice(0, LIMIT).includes(key)).length / evidence.length;

async function atOnce(peer: OpenPeer, texts: readonly string[]): Promise<{ per_second: number; count: number }> {
  const next = texts.values();
  const started = performance.now();
  let count = 0;
  await Promise.all(
    Array.from({ length: SEARCHERS }, async () => {
      for (const text of next) {
        await peer.search(text, LIMIT);
        count++;
        if (performance.now() - started > SEARCH_MS) return;
      }
    }),
  );
  return { per_second: round(count / ((performance.now() - started) / 1_000)), count };
}
