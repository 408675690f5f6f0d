/** Hands exchanges to memory, and tells what became of each: whether it is stored, or what is wrong with it or with the way there. */
import type { Outcome } from "../../../engine/tools/outcome.ts";
import type { EpisodeRow } from "../../transcripts/episodes.ts";
import type { By } from "./files.ts";

/** Whose they are, and where they go. */
export interface Source {
  readonly by: By;
  readonly butler: string;
  readonly project?: string | undefined;
}

/** As much of the answer of `memory_ingest_batch` as is read here. */
interface Ingested {
  readonly results?: readonly { readonly ok: boolean; readonly error?: { readonly code: string } }[];
}

/** Under whoever said it. */
export type Ingest = (
  by: By,
  butler: string,
  project: string | undefined,
  rows: readonly EpisodeRow[],
) => Promise<Outcome<Ingested>>;

/** Undefined: it is stored, or was known. */
export type Verdict = undefined | { readonly code: string; readonly final: boolean };

/** Nothing could be handed over: nobody there, no such butler, not allowed. It says nothing about the rows. */
export class IngestRefused extends Error {
  readonly code: string;
  constructor(code: string) {
    super(`memory did not take it: ${code}`);
    this.code = code;
  }
}

/** The memory is down for now, which is nobody's fault and costs no attempt. */
export const UNAVAILABLE = "unavailable";

/** What can lie in a row itself. Everything else is about the way to memory and meets all of them alike. */
const OF_THE_ROW = new Set(["invalid_input", "integrity", "internal"]);

/** A row that spoils its batch is found by handing them over one by one. */
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
    // A conflict: the exchange is known, from a session that this one goes on from or when less of it was written.
    if (ok || error?.code === "conflict") return undefined;
    const code = error?.code ?? "internal";
    return { code, final: code === "invalid_input" || code === "forbidden" };
  });
}
