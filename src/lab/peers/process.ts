/** The process of one peer, from outside: it is told by lines, and answers each with a line. */
import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { unavailable } from "../../engine/domain/errors.ts";
import { programCommand } from "../../main/owner/launch.ts";
import type { PeerJob } from "./measure.ts";

/** Peers may print words of their own. */
const MARK = "peer: ";
const LAST_WORDS = 300;
const MINUTE_MS = 60_000;
/** A peer that takes longer than this for one answer, besides filling, is given up. */
const LIMIT_MS = 30 * MINUTE_MS;

export const answerLine = (said: object): string => `${MARK}${JSON.stringify(said)}`;

export interface PeerProcess {
  /** The next answer; rejects with the last words of a process that has ended. */
  answer<T>(): Promise<T>;
  tell(line: object): void;
  /** Ends its input: it answers once more, and ends. */
  end(): void;
  kill(): void;
}

export async function startPeer(job: PeerJob): Promise<PeerProcess> {
  const file = join(job.folder, "job.json");
  await writeFile(file, JSON.stringify(job));
  const { command, args } = programCommand();
  // Some of these programs report to their makers unless they are told not to.
  const silent = ["MEM0_TELEMETRY=false", "MASTRA_TELEMETRY_DISABLED=1", "DO_NOT_TRACK=1"];
  const words = [...silent, command, ...args, "bench", "peers", "--job", file];
  // A group of its own, so that the program's own child ends with it.
  const child = spawn("env", words, { stdio: ["pipe", "pipe", "pipe"], detached: true });
  const kill = () => {
    try {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended meanwhile.
    }
  };
  process.once("exit", kill);
  child.once("close", () => process.off("exit", kill));
  let complained = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    complained = (complained + chunk).slice(-LAST_WORDS);
  });
  // After its end a write fails; the reason is what `answer` says.
  child.stdin.on("error", () => undefined);
  const ended = new Promise<string>((done) => {
    child.once("error", (error) => done(String(error)));
    child.once("close", (code) => done(complained.trim() || `its process ended with ${code}`));
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();

  async function next<T>(): Promise<T> {
    for (;;) {
      const { value, done } = await lines.next();
      if (done === true) throw unavailable(await ended);
      if (value.startsWith(MARK)) return JSON.parse(value.slice(MARK.length)) as T;
    }
  }
  return {
    async answer<T>() {
      const most = LIMIT_MS + job.fill_ms;
      let late = false;
      const timer = setTimeout(() => {
        late = true;
        kill();
      }, most);
      try {
        return await next<T>();
      } catch (error) {
        throw late ? unavailable(`it took longer than ${most / MINUTE_MS} minutes`) : error;
      } finally {
        clearTimeout(timer);
      }
    },
    tell: (line) => void child.stdin.write(`${JSON.stringify(line)}\n`),
    end: () => void child.stdin.end(),
    kill,
  };
}
