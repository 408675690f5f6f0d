import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const PRIORITY = new URL("../../src/engine/adapters/threads/thread-priority.ts", import.meta.url).href;

/** In a process of its own: nobody but root takes back what a thread has given. */
const SCRIPT = `
import { readdirSync } from "node:fs";
import { getPriority } from "node:os";
import { stepBehind } from ${JSON.stringify(PRIORITY)};
const threads = readdirSync("/proc/self/task").map(Number);
const all = () => threads.map((thread) => ({ own: thread === process.pid, nice: getPriority(thread) }));
const before = all();
stepBehind(0);
const unmoved = all();
stepBehind(3);
const after = all();
stepBehind(100);
console.log(JSON.stringify({ before, unmoved, after, last: getPriority(process.pid) }));
`;

interface Thread {
  readonly own: boolean;
  readonly nice: number;
}

test.skipIf(!existsSync("/proc/thread-self"))("one thread gives way, the others stay where they are", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    "--import",
    "tsx",
    "--input-type=module",
    "--eval",
    SCRIPT,
  ]);
  const { before, unmoved, after, last } = JSON.parse(stdout) as Record<string, Thread[]> & { last: number };
  expect(unmoved).toEqual(before);
  expect(after).toEqual(before?.map(({ own, nice }) => ({ own, nice: own ? Math.min(19, nice + 3) : nice })));
  expect(after?.length).toBeGreaterThan(1);
  expect(last).toBe(19);
});
