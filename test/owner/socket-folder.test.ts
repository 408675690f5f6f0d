/** A home with a long path has its socket in a folder under the shared temporary directory, where others can be first. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Home, homeAt, prepareHome } from "../../src/daemon/home.ts";
import { connectOwner } from "../../src/daemon/line/client.ts";
import { askReplay } from "../../src/daemon/line/replay.ts";
import { requestOwner } from "../../src/daemon/line/request.ts";
import { findOwner } from "../../src/daemon/owner/start-owner.ts";

const ROOT = process.platform === "linux" && process.getuid?.() === 0;
const STRANGER = 65_534;
const HOOK = fileURLToPath(new URL("../../plugins/hook.sh", import.meta.url));

let scratch: string;
let home: Home;
let folder: string;
let children: ChildProcess[] = [];

beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), "butler-long-"));
  home = homeAt(join(scratch, "x".repeat(120)));
  folder = dirname(home.socket);
});
afterEach(async () => {
  for (const child of children) {
    const gone = once(child, "exit");
    if (child.kill("SIGKILL")) await gone;
  }
  children = [];
  rmSync(folder, { recursive: true, force: true });
  rmSync(scratch, { recursive: true });
});

/** Everything that speaks to an owner, each with what came of it. */
async function everyWay(): Promise<string[]> {
  const client = connectOwner({ home, launch: undefined, version: "1.0.0", agent: true, reachMs: 500 });
  const words = (error: unknown) => String(error);
  try {
    const outcome = await client.invoke("general", { tool: "memory_store_episode", input: { content: "my secret" } });
    return [
      outcome.ok ? "answered" : outcome.error.message,
      await findOwner(home, 5_000).then(String, words),
      await requestOwner({ socket: home.socket, method: "POST", path: "/owner/call", body: {}, timeoutMs: 5_000 }).then(
        String,
        words,
      ),
      await askReplay(home.socket, "general", () => undefined).then(String, words),
    ];
  } finally {
    client.close();
  }
}

/** An owner as another user of this machine would fake it: the folder, the socket, and a plausible answer to everything. */
async function impostor(): Promise<string> {
  const heard = join(scratch, "heard");
  writeFileSync(heard, "");
  chmodSync(heard, 0o666);
  chmodSync(scratch, 0o755);
  const note = { pid: 1, version: "1.0.0", mode: "up", address: null, port: null, started: "2026-01-01T00:00:00.000Z" };
  const code = `
    process.setgid(${STRANGER}); process.setuid(${STRANGER}); process.umask(0);
    const fs = require("fs");
    fs.mkdirSync(${JSON.stringify(folder)}, { mode: 0o777 });
    require("http").createServer((incoming, outgoing) => {
      fs.appendFileSync(${JSON.stringify(heard)}, incoming.url + "\\n");
      incoming.resume();
      const note = ${JSON.stringify({ ...note, fixed: false, database: null })};
      outgoing.end(JSON.stringify(incoming.url === "/owner/status" ? note : { ok: true, answer: { text: "theirs" } }));
    }).listen(${JSON.stringify(home.socket)}, () => console.log("there"));`;
  const child = spawn(process.execPath, ["-e", code], { stdio: ["ignore", "pipe", "inherit"], cwd: "/" });
  children.push(child);
  expect(await once(createInterface({ input: child.stdout }), "line")).toEqual(["there"]);
  return heard;
}

test("a socket that another user has put there is told nothing", async ({ skip }) => {
  skip(!ROOT, "only root can start a process of another user");
  const heard = await impostor();
  for (const said of await everyWay()) expect(said).toMatch(/belongs to another user.*BUTLER_HOME/s);
  expect(() => prepareHome(home)).toThrow(/belongs to another user/);

  const script = join(scratch, "hook.sh");
  const baked = readFileSync(HOOK, "utf8")
    .replace("baked_home=''", `baked_home='${home.root}'`)
    .replace("baked_socket=''", `baked_socket='${home.socket}'`);
  writeFileSync(script, baked);
  const env = { PATH: process.env.PATH, HOME: scratch };
  const hook = spawn("sh", [script, "claude-code", "UserPromptSubmit"], { env, stdio: ["pipe", "pipe", "inherit"] });
  // The script may leave before it has read all.
  hook.stdin.on("error", () => undefined);
  hook.stdin.end(JSON.stringify({ session_id: "s", cwd: scratch, prompt: "my secret" }));
  await once(hook, "close");
  expect(readFileSync(heard, "utf8")).toBe("");
});

const FAULTS: readonly [string, () => void, RegExp][] = [
  [
    "that others can enter",
    () => {
      mkdirSync(folder);
      chmodSync(folder, 0o755);
    },
    /entered by other users/,
  ],
  [
    "that is a link",
    () => {
      mkdirSync(join(scratch, "real"), { mode: 0o700 });
      symlinkSync(join(scratch, "real"), folder);
    },
    /is a link/,
  ],
  ["that is a file", () => writeFileSync(folder, ""), /not a folder|EEXIST/],
];

test.each(FAULTS)("a folder %s is refused by the owner and by whoever looks for one", async (_, make, words) => {
  make();
  for (const said of await everyWay()) expect(said).toMatch(words);
  expect(() => prepareHome(home)).toThrow(words);
});

test("a place of one's own is made with mode 0700 and used", async () => {
  prepareHome(home);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  for (const said of await everyWay()) expect(said).toMatch(/No owner|undefined|ENOENT/);
});
