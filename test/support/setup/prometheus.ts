/** Set-up of the projects with tests on a real Prometheus. */
import type { TestProject } from "vitest/node";
import { ensurePrometheus, type PrometheusPrograms } from "../../../scripts/prometheus/runtime.ts";
import { once } from "./once.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Undefined when there is none to be had: suites that need it are skipped, with the reason on the console. */
    prometheus: PrometheusPrograms | undefined;
  }
}

export async function setup(project: TestProject): Promise<void> {
  const { value } = await once("prometheus", findOrSkip);
  project.provide("prometheus", value);
}

async function findOrSkip(): Promise<PrometheusPrograms | undefined> {
  try {
    return await ensurePrometheus();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const words = `Tests with a real Prometheus are SKIPPED: ${reason.trim()}`;
    if (process.env.CI === "true") throw new Error(words, { cause: error });
    process.stderr.write(`\n!! ${words}\n\n`);
    return undefined;
  }
}
