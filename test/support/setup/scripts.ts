/** Set-up of the projects whose tests open stores and models, or start scripts of `test/support`. */
import type { TestProject } from "vitest/node";
import { compileScripts, removeScripts } from "../compiled.ts";
import { once } from "./once.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** The folder of what was compiled for this run. */
    compiled: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const scripts = await once("scripts", compileScripts, async (folder) => removeScripts(folder));
  project.provide("compiled", scripts.value);
  return scripts.release;
}
