/** Programs that some tests start besides Node. What is missing is installed where that is possible, and named where it is not. */
import { spawnSync } from "node:child_process";

const PROGRAMS = ["curl", "git"] as const;
export type Program = (typeof PROGRAMS)[number];

const works = (program: string): boolean => spawnSync(program, ["--version"], { stdio: "ignore" }).status === 0;

/** Those that cannot be had. */
export function missingPrograms(): Program[] {
  const missing = PROGRAMS.filter((program) => !works(program));
  if (missing.length === 0) return [];
  // Debian, as root; elsewhere this fails at once.
  for (const args of [
    ["update", "-qq"],
    ["install", "-y", "-qq", "--no-install-recommends", ...missing],
  ])
    spawnSync("apt-get", args, { stdio: "ignore", env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } });
  return missing.filter((program) => !works(program));
}
