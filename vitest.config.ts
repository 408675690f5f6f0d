import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    pool: "forks",
    // Each worker has a store, a model and often real processes beside it: more of them only wait for each other on two cores.
    maxWorkers: 3,
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    // On a busy machine a minute is not enough for a flow on three stores; only what hangs takes longer than this.
    testTimeout: 240_000,
    hookTimeout: 240_000,
  },
});
