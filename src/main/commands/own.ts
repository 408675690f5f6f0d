/** An owner that a client started in the background. It reports on file descriptor 3 whether it is ready. */

import { closeSync, writeSync } from "node:fs";
import { homeAt, prepareHome, writePrivate } from "../../daemon/home.ts";
import { failureNote, REPORT_FD, type StartReport } from "../../daemon/owner/start-report.ts";
import type { ExitCode } from "../../doors/failures.ts";
import { acquireLock } from "../../engine/adapters/files/lock.ts";
import { errorCode, reasonOf } from "../../engine/domain/errors.ts";
import { roomForSearches, tuneProcess } from "../owner/light-process.ts";
import { type Context, readOptions } from "../program/command.ts";
import { openEarly } from "../wiring/early-store.ts";

export const usage = "butler own: used by other commands to own the stores in the background.";

export async function run(args: readonly string[], { environment }: Context): Promise<ExitCode> {
  const { values } = readOptions(args, { report: { type: "boolean" } });
  const report = values.report ? reportOnce : () => undefined;
  const home = homeAt(environment.home);
  try {
    prepareHome(home);
    const lock = await acquireLock(home.ownerLock);
    if (!lock) {
      report({ state: "held" });
      return 0;
    }
    tuneProcess();
    if (environment.databaseUrl !== undefined) roomForSearches();
    const early = environment.databaseUrl === undefined ? openEarly(home, environment.roster) : undefined;
    // Everything else is loaded while the store opens.
    const [{ loadRoster }, { stderrLog }, { runOwner, untilStopped }] = await Promise.all([
      import("../../daemon/roster/roster.ts"),
      import("../logger.ts"),
      import("../owner/owner-process.ts"),
    ]);
    const log = stderrLog(environment.logLevel ?? "info");
    const roster = loadRoster(environment.roster, home.settingsFile);
    const running = await runOwner({ environment, home, lock, roster, log, mode: "auto", early });
    report({ state: "ready" });
    await untilStopped(running);
  } catch (error) {
    const reason = whyItFailed(error, home.root);
    process.stderr.write(`the owner could not start: ${reason}\n`);
    report({ state: "failed", reason });
    keepReason(home.failureFile, reason);
    process.exit(1);
  }
  process.exit(0);
}

/** Node names a full disk by its code alone, which says nothing of what to do. */
function whyItFailed(error: unknown, home: string): string {
  if (errorCode(error) !== "ENOSPC") return reasonOf(error);
  return `the disk that holds ${home} is full: free some space and try again; nothing was lost.`;
}

function reportOnce(report: StartReport): void {
  try {
    writeSync(REPORT_FD, `${JSON.stringify(report)}\n`);
    closeSync(REPORT_FD);
  } catch (error) {
    // The client did not wait for the report; the owner serves other clients.
    process.stderr.write(`no one took the start report: ${reasonOf(error)}\n`);
  }
}

/** For clients that waited for this owner but did not start it themselves. */
function keepReason(file: string, reason: string): void {
  try {
    writePrivate(file, failureNote(reason));
  } catch (error) {
    process.stderr.write(`the reason could not be kept: ${reasonOf(error)}\n`);
  }
}
