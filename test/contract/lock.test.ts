import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { acquireLock } from "../../src/engine/adapters/files/lock.ts";
import { lockInFolder } from "../../src/engine/adapters/files/lock-folder.ts";
import { compiled } from "../support/compiled.ts";

const HOLDER = compiled("lock-holder");
const ROOT = process.platform === "linux" && process.getuid?.() === 0;
const NO_ROOT = "only root can start a process of another user";
/** `nobody` on most systems; any id that is not ours will do. */
const STRANGER = 65_534;
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
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
async function contend(path: string, uid = 0): Promise<{ child: ChildProcess; answer: string }> {
  const child = spawn(process.execPath, [HOLDER, path, String(uid)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  children.push(child);
  const [answer] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return { child, answer };
}

/** A program of another user of this machine, and the first line it prints. */
async function asStranger(code: string): Promise<{ child: ChildProcess; answer: string }> {
  const whole = `process.setgid(${STRANGER}); process.setuid(${STRANGER}); const net = require("net"), fs = require("fs"); ${code}`;
  const child = spawn(process.execPath, ["-e", whole], { stdio: ["ignore", "pipe", "ignore"], cwd: "/" });
  children.push(child);
  const lines = createInterface({ input: child.stdout });
  const said = await Promise.race([once(lines, "line"), once(child, "close").then(() => ["failed"])]);
  return { child, answer: String(said[0]) };
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
  });

  it("is free at once when its holder is killed", async () => {
    const path = join(root, "store");
    const { child, answer } = await contend(path);
    expect(answer).toBe("held");
    expect(await acquireLock(path)).toBeUndefined();
    await kill(child);
    const mine = await acquireLock(path);
    expect(mine).toBeDefined();
    await mine?.release();
  });

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

  it("does not go to another user of the machine who knows its path", async ({ skip }) => {
    skip(!ROOT, NO_ROOT);
    chmodSync(root, 0o755);
    const path = join(realpathSync(root), "store");
    const strangers = await Promise.all([
      asStranger(`net.createServer().listen("\\0butler-${sha256(path).slice(0, 40)}", () => console.log("there"))`),
      asStranger(`fs.mkdirSync(${JSON.stringify(`${path}.locks`)}, {recursive: true}); console.log("there")`),
    ]);
    expect(strangers.map(({ answer }) => answer)).toContain("there");
    const mine = await acquireLock(path);
    expect(mine).toBeDefined();
    const entry = readdirSync(`${path}.locks`)[0] ?? "";
    const { answer } = await asStranger(
      `net.connect(${JSON.stringify(join(`${path}.locks`, entry))}).on("error", (e) => console.log(e.code)).on("connect", () => console.log("in"))`,
    );
    expect(answer).toBe("EACCES");
    await mine?.release();
  });

  it("is refused in words where somebody else has made or can write its place", async ({ skip }) => {
    const path = join(root, "store");
    mkdirSync(`${path}.locks`);
    chmodSync(`${path}.locks`, 0o777);
    await expect(acquireLock(path)).rejects.toThrow(/must be a folder of yours.*0700/s);
    rmSync(`${path}.locks`, { recursive: true });
    symlinkSync(root, `${path}.locks`);
    await expect(acquireLock(path)).rejects.toThrow(/must be a folder of yours/);
    rmSync(`${path}.locks`);
    skip(!ROOT, NO_ROOT);
    mkdirSync(`${path}.locks`, { mode: 0o700 });
    chownSync(`${path}.locks`, STRANGER, STRANGER);
    await expect(acquireLock(path)).rejects.toThrow(/must be a folder of yours/);
  });

  it("is one lock for root and for the user in whose place it is", async ({ skip }) => {
    skip(!ROOT, NO_ROOT);
    chownSync(root, STRANGER, STRANGER);
    const path = join(root, "store");
    const mine = await acquireLock(path);
    expect((await contend(path, STRANGER)).answer).toBe("refused");
    await mine?.release();
    const theirs = await contend(path, STRANGER);
    expect(theirs.answer).toBe("held");
    expect(await acquireLock(path)).toBeUndefined();
    await kill(theirs.child);
    const again = await acquireLock(path);
    expect(again).toBeDefined();
    await again?.release();
  });

  it("works in a place whose name is too long for a socket, and leaves nothing of those who were killed", async () => {
    const path = join(root, "a".repeat(120), "b".repeat(120), "store");
    const { child, answer } = await contend(path);
    expect(answer).toBe("held");
    expect(await acquireLock(path)).toBeUndefined();
    await kill(child);
    const mine = await acquireLock(path);
    expect(mine).toBeDefined();
    expect(readdirSync(`${path}.locks`)).toHaveLength(2);
    await mine?.release();
    expect(readdirSync(`${path}.locks`)).toEqual([]);
  });

  it("is never held by two, however many come and go at once", async () => {
    const path = join(root, "store");
    let holders = 0;
    let most = 0;
    let held = 0;
    const worker = async () => {
      for (let turn = 0; turn < 25; turn++) {
        const lock = await acquireLock(path);
        if (!lock) continue;
        holders += 1;
        held += 1;
        most = Math.max(most, holders);
        await new Promise((done) => setImmediate(done));
        holders -= 1;
        await lock.release();
      }
    };
    await Promise.all(Array.from({ length: 12 }, worker));
    expect(most).toBe(1);
    expect(held).toBeGreaterThan(0);
  });

  it("is not held by one whose socket was swept away before it listened, and that is no error", async ({ skip }) => {
    if (process.platform !== "linux") return skip("elsewhere the lock is no socket");
    const folder = join(root, "swept.locks");
    const taking = lockInFolder(folder);
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
    expect(await taking).toBeUndefined();
    const next = await lockInFolder(folder);
    expect(next).toBeDefined();
    await next?.release();
  });

  it("goes to exactly one of ten racing processes", async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => contend(join(root, "store"))));
    expect(answers.map(({ answer }) => answer).sort()).toEqual(["held", ...Array(9).fill("refused")]);
  });
});
