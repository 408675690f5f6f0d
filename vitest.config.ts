import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    pool: "forks",
    // Each worker has a store, a model and often real processes beside it: more of them only wait for each other on two cores.
    maxWorkers: 3,
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
