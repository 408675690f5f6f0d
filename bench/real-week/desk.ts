/** A home, a repository and a Claude Code of their own, all at the time that the week has come to. */
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Part } from "../../src/lab/everyday/week/script.ts";
import { TEST_MODEL_CACHE } from "../../test/support/model.ts";
import { type ModelApis, modelApis, type ToolCall } from "../../test/support/model-apis.ts";
import { type Desk, HANDLING } from "../../test/support/real-agents.ts";

export interface WeekDesk extends Desk {
  readonly root: string;
  readonly api: ModelApis;
  readonly butlerProgram: string;
}

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));

export async function openDesk(modules: string, butlerProgram: string): Promise<WeekDesk> {
  const program = HANDLING["claude-code"].program(modules);
  if (program === undefined) throw new Error(`${HANDLING["claude-code"].comesIn} is not installed.`);
  const root = mkdtempSync(join(tmpdir(), "real-week-"));
  const api = await modelApis();
  const desk = { root, api, program, url: api.url, butlerProgram: resolve(butlerProgram) };
  const [user, project] = [join(root, "user"), join(root, "kassa")];
  for (const folder of [join(user, ".claude"), project, join(root, "bin")]) mkdirSync(folder, { recursive: true });
  const allowed = { permissions: { allow: ["Bash", "Edit", "Write"] } };
  writeFileSync(join(user, ".claude", "settings.json"), JSON.stringify(allowed));
  execFileSync("git", ["init", "--quiet", "--initial-branch=main", project]);
  return { ...desk, user, project };
}

export async function closeDesk(desk: WeekDesk): Promise<void> {
  await butler(desk, ["stop"], undefined).catch(() => undefined);
  await desk.api.close();
  rmSync(desk.root, { recursive: true, force: true, maxRetries: 5 });
}

/** The variables of everything that runs at the desk; without a time they are those of a person's own shell. */
export function variables({ root, user, project }: WeekDesk, now: Date | undefined): Record<string, string> {
  return {
    HOME: user,
    BUTLER_HOME: join(root, "home"),
    BUTLER_MODEL_DIR: TEST_MODEL_CACHE,
    NO_COLOR: "1",
    ...(now === undefined ? {} : { BUTLER_NOW: now.toISOString() }),
    PWD: project,
  };
}

/** `at` is the time of Claude Code: the owner's stands still during a session. */
export const agentVariables = (desk: WeekDesk, now: Date, at: Date): Record<string, string> => ({
  ...variables(desk, now),
  SHELL: join(desk.root, "bin", "bash"),
  WEEK_OUTPUTS: join(desk.root, "outputs"),
  WEEK_NOW: at.toISOString(),
  BUN_OPTIONS: `--preload=${here("clock.cjs")}`,
});

export async function butler(desk: WeekDesk, args: readonly string[], now: Date | undefined): Promise<string> {
  const env = { ...variables(desk, now), PATH: process.env.PATH };
  const child = spawn(process.execPath, [desk.butlerProgram, ...args], {
    env,
    cwd: desk.project,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (chunk: string) => {
      said[name] += chunk;
    });
  const code = await new Promise((done) => child.once("close", done));
  if (code !== 0) throw new Error(`butler ${args.join(" ")} ended with ${code}: ${said.stderr}${said.stdout}`);
  return said.stdout;
}

/** The calls of a scripted turn, with everything laid ready so that they go as the week says. */
export function layReady({ root, project }: WeekDesk, parts: readonly Part[]): ToolCall[] {
  const outputs = join(root, "outputs");
  rmSync(outputs, { recursive: true, force: true });
  mkdirSync(outputs);
  writeFileSync(join(root, "bin", "bash"), `#!/bin/sh\nexec ${JSON.stringify(here("shell.sh"))} "$@"\n`, {
    mode: 0o755,
  });
  return parts.flatMap((part, nth): ToolCall[] => {
    if (part.kind === "command") {
      const name = `${String(nth).padStart(3, "0")}${part.failed ? ".failed" : ".done"}`;
      writeFileSync(join(outputs, name), `${part.output}\n`);
      return [{ name: "Bash", input: { command: part.command, description: "As the week says" } }];
    }
    if (part.kind !== "edit") return [];
    const file_path = join(project, part.path);
    // Claude Code edits nothing that it has not read; a file that is not there is made.
    rmSync(file_path, { force: true });
    mkdirSync(dirname(file_path), { recursive: true });
    const words = { old_string: "", new_string: `// ${part.path}, changed for the ${nth + 1}. part of this turn\n` };
    return part.tool === "Write"
      ? [{ name: "Write", input: { file_path, content: words.new_string } }]
      : [{ name: "Edit", input: { file_path, ...words } }];
  });
}
