import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { acquireLock } from "../../src/adapters/lock.ts";

const HOLDER = fileURLToPath(new URL("../support/lock-holder.ts", import.meta.url));
let root: string;
let children: ChildProcess[] = [];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "butler-lock-"));
});
afterEach(async () => {
  await Promise.all(children.map((child) => kill(child)));
  children = [];
  rmSync(root, { recursive: true });
});

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

/** The child and the first line it prints. */
async function contend(path: string): Promise<{ child: ChildProcess; answer: string }> {
  const child = spawn(process.execPath, ["--import", "tsx", HOLDER, path], { stdio: ["pipe", "pipe", "inherit"] });
  children.push(child);
  const [answer] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return { child, answer };
}

describe("the lock", () => {
  it("is held by one, and free again after release", async () => {
    const path = join(root, "not-there-yet", "store");
    const first = await acquireLock(path);
    expect(first).toBeDefined();
    expect(await acquireLock(path)).toBeUndefined();
    expect((await contend(path)).answer).toBe("refused");
    await first?.release();
    await first?.release();
    const second = await acquireLock(path);
    expect(second).toBeDefined();
    await second?.release();
  }, 30_000);

  it("is free at once when its holder is killed", async () => {
    const path = join(root, "store");
    const { child, answer } = await contend(path);
    expect(answer).toBe("held");
    expect(await acquireLock(path)).toBeUndefined();
    await kill(child);
    const mine = await acquireLock(path);
    expect(mine).toBeDefined();
    await mine?.release();
  }, 30_000);

  it("is the same through a link, and another for another folder", async () => {
    mkdirSync(join(root, "real"));
    symlinkSync(join(root, "real"), join(root, "link"));
    const lock = await acquireLock(join(root, "real"));
    expect(await acquireLock(join(root, "link"))).toBeUndefined();
    expect(await acquireLock(join(root, "link", "..", "real"))).toBeUndefined();
    const other = await acquireLock(join(root, "real2"));
    expect(other).toBeDefined();
    await other?.release();
    await lock?.release();
  });

  it("goes to exactly one of ten racing processes", async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => contend(join(root, "store"))));
    expect(answers.map(({ answer }) => answer).sort()).toEqual(["held", ...Array(9).fill("refused")]);
  }, 60_000);
});
