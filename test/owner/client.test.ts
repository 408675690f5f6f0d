/** The proxy against owners in this process: older, stopping, silent and strange ones. */

import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Home, homeAt, prepareHome } from "../../src/daemon/home.ts";
import { type ClientOptions, connectOwner } from "../../src/daemon/line/client.ts";
import type { Owner } from "../../src/daemon/owner/owner.ts";
import type { McpLines } from "../../src/daemon/owner/owner-routes.ts";
import { reasonToLeave } from "../../src/daemon/owner/reason-to-leave.ts";
import { type RunningOwner, type ServeOwnerParts, serveOwner } from "../../src/daemon/owner/serve-owner.ts";
import { takeOwnership } from "../../src/daemon/owner/take-ownership.ts";
import { acquireLock } from "../../src/engine/adapters/files/lock.ts";
import { silentLog } from "../../src/engine/adapters/log.ts";
import type { ToolRequest } from "../../src/engine/tools/outcome.ts";
import { everyone, fakeOwner, gate } from "../support/owner-fakes.ts";

let home: Home;
let ends: (() => Promise<void>)[] = [];

beforeEach(() => {
  home = homeAt(mkdtempSync(join(tmpdir(), "home-")));
  prepareHome(home);
});
afterEach(async () => {
  for (const end of ends.reverse()) await end();
  ends = [];
  rmSync(home.root, { recursive: true });
});

async function rig(owner: Owner, more: Partial<ServeOwnerParts> = {}): Promise<RunningOwner> {
  const lock = await acquireLock(home.ownerLock);
  if (!lock) throw new Error("the lock is held");
  const opened = await serveOwner({
    home,
    lock,
    owner,
    mode: "auto",
    version: "1.0.0",
    started: new Date(0),
    fixed: false,
    database: null,
    log: silentLog,
    local: () => everyone,
    localListener: (_, outgoing) => outgoing.writeHead(404).end(),
    onStop: () => undefined,
    ...more,
  });
  ends.push(async () => {
    opened.stop("the test is over");
    await opened.stopped;
  });
  return opened;
}

/** A launcher whose owner ends without a word. */
const nothingToStart = { command: process.execPath, args: ["-e", ""], env: process.env };

function client(more: Partial<ClientOptions> = {}) {
  const connected = connectOwner({ home, launch: nothingToStart, version: "1.0.0", ...more });
  ends.push(async () => connected.close());
  return connected;
}

const call = { tool: "t", input: {} };

test("every call carries a key, its own if it has one", async () => {
  const keys: (string | undefined)[] = [];
  const { owner } = fakeOwner({
    call: async (_memory, _who, request: ToolRequest) => {
      keys.push(request.idempotencyKey);
      return { ok: true, answer: {} };
    },
  });
  await rig(owner);
  const one = client();
  await one.invoke("general", call);
  await one.invoke("general", call);
  await one.invoke("general", { ...call, idempotencyKey: "mine" });
  expect(keys[0]).toMatch(/^call:/);
  expect(keys[1]).toMatch(/^call:/);
  expect(keys[1]).not.toBe(keys[0]);
  expect(keys[2]).toBe("mine");
});

test("a call that is cut off is repeated under the same key with the next owner", async () => {
  const seen: unknown[] = [];
  const cutting: Server = createServer((incoming, outgoing) => {
    if (incoming.url === "/owner/status") return outgoing.end(JSON.stringify(note));
    let body = "";
    incoming.on("data", (chunk) => {
      body += chunk;
    });
    incoming.on("end", () => {
      seen.push(JSON.parse(body).request.idempotencyKey);
      incoming.socket.destroy();
      cutting.close();
      void rig(owner);
    });
  });
  const note = {
    pid: 1,
    version: "1.0.0",
    mode: "auto",
    address: null,
    port: null,
    started: "",
    fixed: false,
    database: null,
  };
  const { owner } = fakeOwner({
    call: async (_memory, _who, request) => {
      seen.push(request.idempotencyKey);
      return { ok: true, answer: {} };
    },
  });
  await new Promise<void>((done) => cutting.listen(home.socket, done));
  expect(await client().invoke("general", call)).toEqual({ ok: true, answer: {} });
  expect(seen).toHaveLength(2);
  expect(seen[1]).toBe(seen[0]);
});

