/** What nothing costs on this machine in this run: an empty shell, an empty Node process, a question by curl. */
import { spawn } from "node:child_process";
import { spread } from "../figures.ts";
import { residentMb } from "../latency/processes.ts";

export interface Floors {
  /** Milliseconds, at the median. */
  readonly shell: number;
  readonly node: number;
  readonly nodeMb: number | null;
}

export async function floorsOf(runs: number): Promise<Floors> {
  const shell: number[] = [];
  const node: number[] = [];
  // In turns, so that other load on the machine affects both alike.
  for (let n = 0; n < runs; n++) {
    shell.push(await timed("sh", ["-c", ":"]));
    node.push(await timed(process.execPath, ["-e", "0"]));
  }
  return { shell: spread(shell).p50, node: spread(node).p50, nodeMb: await emptyNodeMb() };
}

/** Milliseconds of a question to the owner's socket that needs no memory: what a hook's question cannot be quicker than. */
export async function curlFloor(socket: string, runs: number): Promise<number> {
  const times: number[] = [];
  const words = ["-q", "-s", "-o", "/dev/null", "--unix-socket", socket, "http://localhost/owner/status"];
  for (let n = 0; n < runs; n++) times.push(await timed("curl", words));
  return spread(times).p50;
}

async function timed(command: string, args: readonly string[]): Promise<number> {
  const started = performance.now();
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "ignore"] });
  child.stdout.resume();
  await new Promise((done, failed) => {
    child.once("error", failed);
    child.once("close", done);
  });
  return performance.now() - started;
}

async function emptyNodeMb(): Promise<number | null> {
  const child = spawn(process.execPath, ["-e", "process.stdin.resume(); console.log(0)"], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  await new Promise((done) => child.stdout.once("data", done));
  const resident = residentMb(child.pid ?? 0);
  const gone = new Promise((done) => child.once("close", done));
  child.stdin.end();
  await gone;
  return resident;
}
