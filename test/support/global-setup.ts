import type { TestProject } from "vitest/node";
import { compileVictims } from "./compiled.ts";
import { startPostgres } from "./postgres.ts";
import { missingPrograms, type Program } from "./programs.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Undefined when no server could be had: suites that need one are skipped, with the reason on the console. */
    postgresUrl: string | undefined;
    /** Suites that need one of these are skipped. */
    missingPrograms: Program[];
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  compileVictims();
  const missing = missingPrograms();
  project.provide("missingPrograms", missing);
  if (missing.length > 0) {
    const words = `Tests that need ${missing.join(" and ")} are SKIPPED: install ${missing.join(" and ")}.`;
    if (process.env.CI === "true") throw new Error(words);
    process.stderr.write(`\n!! ${words}\n\n`);
  }
  try {
    const server = await startPostgres();
    project.provide("postgresUrl", server.url);
    return () => server.stop();
  } catch (error) {
    // A build server that silently tests half of the stores would be worse than a red build.
    if (process.env.CI === "true") throw error;
    project.provide("postgresUrl", undefined);
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`\n!! Tests on a PostgreSQL server are SKIPPED: ${reason}\n\n`);
    return async () => undefined;
  }
}
