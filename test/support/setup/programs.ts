/** Set-up of the projects whose tests start other programs than Node. */
import type { TestProject } from "vitest/node";
import { missingPrograms, type Program } from "../programs.ts";
import { once } from "./once.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Suites that need one of these are skipped. */
    missingPrograms: Program[];
  }
}

export async function setup(project: TestProject): Promise<void> {
  const { value } = await once("programs", async () => {
    const missing = await missingPrograms();
    if (missing.length > 0) {
      const words = `Tests that need ${missing.join(" and ")} are SKIPPED: install ${missing.join(" and ")}.`;
      if (process.env.CI === "true") throw new Error(words);
      process.stderr.write(`\n!! ${words}\n\n`);
    }
    return missing;
  });
  project.provide("missingPrograms", value);
}
