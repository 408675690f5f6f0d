/** `butler mcp` as a process of its own: what it does without a memory, and how it ends. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { butler, canListProcesses, cleanUp, emptyHome, processesOf, variablesFor } from "../support/owner-processes.ts";

afterAll(cleanUp);

const BUTLER = fileURLToPath(new URL("../../dist/main/butler.js", import.meta.url));
const ALONE = { BUTLER_AUTOSTART: "0" };

const start = (home: string, ...args: string[]) =>
  spawn(process.execPath, [BUTLER, "mcp", "--butler", "general", ...args], {
    env: variablesFor(home, ALONE),
    stdio: ["pipe", "pipe", "inherit"],
  });

const request = (id: number, method: string, params: object = {}) =>
  `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;
const hello = request(1, "initialize", {
  ...{ protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } },
});

test("introduces itself and lists its tools with nobody there, and says in words that it cannot remember", async () => {
  const home = emptyHome();
  const child = start(home, "--tools", "full", "--hooks");
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (part: string) => {
    out += part;
  });
  const call = { name: "memory_search", arguments: { query: "tea" } };
  child.stdin.end(`${hello}${request(2, "tools/list")}${request(3, "tools/call", call)}`);
  const [code] = await once(child, "close");
  const [greeting, list, answer] = out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(code).toBe(0);
  expect(greeting.result).toMatchObject({ protocolVersion: "2025-06-18", serverInfo: { name: "butler-memory" } });
  expect(greeting.result.instructions).not.toContain("At the start of a task");
  expect(list.result.tools.map(({ name }: { name: string }) => name)).toContain("memory_ingest_batch");
  expect(answer.result).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining("No owner of the memory is running") }],
    structuredContent: { error: { code: "unavailable" } },
  });
  if (canListProcesses) expect(processesOf(home)).toEqual([]);
});

test.each(["SIGTERM", "SIGINT"] as const)("ends in good order at %s", async (signal) => {
  const child = start(emptyHome());
  child.stdin.write(hello);
  await once(child.stdout, "data");
  child.kill(signal);
  expect(await once(child, "close")).toEqual([0, null]);
});

test("ends when nobody reads its answers", async () => {
  const child = start(emptyHome());
  child.stdin.write(hello);
  await once(child.stdout, "data");
  child.stdout.destroy();
  const write = () => child.stdin.write(request(2, "ping"));
  // The first write after the reader has gone may still fit into the pipe.
  const writing = setInterval(write, 20);
  child.stdin.on("error", () => undefined);
  const [code] = await once(child, "close");
  clearInterval(writing);
  expect(code).toBe(0);
});

test.each([
  [["--tools", "some"], '--tools is "some"; it must be core or full.'],
  [["--colour"], "There is no flag --colour; known are --butler, --tools, --project, --hooks, --after."],
  [["stray"], '"stray" belongs to no flag; known are --butler, --tools, --project, --hooks, --after.'],
])("says what is wrong with %j as every command does", async (args, sentence) => {
  const ended = await butler(emptyHome(), ["mcp", ...args], ALONE);
  expect(ended).toEqual({ code: 2, stdout: "", stderr: `${sentence}\n--help shows what the command takes.\n` });
});

test("helps", async () => {
  const { code, stdout } = await butler(emptyHome(), ["mcp", "--help"], ALONE);
  expect(code).toBe(0);
  expect(stdout).toContain("butler mcp [--butler <name>]");
});
