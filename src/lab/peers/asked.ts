/** One open peer that is asked a part of the questions at a time: others have their turns between, so that all share the machine's moods. */
import type { Embedder } from "../../engine/adapters/embedder/port.ts";
import { familyResidentMb, ownCpuMs } from "../family.ts";
import { round, type Spread, spread } from "../figures.ts";
import { serverCpuAt } from "../sql/server-cpu.ts";
import type { Material } from "./material.ts";
import type { OpenPeer } from "./peer.ts";

export interface AskedFigures {
  readonly search: Spread;
  /** The model alone on such texts, in the same process and in turns with the searches. */
  readonly floor: Spread;
  readonly times_floor: { readonly p50: number; readonly p95: number };
  readonly per_second: number;
  /** CPU time of its process a search, the model in it, eight at once. */
  readonly cpu_ms: number;
  /** That of all processes of its server meanwhile; null where there is none, or it cannot be seen from here. */
  readonly server_cpu_ms: number | null;
  readonly resident_mb: number;
  /** Percent of the evidence among the first ten, mean over questions; null without labelled questions. */
  readonly recall: number | null;
}

export interface Asked {
  one(from: number, to: number): Promise<void>;
  atOnce(from: number, to: number): Promise<void>;
  figures(): AskedFigures;
}

const LIMIT = 10;
/**
 * Searches before the first that counts, as of a process that has served for a while: until the just-in-time compiler has done with a peer's code,
 * which for ours takes about a hundred of them and both cores of a small machine. A slow peer gets those that fit into the time, and at least a few.
 */
const WARM_UP = { least: 20, most: 150, ms: 10_000 } as const;
const SEARCHERS = 8;
/** No more questions are asked after this, one at a time and at once: the slowest peer is not to take the whole hour. */
const SEARCH_MS = 90_000;
/** Before each turn at once, not counted: the embedder loads a second thread when texts have kept waiting, and gives it back after a rest. */
const LEAD_MS = 1_500;

export async function openAsked(
  peer: OpenPeer,
  { questions, at_once, alone: texts }: Material,
  embedder: Embedder,
  databaseUrl: string | undefined,
): Promise<Asked> {
  const alone: number[] = [];
  const times: number[] = [];
  const shares: number[] = [];
  const once = { count: 0, ms: 0, cpu: 0, server: 0 as number | null };
  const left = { one: SEARCH_MS, atOnce: SEARCH_MS };
  let leads = 0;
  await peer.ready?.();
  await warmUp(peer, at_once);
  await peer.rest?.();

  return {
    async one(from, to) {
      const until = performance.now() + left.one;
      for (const [index, { text, evidence }] of questions.slice(from, to).entries()) {
        const begun = performance.now();
        if (begun > until) break;
        await embedder.embed(texts[from + index] ?? `${text} (alone)`, "query");
        const started = performance.now();
        const found = await peer.search(text, LIMIT);
        alone.push(started - begun);
        times.push(performance.now() - started);
        if (evidence.length > 0) shares.push(shareOf(evidence, found));
      }
      left.one = until - performance.now();
      await peer.rest?.();
    },
    async atOnce(from, to) {
      if (left.atOnce <= 0) return;
      const repeated = (function* () {
        for (;;) for (const text of at_once) yield `${text}, ${++leads}`;
      })();
      await searchAtOnce(peer, repeated, LEAD_MS);
      await peer.rest?.();
      const [cpu, server] = [ownCpuMs(), await serverCpuAt(databaseUrl)];
      const { count, ms } = await searchAtOnce(peer, at_once.slice(from, to).values(), left.atOnce);
      await peer.rest?.();
      const serverNow = await serverCpuAt(databaseUrl);
      once.cpu += ownCpuMs() - cpu;
      once.server =
        once.server === null || server === null || serverNow === null ? null : once.server + serverNow - server;
      once.count += count;
      once.ms += ms;
      left.atOnce -= ms;
    },
    figures() {
      const [search, floor] = [spread(times), spread(alone)];
      return {
        search,
        floor,
        times_floor: { p50: round(search.p50 / floor.p50, 2), p95: round(search.p95 / floor.p95, 2) },
        per_second: round(once.count / (once.ms / 1_000)),
        cpu_ms: round(once.cpu / once.count),
        server_cpu_ms: once.server === null ? null : round(once.server / once.count),
        resident_mb: familyResidentMb(process.pid) ?? round(process.memoryUsage().rss / 1e6, 0),
        recall: shares.length === 0 ? null : round((100 * shares.reduce((sum, one) => sum + one, 0)) / shares.length),
      };
    },
  };
}

async function warmUp(peer: OpenPeer, texts: readonly string[]): Promise<void> {
  const until = performance.now() + WARM_UP.ms;
  for (let n = 0; n < WARM_UP.most && (n < WARM_UP.least || performance.now() < until); n++)
    await peer.search(`${texts[n % texts.length] ?? "warm"}, again ${n}`, LIMIT);
}

export const shareOf = (evidence: readonly string[], found: readonly string[]): number =>
  evidence.filter((key) => found.slice(0, LIMIT).includes(key)).length / evidence.length;

async function searchAtOnce(peer: OpenPeer, texts: Iterator<string> & Iterable<string>, most: number) {
  const started = performance.now();
  let count = 0;
  await Promise.all(
    Array.from({ length: SEARCHERS }, async () => {
      for (let next = texts.next(); next.done !== true; next = texts.next()) {
        await peer.search(next.value, LIMIT);
        count++;
        if (performance.now() - started > most) return;
      }
    }),
  );
  return { count, ms: performance.now() - started };
}
