/** Programs that some tests start besides Node. What is missing is installed where that is possible, and named where it is not. */
import { spawnSync } from "node:child_process";
import { installPackages } from "./packages.ts";

const PROGRAMS = ["curl", "git", "perl"] as const;
export type Program = (typeof PROGRAMS)[number];

const works = (program: string): boolean => spawnSync(program, ["--version"], { stdio: "ignore" }).status === 0;

/** Those that cannot be had. */
export async function missingPrograms(): Promise<Program[]> {
  const missing = () => PROGRAMS.filter((program) => !works(program));
  if (missing().length > 0) await installPackages(missing(), () => missing().length > 0);
  return missing();
}
