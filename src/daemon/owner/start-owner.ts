/** Finds the owner of a home, or starts one that outlives the process that started it. */
import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync, renameSync, statSync } from "node:fs";
import type { Readable } from "node:stream";
import { acquireLock } from "../../engine/adapters/files/lock.ts";
import { reasonOf, unavailable } from "../../engine/domain/errors.ts";
import { type Home, prepareHome, readIfThere } from "../home.ts";
import { mayRepeat, notInTime, OwnerError } from "../line/owner-error.ts";
import { requestOwner } from "../line/request.ts";
import { retry } from "../line/retry.ts";
import { type OwnerNote, ownerNoteIn } from "./owner-file.ts";
import { REPORT_FD, type StartReport } from "./start-report.ts";

/** How to start `butler own`; `main` knows the path of the program. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

const OTHER_BUILD =
  'What answers at the socket of this home is no owner that this version understands; "butler stop" ends it.';
const NOBODY = 'No owner of the memory is running, and BUTLER_AUTOSTART=0 lets none be started; "butler up" does.';

const LOG_LIMIT = 5 * 1024 * 1024;

/** The owner's note, undefined when nobody answers or the one that does is stopping. */
export async function findOwner(home: Home, timeoutMs: number): Promise<OwnerNote | undefined> {
  try {
    const { status, json } = await requestOwner({
      socket: home.socket,
      method: "GET",
      path: "/owner/status",
      timeoutMs,
    });
    const note = status === 200 ? ownerNoteIn(json) : undefined;
    if (status === 200 && !note) throw unavailable(OTHER_BUILD);
    return note;
  } catch (error) {
    if (mayRepeat(error)) return undefined;
    if (error instanceof OwnerError)
      throw unavailable("The owner of the memory is running but does not answer.", error);
    throw error;
  }
}

/**
 * `until` is on the clock of `performance.now()`. Twenty callers at once start one owner: the rest wait for it. Without `launch`
 * only an owner that somebody else has started is used.
 */
export function ensureOwner(home: Home, launch: Launch | undefined, until: number): Promise<OwnerNote> {
  let oldFailure: { readonly note: string | undefined } | undefined;
  const giveUp = () => unavailable(notInTime(home));
  return retry({ until, firstMs: 20, mostMs: 200, giveUp }, async () => {
    const left = until - performance.now();
    if (left <= 0) throw giveUp();
    const found = await findOwner(home, left);
    if (found) return found;
    if (!launch) throw unavailable(NOBODY);
    if (!oldFailure) {
      prepareHome(home);
      oldFailure = { note: readIfThere(home.failureFile) };
    }
    const turn = await acquireLock(home.spawnLock);
    if (!turn) {
      const failure = readIfThere(home.failureFile);
      if (failure !== undefined && failure !== oldFailure.note) throw unavailable(sentenceOf(failure));
      return undefined;
    }
    try {
      const started = (await isFree(home.ownerLock)) && (await startOwner(home, launch, until - performance.now()));
      return started ? await findOwner(home, Math.max(1, until - performance.now())) : undefined;
    } finally {
      await turn.release();
    }
  });
}

/** An owner that is starting or draining holds the lock without answering; another one would only find the lock held. */
async function isFree(path: string): Promise<boolean> {
  const probe = await acquireLock(path);
  await probe?.release();
  return probe !== undefined;
}

/** True when the new owner is ready; false when another owner came first. */
async function startOwner(home: Home, launch: Launch, timeoutMs: number): Promise<boolean> {
  if (existsSync(home.ownerLog) && statSync(home.ownerLog).size > LOG_LIMIT)
    renameSync(home.ownerLog, `${home.ownerLog}.1`);
  const log = openSync(home.ownerLog, "a", 0o600);
  try {
    const child = spawn(launch.command, launch.args, {
      cwd: home.root,
      env: launch.env,
      detached: true,
      stdio: ["ignore", log, log, "pipe"],
      windowsHide: true,
    });
    const started = new Promise<never>((_, failed) => child.once("error", failed));
    const words = child.stdio[REPORT_FD] as Readable;
    const report = await Promise.race([readReport(words, timeoutMs), started]);
    words.destroy();
    child.unref();
    if (report.state === "failed") throw new Error(report.reason);
    return report.state === "ready";
  } catch (error) {
    throw unavailable(`The owner of the memory could not start: ${reasonOf(error)}`, error);
  } finally {
    closeSync(log);
  }
}

function readReport(words: Readable, timeoutMs: number): Promise<StartReport> {
  return new Promise((done) => {
    let text = "";
    const late = () => finish({ state: "failed", reason: "it did not report in time; its log may say why." });
    const timer = setTimeout(late, timeoutMs);
    function finish(report: StartReport) {
      clearTimeout(timer);
      done(report);
    }
    words.setEncoding("utf8");
    words.on("error", () => finish({ state: "failed", reason: "its report could not be read." }));
    words.on("data", (chunk: string) => {
      text += chunk;
      if (text.endsWith("\n")) finish(JSON.parse(text) as StartReport);
    });
    words.on("end", () => finish({ state: "failed", reason: "it ended without a word; its log may say why." }));
  });
}

function sentenceOf(note: string): string {
  try {
    const { reason } = JSON.parse(note) as { reason: string };
    return `The owner of the memory could not start: ${reason}`;
  } catch {
    return "The owner of the memory could not start; its log may say why.";
  }
}
