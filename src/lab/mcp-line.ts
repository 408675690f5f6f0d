/** `butler mcp` as an agent starts it: a process that is asked line by line. */
import { type ChildProcess, spawn } from "node:child_process";
import { unavailable } from "../engine/domain/errors.ts";

/** How to start a command of the installed program on the home under test. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly butler: string;
}

export interface McpLine {
  readonly pid: number;
  ask(method: string, params?: object): Promise<Readonly<Record<string, unknown>>>;
  tell(method: string): void;
  /** Resolves when the process has ended. */
  close(): Promise<void>;
}

const REPLY_MS = 30_000;

interface Message {
  readonly id?: unknown;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message?: string };
}

export function openMcpLine(program: Program, words: readonly string[] = []): McpLine {
  const args = [...program.args, "mcp", "--butler", program.butler, ...words];
  const child = spawn(program.command, args, { env: program.env, stdio: ["pipe", "pipe", "ignore"] });
  const gone = new Promise<void>((done) => child.once("close", () => done()));
  const waiting = listen(child);
  const send = (message: object) => child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  let last = 0;
  return {
    pid: child.pid ?? 0,
    ask(method, params) {
      const id = ++last;
      return new Promise((done, failed) => {
        const timer = setTimeout(() => failed(unavailable("butler mcp did not answer.")), REPLY_MS);
        waiting.set(id, ({ result, error }) => {
          clearTimeout(timer);
          if (result) done(result);
          else failed(unavailable(`butler mcp refused ${method}: ${error?.message}`));
        });
        send({ id, method, ...(params === undefined ? {} : { params }) });
      });
    },
    tell: (method) => void send({ method }),
    close() {
      child.stdin?.end();
      return gone;
    },
  };
}

function listen(child: ChildProcess): Map<unknown, (message: Message) => void> {
  const waiting = new Map<unknown, (message: Message) => void>();
  let rest = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = `${rest}${chunk}`.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const message = JSON.parse(line) as Message;
      waiting.get(message.id)?.(message);
      waiting.delete(message.id);
    }
  });
  return waiting;
}

/** What an agent asks a server before it uses it; returns the answer of tools/list. */
export async function shakeHands(line: McpLine): Promise<Readonly<Record<string, unknown>>> {
  const clientInfo = { name: "bench", version: "1" };
  await line.ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
  line.tell("notifications/initialized");
  return line.ask("tools/list");
}

export const callThrough = (line: McpLine, name: string, input: object) =>
  line.ask("tools/call", { name, arguments: input });