test("an older owner is asked to leave, a newer one is used", async () => {
  const old = await rig(fakeOwner().owner);
  const newer = client({ version: "1.0.1" });
  expect(await newer.invoke("general", call)).toMatchObject({ ok: false, error: { code: "unavailable" } });
  await old.stopped;
  await rig(fakeOwner().owner, { version: "1.0.2" });
  expect(await newer.invoke("general", call)).toMatchObject({ ok: true });
});

test("a live owner that gives no answer is reported, and the call is not piled up", async () => {
  const never = gate();
  let calls = 0;
  const { owner } = fakeOwner({
    call: async () => {
      calls += 1;
      await never.passed;
      return { ok: true, answer: {} };
    },
  });
  await rig(owner);
  const outcome = await client({ answerMs: 200 }).invoke("general", call);
  expect(outcome).toMatchObject({
    ok: false,
    error: { code: "unavailable", message: expect.stringContaining("no answer within") },
  });
  expect(calls).toBe(1);
  never.open();
});

test("a call larger than the owner takes is refused in words, once, and with its code", async () => {
  let calls = 0;
  const { owner } = fakeOwner({
    call: async () => {
      calls += 1;
      return { ok: true, answer: {} };
    },
  });
  await rig(owner);
  const large = { tool: "t", input: { text: "x".repeat(40 * 1024 * 1024) } };
  const one = client({ reachMs: 2_000 });
  expect(await one.invoke("general", large)).toEqual({
    ok: false,
    error: { code: "invalid_input", message: "The call is larger than 32 MB; send it in parts." },
  });
  expect(calls).toBe(0);
  expect(await one.invoke("general", call)).toMatchObject({ ok: true });
});

test("an owner that cannot start is told in one sentence", async () => {
  const outcome = await client().invoke("general", call);
  expect(outcome).toMatchObject({ ok: false, error: { code: "unavailable" } });
  expect(outcome.ok ? "" : outcome.error.message).toMatch(/^The owner of the memory could not start: .*log/);
});

test("an owner on another database is not written to", async () => {
  await rig(fakeOwner().owner);
  const outcome = await client({ databaseUrl: "postgres://elsewhere/x" }).invoke("general", call);
  expect(outcome).toMatchObject({
    ok: false,
    error: { code: "unavailable", message: expect.stringContaining("another database") },
  });
});

test("an attached client keeps its owner, which leaves after the client does", async () => {
  const { owner } = fakeOwner();
  let attached = false;
  const opened = await rig(owner, { idleMs: 60, busy: () => !attached });
  let left = false;
  void opened.stopped.then(() => {
    left = true;
  });
  const one = client({ agent: true });
  await one.invoke("general", call);
  attached = true;
  await new Promise((done) => setTimeout(done, 300));
  expect(left).toBe(false);
  one.close();
  await opened.stopped;
});

test("an owner that has a reason leaves in a pause although a client is attached, which goes on with the next one", async () => {
  let why: string | undefined;
  const opened = await rig(fakeOwner().owner, { idleMs: 60, leaveEarly: () => why });
  const one = client({ agent: true });
  expect(await one.invoke("general", call)).toMatchObject({ ok: true });
  why = "its program was replaced";
  await opened.stopped;
  const next = fakeOwner();
  await rig(next.owner);
  expect(await one.invoke("general", call)).toMatchObject({ ok: true });
  expect(next.seen.opened).toBe(1);
  one.close();
});

test("the reasons to leave: a socket that nobody can reach, a file of the program that changed or went", async () => {
  await rig(fakeOwner().owner);
  const file = join(home.root, "program.js");
  writeFileSync(file, "1");
  const reason = reasonToLeave(home, [file]);
  expect(reason()).toBeUndefined();
  writeFileSync(`${file}.new`, "1");
  renameSync(`${file}.new`, file);
  expect(reason()).toContain("program");
  const again = reasonToLeave(home, [file]);
  expect(again()).toBeUndefined();
  rmSync(file);
  expect(again()).toContain("program");
  rmSync(home.socket);
  expect(again()).toContain("home");
});

