import { resolve } from "node:path";
import type { ExitCode } from "../../doors/failures.ts";
import { invalid } from "../../engine/domain/errors.ts";
import { runSession, type SessionReport, type SessionRequest } from "../../hosts/sessions/run-session.ts";
import { sessionParts } from "../owner/session-parts.ts";
import { type Context, readOptions } from "../program/command.ts";

export const usage = `butler run <butler> "<prompt>" [--folder <dir>] [--project <key>|auto|none] [--timeout <seconds>] [--json]
           [-- <more arguments for the agent>]

Starts the butler's agent ([butler.runtime] in its butler.toml; claude without one) on a prompt, with the butler's CLAUDE.md and what
its memory knows, and remembers what came of it. "-" reads the prompt from stdin. The answer is the agent's own, on stdout, and so is
the exit code. Memory that is down or slow costs two seconds at most; the session then runs without it and says so on stderr.
--folder is where the agent works. Its memories are the butler's own; with --folder they are those of that project, as with
--project auto; --project none keeps to the butler's own, --project <key> names one.`;

export async function run(args: readonly string[], context: Context): Promise<ExitCode> {
  const { environment, note, say } = context;
  const end = args.indexOf("--");
  const own = end === -1 ? args : args.slice(0, end);
  const { values, positionals } = readOptions(
    own,
    {
      folder: { type: "string" },
      project: { type: "string" },
      timeout: { type: "string" },
      json: { type: "boolean" },
    },
    true,
  );
  const [butler, words, ...more] = positionals;
  if (butler === undefined || words === undefined || more.length > 0)
    throw invalid(
      "arguments",
      'Who is to do what? butler run <butler> "<prompt>"; a prompt of several words needs quotes.',
    );
  const prompt = words === "-" ? await wholeInput() : words;
  if (prompt.trim() === "") throw invalid("prompt", "The prompt is empty; say what is to be done.");
  const folder = resolve(values.folder ?? process.cwd());
  const stop = new AbortController();
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  const passOn = (signal: NodeJS.Signals) => stop.abort(signal);
  for (const signal of signals) process.on(signal, passOn);
  const request: SessionRequest = {
    butler,
    prompt,
    folder,
    project: await projectFor(values.project, environment.project, folder, values.folder !== undefined),
    args: end === -1 ? [] : args.slice(end + 1),
    timeoutMs: timeoutOf(values.timeout),
    signal: stop.signal,
    onOutput: (chunk) => process.stderr.write(chunk),
    ...(values.json ? {} : { onResult: (result: string) => say(result) }),
  };
  const running = runSession(sessionParts(environment, note), request);
  // Loaded while the owner prepares the session.
  void import("../../hosts/agents/claude.ts").catch(() => undefined);
  const report = await running;
  for (const signal of signals) process.off(signal, passOn);
  if (values.json) say(JSON.stringify(report, null, 2));
  if (report.ended === "timeout") note(`The agent was ended after ${report.seconds.toFixed(1)} s: its time was over.`);
  return exitOf(report);
}

/** A butler's session belongs to no project unless somebody says so: by naming one, or a folder. */
async function projectFor(asked: string | undefined, known: string | undefined, folder: string, named: boolean) {
  if (asked === "none") return undefined;
  if (asked === undefined && known === undefined && !named) return undefined;
  const { projectOf } = await import("../../hosts/projects/project.ts");
  return projectOf(folder, asked === undefined || asked === "auto" ? known : asked).key;
}

function timeoutOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seconds = Number(text);
  if (Number.isFinite(seconds) && seconds > 0) return seconds * 1_000;
  throw invalid("timeout", `--timeout is "${text}"; it must be a number of seconds above 0.`);
}

/** The agent's own exit code; 1 when it ended with 0 but reported a failure. */
const exitOf = ({ exit_code, ok }: SessionReport) => (exit_code === 0 && !ok ? 1 : exit_code) as ExitCode;

async function wholeInput(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8").trimEnd();
}
