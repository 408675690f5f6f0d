/** What an import would store: files are counted, episodes and time are estimated from a sample that is read. */
import { type Found, type TranscriptRoot, transcriptsIn, type Unfit } from "./find.ts";
import { readExchanges } from "./read.ts";

export interface Survey {
  readonly files: number;
  readonly bytes: number;
  readonly sessions: number;
  /** ISO times; null when there is nothing. */
  readonly first: string | null;
  readonly last: string | null;
  readonly episodes: number;
  readonly minutes: number;
  readonly unfit: number;
}

const SAMPLE_FILES = 12;
const SAMPLE_BYTES = 4 * 1024 * 1024;
const SAMPLE_MS = 3_000;
/** Embedding and storing an episode of 1,450 characters took 28 ms on two idle cores and 72 ms on busy ones. */
const STORE_MS = 40;

export interface SurveyOptions {
  readonly roots: readonly TranscriptRoot[];
  readonly since: Date | undefined;
  readonly signal: AbortSignal;
  unfit?(file: Unfit): void;
}

export async function survey({ roots, since, signal, unfit }: SurveyOptions): Promise<Survey> {
  let [files, bytes, bad] = [0, 0, 0];
  let first: string | null = null;
  let last: string | null = null;
  let sample: Found[] = [];
  let stride = 1;
  for await (const found of transcriptsIn(roots)) {
    if (signal.aborted) break;
    if ("problem" in found) {
      bad++;
      unfit?.(found);
      continue;
    }
    if (since !== undefined && found.changed < since) continue;
    // The sample is spread evenly over all files, though their number is not known yet.
    if (files % stride === 0) sample.push(found);
    if (sample.length > SAMPLE_FILES) {
      sample = sample.filter((_, at) => at % 2 === 0);
      stride *= 2;
    }
    files++;
    bytes += found.bytes;
    const started = found.head.started ?? found.changed.toISOString();
    if (first === null || started < first) first = started;
    if (last === null || found.changed.toISOString() > last) last = found.changed.toISOString();
  }
  const rate = await measured(sample, since, signal);
  const episodes = Math.round(bytes * rate.perByte);
  const minutes = (bytes * rate.msPerByte + episodes * STORE_MS) / 60_000;
  return { files, bytes, sessions: files, first, last, episodes, minutes: Math.round(minutes * 10) / 10, unfit: bad };
}

async function measured(sample: readonly Found[], since: Date | undefined, signal: AbortSignal) {
  const begun = performance.now();
  let [read, exchanges] = [0, 0];
  for (const { path, bytes, head } of sample) {
    if (performance.now() - begun > SAMPLE_MS || signal.aborted) break;
    let reached = bytes;
    try {
      for await (const { next, at } of readExchanges({ agent: head.agent, path, final: true, signal })) {
        if (since === undefined || at >= since.toISOString()) exchanges++;
        reached = Math.max(next, 1);
        if (next > SAMPLE_BYTES || performance.now() - begun > 2 * SAMPLE_MS) break;
      }
    } catch {
      // A file that cannot be read is reported by the import.
      continue;
    }
    read += reached > SAMPLE_BYTES ? reached : bytes;
  }
  const bytes = Math.max(1, read);
  return { perByte: exchanges / bytes, msPerByte: (performance.now() - begun) / bytes };
}