test("a stop answers what is under way, and frees the lock", async () => {
  const slow = gate();
  const { owner, seen } = fakeOwner({
    call: async () => {
      await slow.passed;
      return { ok: true, answer: { late: true } };
    },
  });
  const opened = await rig(owner);
  const answer = client().invoke("general", call);
  while (owner.inFlight() === 0) await new Promise((done) => setTimeout(done, 5));
  const taken = takeOwnership(home);
  await new Promise((done) => setTimeout(done, 100));
  slow.open();
  expect(await answer).toEqual({ ok: true, answer: { late: true } });
  await opened.stopped;
  await (await taken).release();
  expect(seen.closed).toBe(1);
});

test("a second butler up is refused with the first one's address", async () => {
  await rig(fakeOwner().owner, { mode: "up", http: { host: "127.0.0.1", port: 0, listener: (_, out) => out.end() } });
  await expect(takeOwnership(home)).rejects.toThrow(/already running \(process \d+\) at http:\/\/127\.0\.0\.1:\d+/);
});

test("a home reached over a link is the same home", async () => {
  const link = `${home.root}-link`;
  symlinkSync(home.root, link);
  try {
    expect(homeAt(link).socket).toBe(home.socket);
    expect(homeAt(link).ownerLock).toBe(home.ownerLock);
  } finally {
    rmSync(link);
  }
});

describe("a request of an agent's connection", () => {
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "t" } } as const;
  const question = { butler: "general", toolset: "core", hooks: false, session: "s", era: "legacy", message } as const;
  const ask = (one: ReturnType<typeof client>, signal = new AbortController().signal, told: string[] = []) =>
    one.mcp(question, (notification) => told.push(notification), signal);

  /** An owner whose answers to such requests are given by the test. */
  const serving = (answer: McpLines["answer"], more: Partial<ServeOwnerParts> = {}) =>
    rig(fakeOwner().owner, { mcp: { expect: () => undefined, answer }, ...more });

  test("is answered with what the owner sends, notifications first", async () => {
    const asked: unknown[] = [];
    await serving(async (given, tell) => {
      asked.push(given);
      tell('{"step":1}');
      tell('{"step":2}');
      return '{"whole":"answer\\n"}';
    });
    const told: string[] = [];
    expect(await ask(client({ project: "p", agent: true }), undefined, told)).toBe('{"whole":"answer\\n"}');
    expect(told).toEqual(['{"step":1}', '{"step":2}']);
    expect(asked).toEqual([{ ...question, project: "p", key: expect.stringMatching(/^call:/) }]);
  });

  test("is repeated under the same key when its connection ends before the answer is whole", async () => {
    const keys: unknown[] = [];
    await serving(async ({ key }, tell) => {
      keys.push(key);
      tell('{"step":1}');
      // Without a response the connection is cut off.
      return keys.length < 3 ? undefined : '"done"';
    });
    expect(await ask(client())).toBe('"done"');
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
  });

  test("that is cancelled reaches its owner as such, and is not repeated", async () => {
    const begun = gate();
    const stopped = gate();
    let asked = 0;
    await serving(async (_given, _tell, signal) => {
      asked += 1;
      signal.addEventListener("abort", stopped.open);
      begun.open();
      await stopped.passed;
      return undefined;
    });
    const cancel = new AbortController();
    const answer = ask(client(), cancel.signal);
    await begun.passed;
    cancel.abort();
    await expect(answer).rejects.toThrow("cancelled");
    await stopped.passed;
    expect(asked).toBe(1);
  });

  test("to an owner that gives no answer fails in words, and is not cancelled: it may still be carried out", async () => {
    const late = gate();
    let signal: AbortSignal | undefined;
    await serving(async (_given, _tell, given) => {
      signal = given;
      await late.passed;
      return '"late"';
    });
    await expect(ask(client({ answerMs: 200 }))).rejects.toThrow(
      "no answer within 0.2 s; the call may still be carried out",
    );
    expect(signal?.aborted).toBe(false);
    late.open();
  });

  test("to an owner of another build fails in words", async () => {
    await rig(fakeOwner().owner);
    await expect(ask(client())).rejects.toThrow("of another build");
  });
});
