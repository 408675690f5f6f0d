/** Settings of V8 hold for a whole process: this one is a process of its own. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const SETTINGS = new URL("../../dist/main/owner/light-process.js", import.meta.url).href;
/** Makes and drops objects, of which many live for a while, and says how large the space for new ones has become, in MB. */
const CHURN = `
  const { getHeapSpaceStatistics } = require("node:v8");
  const churn = () => {
    const kept = [];
    for (let i = 0; i < 3_000_000; i++) {
      kept.push([i]);
      if (kept.length > 60_000) kept.splice(0, 30_000);
    }
    return getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space").space_size / 2 ** 20;
  };`;
const PROGRAM = `
  const { Worker } = require("node:worker_threads");
  ${CHURN}
  import(${JSON.stringify(SETTINGS)}).then(({ tuneProcess }) => {
    tuneProcess();
    const thread = new Worker(${JSON.stringify(`${CHURN} require("node:worker_threads").parentPort.postMessage(churn());`)}, { eval: true });
    thread.once("message", (size) => console.log(JSON.stringify({ thread: size, main: churn() })));
  });`;

it("threads of an owner have less room for new objects than its main thread", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ["--max-semi-space-size=16", "--eval", PROGRAM]);
  const room = JSON.parse(stdout) as { readonly thread: number; readonly main: number };
  expect(room.thread).toBeLessThanOrEqual(8);
  expect(room.main).toBeGreaterThan(8);
});
