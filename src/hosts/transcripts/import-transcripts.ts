/** Stores the exchanges of transcripts in small batches. What is stored already stays as it is, so an import may be repeated. */

import { reasonOf } from "../../engine/domain/errors.ts";
import type { Outcome } from "../../engine/tools/outcome.ts";
import { type EpisodeRow, episodeOf, sessionIdOf } from "./episodes.ts";
import { type Found, type TranscriptRoot, transcriptsIn } from "./find.ts";
import { readExchanges } from "./read.ts";

export interface ImportResult {
  readonly files: number;
  readonly stored: number;
  readonly already: number;
  readonly refused: number;
  readonly skipped: number;
  /** The first files that were skipped, or of which exchanges were refused, and why. */
  readonly problems: readonly { readonly path: string; readonly problem: string }[];
  /** False: the import was stopped. */
  readonly complete: boolean;
}

export interface ImportOptions {
  readonly roots: readonly TranscriptRoot[];
  readonly since: Date | undefined;
  readonly signal: AbortSignal;
  /** The project of a folder; undefined for none. */
  project(folder: string | undefined): string | undefined;
  store(
    rows: readonly EpisodeRow[],
    of: { project: string | undefined; session: string },
  ): Promise<Outcome<{ readonly results: readonly Row[] }>>;
  progress?(bytes: number, path: string): void;
}

/** The memory refused a whole batch: going on would only fail again. */
export class ImportFailure extends Error {
  readonly failure: Extract<Outcome, { ok: false }>["error"];
  readonly sofar: ImportResult;
  constructor(failure: Extract<Outcome, { ok: false }>["error"], sofar: ImportResult) {
    super(failure.message);
    this.failure = failure;
    this.sofar = sofar;
  }
}

const BATCH = 50;
const MOST_PROBLEMS = 50;

export async function importTranscripts(options: ImportOptions): Promise<ImportResult> {
  const { roots, since, signal } = options;
  const counts = { files: 0, stored: 0, already: 0, refused: 0, skipped: 0 };
  const problems: { path: string; problem: string }[] = [];
  const sofar = (complete: boolean): ImportResult => ({ ...counts, problems, complete });
  const skip = (path: string, problem: string) => {
    counts.skipped++;
    if (problems.length < MOST_PROBLEMS) problems.push({ path, problem });
  };
  let done = 0;

  async function flush(rows: EpisodeRow[], { path, head }: Found, project: string | undefined) {
    if (rows.length === 0) return;
    const outcome = await options.store(rows, { project, session: sessionIdOf(head.session) });
    if (!outcome.ok) throw new ImportFailure(outcome.error, sofar(false));
    for (const row of outcome.answer.results) {
      if (row.ok) counts[row.duplicate === true ? "already" : "stored"]++;
      // The exchange was stored before, from an earlier state of the transcript or by an earlier version.
      else if (row.error?.code === "conflict") counts.already++;
      else {
        counts.refused++;
        if (problems.length < MOST_PROBLEMS) problems.push({ path, problem: row.error?.message ?? "was refused" });
      }
    }
    rows.length = 0;
  }

  async function take(found: Found): Promise<void> {
    const { path, head } = found;
    const { agent, session, folder } = head;
    const project = options.project(folder);
    const about = {
      ...{ agent, session },
      ...(folder === undefined ? {} : { folder }),
      ...(project === undefined ? {} : { project }),
    };
    const rows: EpisodeRow[] = [];
    let any = false;
    for await (const exchange of readExchanges({ agent, path, final: true, signal })) {
      any = true;
      if (since !== undefined && exchange.at < since.toISOString()) continue;
      rows.push(episodeOf(exchange, about));
      if (rows.length < BATCH) continue;
      await flush(rows, found, project);
      options.progress?.(done + exchange.next, path);
    }
    // Exchanges that were read before the import was stopped are complete and stored.
    await flush(rows, found, project);
    if (!any && !signal.aborted) skip(path, "holds no exchange");
    else counts.files++;
  }

  for await (const found of transcriptsIn(roots)) {
    if (signal.aborted) return sofar(false);
    if ("problem" in found) {
      skip(found.path, found.problem);
      continue;
    }
    if (since !== undefined && found.changed < since) continue;
    try {
      await take(found);
    } catch (error) {
      if (error instanceof ImportFailure) throw error;
      skip(found.path, `cannot be read: ${reasonOf(error)}`);
    }
    done += found.bytes;
    options.progress?.(done, found.path);
  }
  return sofar(!signal.aborted);
}

/** The part of a row of `memory_ingest_batch` that is read here. */
interface Row {
  readonly ok: boolean;
  readonly duplicate?: boolean;
  readonly error?: { readonly code: string; readonly message: string };
}
