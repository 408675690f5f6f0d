/** Fills one peer, and asks it in another process, which nothing else has warmed or filled. */
import { createInterface } from "node:readline";
import { ensureDatabase } from "../../engine/adapters/db/postgres-admin.ts";
import { openOnnxEmbedder } from "../../engine/adapters/embedder/onnx.ts";
import type { Embedder } from "../../engine/adapters/embedder/port.ts";
import type { ModelFiles } from "../../engine/adapters/model/files.ts";
import { round } from "../figures.ts";
import { type KnownVectors, knownVectors } from "../known-vectors.ts";
import { tidyDatabase } from "../sql/peer-server.ts";
import { type AskedFigures, openAsked } from "./asked.ts";
import type { Material } from "./material.ts";
import { loaderOf } from "./packages.ts";
import type { OpenPeer, Peer } from "./peer.ts";

/** What a process is told, by a file. */
export interface PeerJob {
  readonly peer: string;
  /** A peer that keeps nothing is filled and asked by one process. */
  readonly step: "fill" | "ask" | "both";
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
  /** How many memories it was given: fewer than there are, where the time was over. */
  readonly given: number;
  /** How many of them it says it has stored: fewer than it was given, where it refused some; all, where its interface does not tell. */
  readonly stored: number;
  /** Without the seconds in which it waited for the model: the vectors of all memories are made once, for all peers. */
  readonly store_seconds: number;
  readonly store_per_second: number;
}

export interface PeerFigures extends Filled, AskedFigures {}

/** What its process is told by lines on its input, after it has said that it is open; each is answered by one line. */
export type Turn = { readonly one: readonly [number, number] } | { readonly at_once: readonly [number, number] };

const BATCH = 100;

/** Answers what `fill` gives, or, at the end of its input, the figures. */
export async function runPeer(peer: Peer, job: PeerJob, answer: (said: object) => void): Promise<void> {
  const embedder = await openOnnxEmbedder(job.model);
  try {
    const { folder, server, cache, material } = job;
    const databaseUrl =
      server === undefined || !peer.needsServer ? undefined : await ensureDatabase(server.url, server.database);
    const vectors = job.step === "ask" ? undefined : await knownVectors(embedder, job.vectors);
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
      if (job.step === "fill") return answer(filled ?? {});
      source = embedder;
      const asked = await openAsked(opened, material, embedder, databaseUrl);
      answer({});
      for await (const line of createInterface({ input: process.stdin })) {
        const turn = JSON.parse(line) as Turn;
        if ("one" in turn) await asked.one(...turn.one);
        else await asked.atOnce(...turn.at_once);
        answer({});
      }
      answer({ ...filled, ...asked.figures() });
    } finally {
      await opened.close();
    }
  } finally {
    await embedder.close();
  }
}

export async function fillOpened(
  peer: OpenPeer,
  { material: { memories }, fill_ms }: Pick<PeerJob, "material" | "fill_ms">,
  vectors: Pick<KnownVectors, "modelMs" | "save">,
  databaseUrl: string | undefined,
): Promise<Filled> {
  const since = performance.now();
  const spent = () => performance.now() - since - vectors.modelMs();
  let [given, stored] = [0, 0];
  while (given < memories.length && spent() < fill_ms) {
    const some = memories.slice(given, given + BATCH);
    stored += (await peer.store(some)) ?? some.length;
    given += some.length;
  }
  const seconds = spent() / 1_000;
  await vectors.save();
  await peer.settle?.();
  if (databaseUrl !== undefined) await tidyDatabase(databaseUrl);
  return { given, stored, store_seconds: round(seconds), store_per_second: round(stored / seconds) };
}
