/** A `claude` on the PATH that writes down how it was called and does what it is told. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Asked, Reply } from "./fake-model.ts";

/** How it was called, as it has seen it. */
export interface Call {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly stdin: string;
  readonly pid: number;
  /** A process that it has started, when it hangs. */
  readonly child?: number;
}

/** Written once for all calls: `plan.json` beside it tells what the next one does, and each call leaves a file behind. */
const script = (folder: string) => `#!${process.execPath}
const fs = require("node:fs");
const { spawn } = require("node:child_process");
const folder = ${JSON.stringify(folder)};
const plan = JSON.parse(fs.readFileSync(folder + "/plan.json", "utf8"));
const nth = fs.readdirSync(folder + "/calls").length;
const reply = plan[Math.min(nth, plan.length - 1)];
const stdin = fs.readFileSync(0, "utf8");
const child = reply.kind === "hang" ? spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]).pid : undefined;
const call = { argv: process.argv.slice(2), env: process.env, cwd: process.cwd(), stdin, pid: process.pid, child };
fs.writeFileSync(folder + "/calls/.new", JSON.stringify(call));
fs.renameSync(folder + "/calls/.new", folder + "/calls/" + nth + ".json");
const usage = { input_tokens: 400, cache_creation_input_tokens: 500, cache_read_input_tokens: 100, output_tokens: 100 };
const spent = { total_cost_usd: 0.0045, usage };
const result = { type: "result", subtype: "success", is_error: false, num_turns: 1, session_id: "s", stop_reason: "end_turn" };
const print = (more, code) => {
  fs.writeSync(1, JSON.stringify({ ...result, ...more }) + "\\n");
  process.exit(code);
};
const parse = (text) => { try { return JSON.parse(text); } catch { return undefined; } };
if (reply.raw !== undefined) {
  fs.writeSync(1, reply.raw);
  fs.writeSync(2, reply.stderr);
  process.exit(reply.code);
}
if (reply.kind === "say") print({ ...spent, result: reply.text, structured_output: parse(reply.text) }, 0);
if (reply.kind === "refuse") print({ ...spent, result: "", stop_reason: "refusal" }, 0);
if (reply.kind === "cut off") print({ ...spent, result: reply.text, stop_reason: "max_tokens" }, 0);
if (reply.kind === "fail") {
  const words = "API Error: " + reply.status + " " + JSON.stringify({ error: { message: reply.message } });
  print({ is_error: true, result: words, stop_reason: null, total_cost_usd: 0 }, 1);
}
if (reply.kind === "die") {
  fs.writeSync(1, JSON.stringify({ ...result, ...spent, result: reply.text }).slice(0, 60));
  process.kill(process.pid, "SIGKILL");
}
setInterval(() => {}, 1000);
`;

/** What a run prints, word for word. */
export interface Printed {
  readonly raw: string;
  readonly stderr: string;
  readonly code: number;
}

export interface FakeClaude {
  /** To be put on the PATH. */
  readonly bin: string;
  plan(...replies: readonly (Reply | Printed)[]): Promise<void>;
  calls(): readonly Call[];
  close(): Promise<void>;
}

export const flagOf = (argv: readonly string[], flag: string): string | undefined =>
  argv.includes(flag) ? argv[argv.indexOf(flag) + 1] : undefined;

export const askedOf = ({ argv, stdin }: Call): Asked => ({
  system: flagOf(argv, "--system-prompt") ?? "",
  turns: [{ role: "user", text: stdin }],
  schema: JSON.parse(flagOf(argv, "--json-schema") ?? "null") as unknown,
});

export async function startFakeClaude(): Promise<FakeClaude> {
  const folder = await mkdtemp(join(tmpdir(), "butler-fake-claude-"));
  const bin = join(folder, "bin");
  const kept = join(folder, "calls");
  await mkdir(bin);
  await writeFile(join(bin, "claude"), script(folder));
  await chmod(join(bin, "claude"), 0o755);
  // Whatever package.json lies above the folder of temporary files.
  await writeFile(join(bin, "package.json"), '{"type":"commonjs"}');
  return {
    bin,
    plan: async (...replies) => {
      await rm(kept, { recursive: true, force: true });
      await mkdir(kept);
      await writeFile(join(folder, "plan.json"), JSON.stringify(replies));
    },
    calls: () =>
      !existsSync(kept)
        ? []
        : readdirSync(kept)
            .filter((name) => name.endsWith(".json"))
            .sort()
            .map((name) => JSON.parse(readFileSync(join(kept, name), "utf8")) as Call),
    close: () => rm(folder, { recursive: true, force: true }),
  };
}
