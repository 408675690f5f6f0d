import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, inject, describe as suite, test } from "vitest";
import { homeAt } from "../../src/daemon/home.ts";
import { hookScript } from "../../src/hosts/install/template.ts";
import { makeWorld, type World } from "../pure/install-world.ts";

const INPUT = JSON.stringify({ session_id: "s", cwd: "/p", prompt: "50 % of $HOME \\n 'is' \"mine\" `id` ü\u2028" });
const CONTEXT = '{"hookSpecificOutput":{"additionalContext":"a\\nb % \\\\"}}';

let world: World;
let home: string;
let script: string;
let server: Server | undefined;
beforeEach(() => {
  world = makeWorld();
  // Short, for the path of a socket has little room.
  home = mkdtempSync(join(tmpdir(), "h-"));
  script = write("slow", scriptWith({ home }));
});
afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((done) => (server ? server.close(done) : done(undefined)));
  server = undefined;
  rmSync(home, { recursive: true, force: true });
  world.end();
});

/** The slow way, as a program that notes how it was called. */
const NOTING = `
const { appendFileSync, readFileSync } = require("node:fs");
const call = { args: process.argv.slice(2), input: readFileSync(0, "utf8"), home: process.env.BUTLER_HOME, roster: process.env.BUTLER_ROSTER };
appendFileSync(__filename + ".calls", JSON.stringify(call) + "\\n");
console.error("a word beside");
console.log(JSON.stringify({ slow: true }));
`;

function scriptWith({ home: root, entry = NOTING, roster }: { home: string; entry?: string; roster?: string }) {
  const order = world.order("claude-code", "user");
  const program = { node: process.execPath, entry: join(root, "it's an entry.cjs") };
  writeFileSync(program.entry, entry);
  return hookScript({ ...order, program, roster, places: { ...order.places, home: homeAt(root) } }, "x").text;
}

const write = (name: string, text: string) => world.write(join(world.root, `${name} folder`, "hook.sh"), text);

interface Call {
  readonly args: string[];
  readonly input: string;
  readonly home: string;
  readonly roster?: string;
}

function slowCalls(root = home): Call[] {
  const file = join(root, "it's an entry.cjs.calls");
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Call);
}

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(
  options: { event?: string; env?: Record<string, string>; script?: string; input?: string; shell?: string } = {},
): Promise<Ran> {
  const { event = "UserPromptSubmit", env = {}, input = INPUT, shell = "/bin/sh" } = options;
  const variables = { PATH: process.env.PATH ?? "", HOME: world.user, ...env };
  return new Promise((done, failed) => {
    const child = spawn(shell, [options.script ?? script, "claude-code", event], { env: variables });
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk) => {
      stdout += chunk;
    });
    child.stderr.on("data", (chunk) => {
      stderr += chunk;
    });
    child.stdin.on("error", () => undefined);
    child.on("error", failed);
    child.on("close", (code) => done({ code, stdout, stderr }));
    child.stdin.end(input);
  });
}

interface Asked {
  readonly url: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** An owner in a word; what it was asked is in the list it returns. */
async function owner(
  answer: (response: ServerResponse, request: IncomingMessage) => void,
  root = home,
): Promise<Asked[]> {
  const asked: Asked[] = [];
  const { socket } = homeAt(root);
  mkdirSync(dirname(socket), { recursive: true });
  server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      asked.push({ url: request.url, headers: request.headers, body });
      answer(response, request);
    });
  });
  await new Promise<void>((done) => server?.listen(socket, done));
  return asked;
}

const QUIET = { code: 0, stdout: "", stderr: "" };
const SLOW = { code: 0, stdout: '{"slow":true}\n', stderr: "" };

/** The quick way is curl's. */
const curl = !inject("missingPrograms").includes("curl");
const describe = suite.skipIf(!curl);
const shells = [["/bin/sh"], ["/bin/bash"]].filter(([shell]) => curl && existsSync(shell!));

suite.each(shells)("the hook under %s", (shell) => {
  test("prints the owner's answer, and starts nothing", async () => {
    const asked = await owner((response) => response.end(CONTEXT));
    expect(await run({ shell: shell! })).toEqual({ code: 0, stdout: `${CONTEXT}\n`, stderr: "" });
    expect(asked).toMatchObject([{ url: "/hooks/claude-code/UserPromptSubmit?butler=general", body: INPUT }]);
    expect(asked[0]?.headers["content-type"]).toBe("application/json");
    expect(asked[0]?.headers["x-butler-project"]).toBeUndefined();
    expect(slowCalls()).toEqual([]);
  });

  test("an owner that is silent is left, and the word goes the short way", async () => {
    await owner(() => undefined);
    expect(await run({ shell: shell!, event: "SessionEnd" })).toEqual(SLOW);
    expect(slowCalls()).toMatchObject([
      { args: ["hook", "claude-code", "SessionEnd", "--butler", "general", "--late"], input: INPUT },
    ]);
  });

  test("nobody behind the socket: the slow way, with the same words", async () => {
    await owner((_, request) => request.socket.destroy());
    expect(await run({ shell: shell! })).toEqual(SLOW);
    expect(slowCalls()).toEqual([
      {
        args: [
          "hook",
          "claude-code",
          "UserPromptSubmit",
          "--butler",
          "general",
          "--spent",
          expect.stringMatching(/^[\d.,]+$/),
        ],
        input: INPUT,
        home: homeAt(home).root,
      },
    ]);
  });
});

