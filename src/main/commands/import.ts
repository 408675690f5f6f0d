/** Stores the transcripts that agents wrote before they had this memory. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { renderError } from "../../doors/cli/render.ts";
import { type ExitCode, exitCode } from "../../doors/failures.ts";
import { systemClock } from "../../engine/adapters/clock.ts";
import { invalid, notFound } from "../../engine/domain/errors.ts";
import { typedCall } from "../../engine/tools/typed-call.ts";
import { projectOf } from "../../hosts/projects/project.ts";
import { type TranscriptRoot, usualRoots } from "../../hosts/transcripts/find.ts";
import { ImportFailure, type ImportResult, importTranscripts } from "../../hosts/transcripts/import-transcripts.ts";
import { TRANSCRIPT_AGENTS, type TranscriptAgent } from "../../hosts/transcripts/read.ts";
import { type Survey, survey } from "../../hosts/transcripts/survey.ts";
import { ownerClient } from "../owner/owner-client.ts";
import { chooseButler } from "../program/choose-butler.ts";
import { type Context, readOptions } from "../program/command.ts";
import { progressLine } from "../words/progress.ts";

export const usage = `butler import transcripts [--agent claude-code|codex] [--from <file or folder>] [--since <date or 30d>]
                          [--butler <name>] [--project <key>] [--dry-run] [--yes] [--json]

Reads the transcripts of coding agents and keeps each exchange as an episode of its project: what was asked, decided and done, and
what failed. Secrets and <private> parts are left out. Without --from it looks where the agents keep them. It may be stopped at
any time and run again: what is there already is not stored twice. --dry-run only says what would be done. It says first what it
would take in, and asks; with --json or without a terminal it takes in nothing unless --yes is given, and the exit code is 2.`;

export async function run(args: readonly string[], context: Context): Promise<ExitCode> {
  const [what, ...rest] = args;
  if (what !== "transcripts")
    throw invalid("arguments", what === undefined ? usage : `butler import knows "transcripts", not "${what}".`);
  const { values } = readOptions(rest, {
    ...{ agent: { type: "string" }, from: { type: "string" }, since: { type: "string" }, butler: { type: "string" } },
    ...{
      project: { type: "string" },
      "dry-run": { type: "boolean" },
      yes: { type: "boolean" },
      json: { type: "boolean" },
    },
  } as const);
  const now = context.environment.now === undefined ? systemClock.now() : new Date(context.environment.now);
  const since = values.since === undefined ? undefined : readSince(values.since, now);
  const roots = rootsOf(readAgent(values.agent), values.from);
  const stop = new AbortController();
  const interrupted = () => stop.abort();
  process.once("SIGINT", interrupted);
  process.once("SIGTERM", interrupted);
  try {
    const plan = await survey({ roots, since, signal: stop.signal });
    const json = values.json === true;
    if (values["dry-run"] === true || plan.files === 0 || stop.signal.aborted) {
      if (json) context.say(JSON.stringify({ dry_run: values["dry-run"] === true, ...plan }, null, 2));
      else for (const line of planned(plan, roots)) context.say(line);
      return stop.signal.aborted ? 1 : 0;
    }
    for (const line of planned(plan, roots)) context.note(line);
    if (values.yes !== true) {
      const answer = json ? undefined : await agreed(stop);
      if (answer !== true) {
        const how = answer === undefined ? " Say --yes to take them in: there is nobody here to ask." : "";
        if (json) context.say(JSON.stringify({ taken_in: false, ...plan }, null, 2));
        context.note(`Nothing was taken in.${how}`);
        // A person who says no has what they wanted; a script that did not say yes has left something out.
        return answer === undefined ? 2 : 0;
      }
    }
    return await takeAll(plan, { ...values, roots, since, signal: stop.signal }, context);
  } finally {
    process.off("SIGINT", interrupted);
    process.off("SIGTERM", interrupted);
  }
}

interface ImportOptions {
  readonly roots: readonly TranscriptRoot[];
  readonly since: Date | undefined;
  readonly signal: AbortSignal;
  readonly butler?: string;
  readonly project?: string;
  readonly json?: boolean;
}

async function takeAll(plan: Survey, options: ImportOptions, context: Context): Promise<ExitCode> {
  const { roots, since, signal, json } = options;
  const client = ownerClient(context.environment);
  const bar = progressLine("Taking in");
  const projects = new Map<string, string>();
  try {
    const butler = await chooseButler(client, options.butler);
    const call = typedCall((request) => client.invoke(butler, request));
    const report = await importTranscripts({
      roots,
      since,
      signal,
      project(folder) {
        if (folder === undefined)
          return options.project === undefined ? undefined : projectOf("/", options.project).key;
        const known = projects.get(folder) ?? projectOf(folder, options.project).key;
        projects.set(folder, known);
        return known;
      },
      store: (rows, { project, session }) =>
        call(
          "memory_ingest_batch",
          { episodes: [...rows] },
          { session, ...(project === undefined ? {} : { project }) },
        ),
      progress: (bytes) => {
        // Only on a terminal: elsewhere each step would be a line.
        if (process.stderr.isTTY) bar.show(bytes, plan.bytes, `${megabytes(bytes)} of ${megabytes(plan.bytes)}`);
      },
    });
    bar.done(report.complete ? "done" : "stopped");
    if (json === true) context.say(JSON.stringify(report, null, 2));
    else for (const line of reported(report)) context.say(line);
    return report.complete ? 0 : 1;
  } catch (error) {
    if (!(error instanceof ImportFailure)) throw error;
    bar.done("failed");
    const style = { json: json === true, colour: context.environment.colour && process.stderr.isTTY === true };
    if (json === true) context.say(renderError(error.failure, style));
    else for (const line of [...reported(error.sofar), renderError(error.failure, style)]) context.note(line);
    return exitCode(error.failure.code);
  } finally {
    client.close();
  }
}

function readAgent(asked: string | undefined): TranscriptAgent | undefined {
  const agent = TRANSCRIPT_AGENTS.find((known) => known === asked);
  if (asked === undefined || agent !== undefined) return agent;
  throw invalid("agent", `--agent is "${asked}"; it must be one of ${TRANSCRIPT_AGENTS.join(", ")}.`);
}

function rootsOf(agent: TranscriptAgent | undefined, from: string | undefined): TranscriptRoot[] {
  if (from !== undefined) {
    const path = resolve(from);
    if (!existsSync(path)) throw notFound(`There is no file or folder ${path}.`);
    return [{ path, agent }];
  }
  const homes = {
    claude: resolve(process.env.CLAUDE_CONFIG_DIR || join(homedir(), ".claude")),
    codex: resolve(process.env.CODEX_HOME || join(homedir(), ".codex")),
  };
  return usualRoots(homes).filter((place) => agent === undefined || place.agent === agent);
}

const HOURS: Readonly<Record<string, number>> = { h: 1, d: 24, w: 168 };

function readSince(text: string, now: Date): Date {
  const [, count, unit = ""] = /^(\d{1,5})([hdw])$/.exec(text) ?? [];
  const hours = HOURS[unit];
  if (hours !== undefined) return new Date(now.getTime() - Number(count) * hours * 3_600_000);
  const at = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(at)) return new Date(at);
  throw invalid("since", `--since is "${text}"; write a date such as 2026-05-01, or 30d, 12h, 4w.`);
}

const counted = (n: number, word: string): string => `${n} ${word}${n === 1 ? "" : "s"}`;
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;

function planned(plan: Survey, roots: readonly TranscriptRoot[]): string[] {
  if (plan.files === 0)
    return [
      roots.length === 0
        ? "No agent has left transcripts where they usually are; say --from <file or folder>."
        : `There is no transcript to take in under ${roots.map(({ path }) => path).join(", ")}.`,
    ];
  const days = `${plan.first?.slice(0, 10)} to ${plan.last?.slice(0, 10)}`;
  const unfit = plan.unfit === 0 ? "" : `; ${counted(plan.unfit, "other file")} left out`;
  return [
    `${counted(plan.files, "transcript")}, ${megabytes(plan.bytes)}, ${days}${unfit}.`,
    `That is about ${counted(plan.episodes, "episode")} and ${plan.minutes < 1 ? "less than a minute" : `${Math.ceil(plan.minutes)} minutes`}.`,
  ];
}

const SHOWN = 10;

function reported(report: ImportResult): string[] {
  const { stored, already, refused, skipped, files, problems, complete } = report;
  const more = [
    `${already} there already`,
    ...(refused === 0 ? [] : [`${refused} refused`]),
    ...(skipped === 0 ? [] : [`${counted(skipped, "file")} skipped`]),
  ];
  return [
    `${counted(stored, "episode")} stored from ${counted(files, "transcript")}; ${more.join(", ")}.`,
    ...problems.slice(0, SHOWN).map(({ path, problem }) => `  ${path}: ${problem}`),
    ...(problems.length > SHOWN ? ["  … (--json shows more)"] : []),
    ...(complete ? [] : ["It was stopped; run it again to go on."]),
  ];
}

/** Undefined where there is no terminal to ask at. */
async function agreed(stop: AbortController): Promise<boolean | undefined> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  const { signal } = stop;
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // While it reads a line, the terminal's Ctrl-C arrives here and not at the process.
  lines.once("SIGINT", () => stop.abort());
  try {
    return /^(?:y|yes|j|ja)$/i.test((await lines.question("Take them in? [y/N] ", { signal })).trim());
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  } finally {
    lines.close();
  }
}
