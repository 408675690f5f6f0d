/** Set-up of the projects with tests on a PostgreSQL server. */
import type { TestProject } from "vitest/node";
import { startPostgres } from "../postgres.ts";
import { once } from "./once.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Undefined when no server could be had: suites that need one are skipped, with the reason on the console. */
    postgresUrl: string | undefined;
    databasePrefix: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await once("server", startOrSkip, (running) => running.stop());
  project.provide("postgresUrl", server.value.url);
  project.provide("databasePrefix", server.value.prefix);
  return server.release;
}

async function startOrSkip(): Promise<{ url: string | undefined; prefix: string; stop(): Promise<void> }> {
  try {
    return await startPostgres();
  } catch (error) {
    // A build server that silently tests half of the stores would be worse than a red build.
    if (process.env.CI === "true") throw error;
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`\n!! Tests on a PostgreSQL server are SKIPPED: ${reason}\n\n`);
    return { url: undefined, prefix: "", stop: async () => undefined };
  }
}