describe("what the owner says", () => {
  test.each([
    [204, ""],
    [200, ""],
    [200, "sorry, no JSON"],
  ])("%i with %j is silence", async (status, body) => {
    await owner((response) => response.writeHead(status).end(body));
    expect(await run()).toEqual(QUIET);
    expect(slowCalls()).toEqual([]);
  });

  test("an owner that is leaving, or does not know hooks yet, is gone round", async () => {
    await owner((response) => response.writeHead(503).end('{"error":{}}'));
    expect(await run()).toEqual(SLOW);
  });

  test("a large prompt arrives whole, and the project is named", async () => {
    const asked = await owner((response) => response.end(CONTEXT));
    const input = JSON.stringify({ prompt: "ä long line\n".repeat(100_000) });
    expect((await run({ input, env: { BUTLER_PROJECT: "github.com/acme/app" } })).stdout).toBe(`${CONTEXT}\n`);
    expect(asked[0]?.body).toBe(input);
    expect(asked[0]?.headers["x-butler-project"]).toBe("github.com/acme/app");
  });

  test("neither a proxy nor the person's curl settings come between", async () => {
    await owner((response) => response.end(CONTEXT));
    writeFileSync(join(world.user, ".curlrc"), "include\nverbose\n");
    const env = { http_proxy: "http://127.0.0.1:9", ALL_PROXY: "http://127.0.0.1:9" };
    expect(await run({ env })).toEqual({ code: 0, stdout: `${CONTEXT}\n`, stderr: "" });
  });
});

describe("without an owner", () => {
  test("no socket: the slow way", async () => {
    expect(await run()).toEqual(SLOW);
  });

  test("no curl, and nothing else but node: the slow way, with the same words", async () => {
    await owner((response) => response.end(CONTEXT));
    const bin = join(world.root, "bin");
    mkdirSync(bin);
    symlinkSync(process.execPath, join(bin, "node"));
    expect(await run({ env: { PATH: bin } })).toEqual(SLOW);
    expect(slowCalls()).toMatchObject([{ input: INPUT }]);
  });

  test("a roster that was named when it was installed is named again, unless another one is", async () => {
    const withRoster = write("roster", scriptWith({ home, roster: "/the roster" }));
    await run({ script: withRoster });
    await run({ script: withRoster, env: { BUTLER_ROSTER: "/mine" } });
    expect(slowCalls().map(({ roster }) => roster)).toEqual(["/the roster", "/mine"]);
  });

  test.each([
    ["that fails", "process.exit(3)"],
    ["that says something else", 'console.log("hello")'],
    ["that is broken", "}"],
  ])("a program %s is as good as none", async (_, entry) => {
    expect(await run({ script: write("odd", scriptWith({ home, entry })) })).toEqual(QUIET);
  });

  test("no program at all", async () => {
    rmSync(join(home, "it's an entry.cjs"));
    expect(await run({ env: { PATH: "/nowhere" } })).toEqual(QUIET);
  });

  test("as it lies in the package: butler from the PATH, and the usual home", async () => {
    const plain = "plugins/claude-code/butler-memory/hooks/hook.sh";
    const bin = join(world.root, "bin");
    mkdirSync(bin);
    writeFileSync(
      join(bin, "butler"),
      '#!/bin/sh\nread -r line\nprintf \'{"args":"%s","home":"%s"}\' "$*" "$BUTLER_HOME"\n',
      { mode: 0o755 },
    );
    const { stdout } = await run({ script: plain, env: { PATH: bin } });
    expect(JSON.parse(stdout)).toEqual({
      args: "hook claude-code UserPromptSubmit --butler general",
      home: join(world.user, ".butler"),
    });
  });
});

describe("what the environment says", () => {
  test.each([{ BUTLER_CONSOLIDATION: "1" }, { BUTLER_SPAWNED: "1" }, { BUTLER_HOOKS: "off" }])(
    "%j: not a word",
    async (env) => {
      const asked = await owner((response) => response.end(CONTEXT));
      expect(await run({ env: env as unknown as Record<string, string> })).toEqual(QUIET);
      expect(asked).toEqual([]);
      expect(slowCalls()).toEqual([]);
    },
  );

  test("another home goes before the one it was installed for", async () => {
    const other = mkdtempSync(join(tmpdir(), "o-"));
    const asked = await owner((response) => response.end(CONTEXT), other);
    expect((await run({ env: { BUTLER_HOME: other } })).stdout).toBe(`${CONTEXT}\n`);
    expect(asked).toHaveLength(1);
    expect(slowCalls()).toEqual([]);
    rmSync(other, { recursive: true, force: true });
  });

  test("a home with a long path has its socket elsewhere, and it is found", async () => {
    const far = join(home, "a".repeat(60), "b".repeat(60));
    mkdirSync(far, { recursive: true });
    expect(homeAt(far).socket.startsWith(far)).toBe(false);
    const asked = await owner((response) => response.end(CONTEXT), far);
    expect((await run({ script: write("far", scriptWith({ home: far })) })).stdout).toBe(`${CONTEXT}\n`);
    expect(asked).toHaveLength(1);
    rmSync(dirname(homeAt(far).socket), { recursive: true, force: true });
  });
});
