import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** What a project starts before its tests: only the projects that are run are set up, and what several need is started once. */
const BUILD = "test/support/setup/build.ts";
const CHROMIUM = "test/support/setup/chromium.ts";
const PROMETHEUS = "test/support/setup/prometheus.ts";
const PROGRAMS = "test/support/setup/programs.ts";
const SCRIPTS = "test/support/setup/scripts.ts";
const SERVER = "test/support/setup/server.ts";

/** A folder of `test` each. The model of embeddings is loaded by the tests that need it. */
const PROJECTS: Readonly<Record<string, readonly string[]>> = {
  pure: [PROGRAMS],
  contract: [SERVER, SCRIPTS],
  flow: [SERVER, SCRIPTS],
  doors: [SERVER, BUILD, SCRIPTS],
  owner: [PROGRAMS, SERVER, BUILD, SCRIPTS, PROMETHEUS],
  faults: [SERVER, BUILD, SCRIPTS],
  browser: [CHROMIUM, SERVER, BUILD, SCRIPTS],
};

/** Threads of stores and models start compiled code: from TypeScript each takes a second of CPU time more, and a run opens hundreds. */
const WORKERS = fileURLToPath(new URL("test/support/compiled-workers.ts", import.meta.url));
const SOURCES = fileURLToPath(new URL("src/engine/", import.meta.url));
const compiledWorkers = {
  name: "compiled-workers",
  enforce: "pre" as const,
  resolveId: (source: string, importer: string | undefined) =>
    source.endsWith("/threads/worker.ts") && importer?.startsWith(SOURCES) ? WORKERS : undefined,
};

const LIMIT_MS = 20 * 60_000;

export default defineConfig({
  test: {
    pool: "forks",
    // Each worker has a store, a model and often real processes beside it: more of them only wait for each other on two cores.
    maxWorkers: 3,
    // The one limit of every test: only what hangs takes longer, on the busiest machine too.
    testTimeout: LIMIT_MS,
    hookTimeout: LIMIT_MS,
    projects: Object.entries(PROJECTS).map(([name, globalSetup]) => ({
      extends: true,
      plugins: globalSetup.includes(SCRIPTS) ? [compiledWorkers] : [],
      test: {
        name,
        include: [`test/${name}/**/*.test.ts`],
        globalSetup: [...globalSetup],
        // Tests leave nothing behind in a module. Loading modules anew for each file takes a third of the time of the pure ones, and 1 to 4 s of
        // CPU time of a file that opens an embedded store: its engine is compiled again, and what is often used optimised again.
        isolate: false,
      },
    })),
  },
});
