/** Started by a client in the background. Its first words on descriptor 3 tell the client how it went. */
import { closeSync, writeSync } from "node:fs";
import { acquireLock } from "../../adapters/lock.ts";
import { homeAt, prepareHome, reasonOf, writePrivate } from "../../butler/home.ts";
import { loadRoster } from "../../butler/roster.ts";
import { failureNote, REPORT_FD, type StartReport } from "../../butler/start-owner.ts";
import type { ExitCode } from "../../serve/failures.ts";
import { type Context, readOptions } from "../command.ts";
import { stderrLog } from "../logger.ts";
import { runOwner, untilStopped } from "../owner-process.ts";

export const usage = "butler own: used by other commands to own the stores in the background.";

export async function run(args: readonly string[], { environment }: Context): Promise<ExitCode> {
  const { values } = readOptions(args, { report: { type: "boolean" } });
  const report = values.report ? reportOnce : () => undefined;
  const home = homeAt(environment.home);
  const log = stderrLog(environment.logLevel ?? "info");
  try {
    prepareHome(home);
    const lock = await acquireLock(home.ownerLock);
    if (!lock) {
      report({ state: "held" });
      return 0;
    }
    const roster = loadRoster(environment.roster);
    const house = await runOwner({ environment, home, lock, roster, log, mode: "auto" });
    report({ state: "ready" });
    await untilStopped(house);
  } catch (error) {
    const reason = reasonOf(error);
    log.error({ reason }, "the owner could not start");
    report({ state: "failed", reason });
    keepReason(home.failureFile, reason);
    process.exit(1);
  }
  process.exit(0);
}

function reportOnce(report: StartReport): void {
  try {
    writeSync(REPORT_FD, `${JSON.stringify(report)}\n`);
    closeSync(REPORT_FD);
  } catch (error) {
    // The client did not wait: nobody reads what is said here, and the owner serves the others.
    process.stderr.write(`no one took the start report: ${reasonOf(error)}\n`);
  }
}

/** For the clients that waited for this start without having caused it. */
function keepReason(file: string, reason: string): void {
  try {
    writePrivate(file, failureNote(reason));
  } catch (error) {
    process.stderr.write(`the reason could not be kept: ${reasonOf(error)}\n`);
  }
}
