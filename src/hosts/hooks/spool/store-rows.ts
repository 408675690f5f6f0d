/** Stores exchanges with `memory_ingest_batch` and returns a verdict on each. */
import type { Outcome } from "../../../engine/tools/outcome.ts";
import type { EpisodeRow } from "../../transcripts/episodes.ts";
import type { By } from "./files.ts";

/** Whose exchanges they are, and of which butler and project. */
export interface Source {
  readonly by: By;
  readonly butler: string;
  readonly project?: string | undefined;
}

/** The part of the answer of `memory_ingest_batch` that is read here. */
interface Ingested {
  readonly results?: readonly { readonly ok: boolean; readonly error?: { readonly code: string } }[];
}

/** Ingests as the author `by`. */
export type Ingest = (
  by: By,
  butler: string,
  project: string | undefined,
  rows: readonly EpisodeRow[],
) => Promise<Outcome<Ingested>>;

/** Undefined: the row is stored, or was stored before. */
export type Verdict = undefined | { readonly code: string; readonly final: boolean };

/** The whole batch was refused (memory is down, no such butler, not allowed), for a reason that is not in its rows. */
export class IngestRefused extends Error {
  readonly code: string;
  constructor(code: string) {
    super(`memory did not take it: ${code}`);
    this.code = code;
  }
}

/** A memory that is down for now costs a row no attempt. */
export const UNAVAILABLE = "unavailable";

/** Errors that a single row can cause. All others concern the memory and so every row alike. */
const OF_THE_ROW = new Set(["invalid_input", "integrity", "internal"]);

/** When a row makes its batch fail, it is found by storing the rows one by one. */
export async function storeRows(ingest: Ingest, source: Source, rows: readonly EpisodeRow[]): Promise<Verdict[]> {
  const outcome = await ingest(source.by, source.butler, source.project, rows);
  if (outcome.ok) return verdictsOf(outcome.answer, rows.length);
  const { code } = outcome.error;
  if (!OF_THE_ROW.has(code)) throw new IngestRefused(code);
  if (rows.length === 1) return [{ code, final: code === "invalid_input" }];
  const verdicts: Verdict[] = [];
  for (const row of rows) verdicts.push(...(await storeRows(ingest, source, [row])));
  return verdicts;
}

function verdictsOf({ results = [] }: Ingested, rows: number): Verdict[] {
  return Array.from({ length: rows }, (_, at) => {
    const { ok = false, error } = results[at] ?? {};
    // A conflict: the exchange was stored before, from the session that this one continues or from an earlier state of the transcript.
    if (ok || error?.code === "conflict") return undefined;
    const code = error?.code ?? "internal";
    return { code, final: code === "invalid_input" || code === "forbidden" };
  });
}
