/** Measures one peer in a process of its own, which nothing else has warmed or filled. */
import { ensureDatabase } from "../../engine/adapters/db/postgres-admin.ts";
import { openOnnxEmbedder } from "../../engine/adapters/embedder/onnx.ts";
import type { Embedder } from "../../engine/adapters/embedder/port.ts";
import type { ModelFiles } from "../../engine/adapters/model/files.ts";
import { familyResidentMb, ownCpuMs } from "../family.ts";
import { round, type Spread, spread } from "../figures.ts";
import { distinct, picker, queryText } from "../sentences.ts";
import type { Material } from "./material.ts";
import { loaderOf } from "./packages.ts";
import type { OpenPeer, Peer } from "./peer.ts";

/** What a process that measures is told, by a file. */
export interface PeerJob {
  readonly peer: string;
  readonly cache: string;
  readonly folder: string;
  readonly model: ModelFiles;
  readonly server: { readonly url: string; readonly database: string } | undefined;
  readonly material: Material;
}

export interface PeerFigures {
  readonly store_seconds: number;
  readonly store_per_second: number;
  readonly search: Spread;
  /** The model alone on such texts, in the same process and in turns with the searches: both share the machine's moods. */
  readonly floor: Spread;
  readonly times_floor: { readonly p50: number; readonly p95: number };
  readonly per_second: number;
  /** CPU time of its process and of the one with the model a search, eight at once; that of a server is not in it. */
  readonly cpu_ms: number;
  readonly resident_mb: number;
  /** Percent of the evidence among the first ten, mean over questions; null without labelled questions. */
  readonly recall: number | null;
}

const LIMIT = 10;
const BATCH = 100;
const WARM_UP = 20;
const SEARCHERS = 8;

export async function measurePeer(peer: Peer, job: PeerJob): Promise<PeerFigures> {
  const embedder = await openOnnxEmbedder(job.model);
  try {
    const { folder, server, cache, material } = job;
    const databaseUrl =
      server === undefined || !peer.needsServer ? undefined : await ensureDatabase(server.url, server.database);
    const opened = await peer.open({ folder, server, databaseUrl, embedder, load: loaderOf(cache, peer) });
    try {
      return await measureOpened(opened, material, embedder);
    } finally {
      await opened.close();
    }
  } finally {
    await embedder.close();
  }
}

async function measureOpened(peer: OpenPeer, material: Material, embedder: Embedder): Promise<PeerFigures> {
  const { memories, questions, at_once } = material;
  const p = picker(77);
  const others = distinct(questions.length + WARM_UP, () => `${queryText(p)} again`);
  const since = performance.now();
  for (let from = 0; from < memories.length; from += BATCH) await peer.store(memories.slice(from, from + BATCH));
  const storeMs = performance.now() - since;
  for (const text of others.slice(questions.length)) await peer.search(text, LIMIT);
  const alone: number[] = [];
  const times: number[] = [];
  const shares: number[] = [];
  for (const [index, { text, evidence }] of questions.entries()) {
    const begun = performance.now();
    await embedder.embed(others[index] ?? "", "query");
    const started = performance.now();
    const found = await peer.search(text, LIMIT);
    alone.push(started - begun);
    times.push(performance.now() - started);
    if (evidence.length > 0) shares.push(shareOf(evidence, found));
  }
  const [search, floor] = [spread(times), spread(alone)];
  const cpu = ownCpuMs();
  const per_second = await perSecond(peer, at_once);
  const cpuMs = ownCpuMs() - cpu;
  return {
    store_seconds: round(storeMs / 1_000),
    store_per_second: round(memories.length / (storeMs / 1_000)),
    search,
    floor,
    times_floor: { p50: round(search.p50 / floor.p50, 2), p95: round(search.p95 / floor.p95, 2) },
    per_second,
    cpu_ms: round(cpuMs / at_once.length),
    resident_mb: familyResidentMb(process.pid) ?? round(process.memoryUsage().rss / 1e6, 0),
    recall: shares.length === 0 ? null : round((100 * shares.reduce((sum, one) => sum + one, 0)) / shares.length),
  };
}

export const shareOf = (evidence: readonly string[], found: readonly string[]): number =>
  evidence.filter((key) => found.slice(0, LIMIT).includes(key)).length / evidence.length;

async function perSecond(peer: OpenPeer, texts: readonly string[]): Promise<number> {
  const next = texts.values();
  const started = performance.now();
  await Promise.all(
    Array.from({ length: SEARCHERS }, async () => {
      for (const text of next) await peer.search(text, LIMIT);
    }),
  );
  return round(texts.length / ((performance.now() - started) / 1_000));
}
