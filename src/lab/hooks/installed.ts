/** Installs the hooks of Claude Code for a project that no agent works in, and fills the store of its butler. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { unavailable } from "../../engine/domain/errors.ts";
import type { BenchHome } from "../bench-home.ts";
import type { HookScript } from "./measure.ts";

export const PROJECT = "acme/bench";

/** Fills the store in another process: a process that has held a store takes 20 ms longer to start a program than a small one does. */
export function fillElsewhere({ home, n, program }: BenchHome, bench: "hooks" | "everyday"): void {
  const words = [...program.args, "bench", bench, "--fill", "--n", `${n}`, "--keep", home.root];
  const { status } = spawnSync(program.command, words, { env: program.env, stdio: ["ignore", "inherit", "inherit"] });
  if (status !== 0) throw unavailable("the store to measure on could not be built");
}

/** A memory in use has learned from what it was told; an owner that is busy with that for the first time is not what is measured. */
export function learnElsewhere({ butler, program }: BenchHome): void {
  const words = [...program.args, "job", "run", "consolidate", "--butler", butler.name];
  const { status, stderr } = spawnSync(program.command, words, { env: program.env, encoding: "utf8" });
  if (status !== 0) throw unavailable(`butler job run consolidate ended with ${status}: ${stderr}`);
}

/** With `butler install`, into a configuration folder that no agent reads. */
export function installedHooks({ home, butler, program }: BenchHome): HookScript {
  const folder = join(home.root, "project");
  const config = join(home.root, "claude");
  for (const made of [join(folder, ".git"), config]) mkdirSync(made, { recursive: true });
  writeFileSync(join(folder, ".git", "HEAD"), "ref: refs/heads/main\n");
  writeFileSync(join(folder, ".git", "config"), `[butler]\n\tproject = ${PROJECT}\n`);
  const env = { ...program.env, CLAUDE_CONFIG_DIR: config };
  const words = [...program.args, "install", "claude-code", "--butler", butler.name];
  const { status, stderr } = spawnSync(program.command, words, { env, encoding: "utf8" });
  const path = join(home.root, "plugins", "claude-code", "hook.sh");
  if (status !== 0 || !existsSync(path))
    throw unavailable(`butler install claude-code ended with ${status}: ${stderr}`);
  return { path, folder, env: program.env };
}
