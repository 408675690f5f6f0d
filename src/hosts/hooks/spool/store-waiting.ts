/** One round over the exchanges that wait in the spool: each is stored or fails by itself. */

import type { Home } from "../../../daemon/home.ts";
import type { Log } from "../../../engine/adapters/log.ts";
import { faultOf } from "../fault.ts";
import { isDue, moveToFailed, readRow, removeRow, rowFailed, type WaitingRow, waitingRows } from "./rows.ts";
import { type Ingest, storeRows, UNAVAILABLE } from "./store-rows.ts";

export interface WaitingParts {
  readonly home: Home;
  readonly log: Log;
  readonly ingest: Ingest;
  now(): Date;
  readonly signal: AbortSignal;
}

export async function storeWaitingRows(parts: WaitingParts): Promise<void> {
  const { home, log, signal } = parts;
  /** Butlers whose memory is down: their rows lose no attempt and are not tried again in this round. */
  const down = new Set<string>();
  for (const name of waitingRows(home)) {
    if (signal.aborted) return;
    try {
      const left = readRow(home, name);
      if (left === undefined) {
        moveToFailed(home, name);
        log.error(
          { file: name },
          "an exchange that waited cannot be read, or does not say whose it is; it is put aside",
        );
      } else if (isDue(left.trouble, parts.now()) && !down.has(left.butler)) await storeOne(parts, name, left, down);
    } catch (error) {
      log.warn({ file: name, reason: faultOf(error) }, "an exchange that waits could not be looked at");
    }
  }
}

async function storeOne(parts: WaitingParts, name: string, left: WaitingRow, down: Set<string>): Promise<void> {
  const { home, log, now } = parts;
  const { butler } = left;
  try {
    const [verdict] = await storeRows(parts.ingest, left, [left.row]);
    if (verdict === undefined) removeRow(home, name);
    else {
      rowFailed(home, name, left, verdict.code, now(), verdict.final);
      log.warn({ butler, file: name, reason: verdict.code }, "an exchange cannot be stored");
    }
  } catch (error) {
    const code = faultOf(error);
    log.warn({ butler, file: name, reason: code }, "an exchange that waits could not be stored yet");
    if (code === UNAVAILABLE) down.add(butler);
    else rowFailed(home, name, left, code, now(), false);
  }
}
