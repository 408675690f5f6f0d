/** The script of the hooks as it is installed, run by a real shell, with an owner and a slow way of the test's own. */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { vi } from "vitest";
import { type Home, homeAt } from "../../src/daemon/home.ts";
import { hookScript } from "../../src/hosts/install/template.ts";
import { makeWorld, type World } from "../pure/install-world.ts";
import { PATIENCE } from "./patience.ts";

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A call of the slow way. */
export interface Call {
  readonly args: string[];
  readonly input: string;
  readonly home: string;
  readonly roster?: string;
}

export interface Asked {
  readonly url: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface RunOptions {
  readonly agent?: string;
  readonly event?: string;
  readonly env?: Record<string, string>;
  readonly script?: string;
  readonly input?: string;
  readonly shell?: string;
}

export interface ScriptOptions {
  readonly home?: string;
  readonly entry?: string;
  readonly roster?: string;
}

export interface HookRig {
  readonly world: World;
  /** The folder of the home; short, for the path of a socket has little room. */
  readonly root: string;
  readonly home: Home;
  /** Writes the script with other values than the usual ones, and returns its path. */
  install(name: string, options: ScriptOptions): string;
  run(options?: RunOptions): Promise<Ran>;
  slowCalls(root?: string): Call[];
  /** An owner in a word; what it was asked is in the list it returns. */
  owner(answer: (response: ServerResponse, request: IncomingMessage) => void, root?: string): Promise<Asked[]>;
  end(): Promise<void>;
}

/** The slow way, as a program that notes how it was called. */
const NOTING = `
const { appendFileSync, readFileSync } = require("node:fs");
const call = { args: process.argv.slice(2), input: readFileSync(0, "utf8"), home: process.env.BUTLER_HOME, roster: process.env.BUTLER_ROSTER };
appendFileSync(__filename + ".calls", JSON.stringify(call) + "\\n");
console.error("a word beside");
console.log(JSON.stringify({ slow: true }));
`;

const entryIn = (root: string) => join(root, "it's an entry.cjs");

export function hookRig(): HookRig {
  const world = makeWorld();
  const root = mkdtempSync(join(tmpdir(), "h-"));
  let server: Server | undefined;

  function install(name: string, { home = root, entry = NOTING, roster }: ScriptOptions): string {
    const order = world.order("claude-code", "user");
    const program = { node: process.execPath, entry: entryIn(home) };
    writeFileSync(program.entry, entry);
    const { text } = hookScript({ ...order, program, roster, places: { ...order.places, home: homeAt(home) } }, "x");
    return world.write(join(world.root, `${name} folder`, "hook.sh"), text);
  }
  const usual = install("slow", {});

  return {
    world,
    root,
    home: homeAt(root),
    install,
    run({ agent = "claude-code", event = "UserPromptSubmit", env = {}, input = "{}", shell = "/bin/sh", script } = {}) {
      const variables = { PATH: process.env.PATH ?? "", HOME: world.user, ...env };
      return new Promise((done, failed) => {
        const child = spawn(shell, [script ?? usual, agent, event], { env: variables });
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
    },
    slowCalls(home = root) {
      const file = `${entryIn(home)}.calls`;
      if (!existsSync(file)) return [];
      return readFileSync(file, "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Call);
    },
    async owner(answer, home = root) {
      const asked: Asked[] = [];
      const { socket } = homeAt(home);
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
    },
    async end() {
      server?.closeAllConnections();
      await new Promise((done) => (server ? server.close(done) : done(undefined)));
      server = undefined;
      // What was left running in the background may still write there.
      await vi.waitFor(() => rmSync(root, { recursive: true, force: true }), PATIENCE);
      world.end();
    },
  };
}
