import { basename } from "node:path";
import { homeAt, ownPaths } from "../../daemon/home.ts";
import { requestOwner } from "../../daemon/line/request.ts";
import { loadRoster } from "../../daemon/roster/roster.ts";
import type { ExitCode } from "../../doors/failures.ts";
import { systemClock } from "../../engine/adapters/clock.ts";
import { closeTree } from "../../engine/adapters/files/private-files.ts";
import { invalid } from "../../engine/domain/errors.ts";
import { AGENTS } from "../../hosts/install/agents/agents.ts";
import { applyInstall, type Prepared, prepareInstall } from "../../hosts/install/install.ts";
import type { InstallRequest } from "../../hosts/install/plan.ts";
import { type AgentStatus, agentStatus } from "../../hosts/install/status.ts";
import type { Environment } from "../environment.ts";
import {
  choiceByAsking,
  choiceByFlags,
  LEARN_FLAGS,
  type LearningPlace,
  learningPlace,
  learningTold,
  writeChoice,
} from "../program/choose-learning.ts";
import { type Context, readOptions } from "../program/command.ts";
import { ownProgram, readAgent, readPlaces, readScope } from "../program/install-args.ts";
import { version } from "../version.ts";
import { changeLines, fileChanges, short } from "../words/install.ts";
import { changeLine, learningLine } from "../words/learning.ts";

export const usage = `butler install [--json]
butler install <agent> [--scope user|project] [--butler <name>] [--dry-run] [--force] [--json]
               [--learn-with local|claude-cli|anthropic|openai-compatible] [--learn-model <name>] [--learn-url <address>]
               [--learn-price <dollars in>/<dollars out>]

Gives a coding agent memory: the memory tools, hooks that bring context and notice what happened, and a page on how to
use them. Agents: claude-code, codex, cursor, gemini, opencode. Without one, lists which are here and which have memory.

--scope project   for everybody who works in this folder; nothing of this machine is written down
--dry-run         shows what would change, and changes nothing
--force           replaces an entry of the same name that is not ours
--learn-with      who may be asked when it learns from sessions: local is no model, and nothing leaves this machine. Without the
                  flag you are asked once, at a terminal, if there is something to choose; the answer stands in butler.toml.

Everything that is changed is backed up first; butler uninstall <agent> puts it back.`;

const options = {
  scope: { type: "string" },
  butler: { type: "string" },
  "dry-run": { type: "boolean" },
  force: { type: "boolean" },
  json: { type: "boolean" },
  ...LEARN_FLAGS,
} as const;

export async function run(args: readonly string[], context: Context): Promise<ExitCode> {
  const { environment, say, note } = context;
  const { values, positionals } = readOptions(args, options, true);
  const [name, ...more] = positionals;
  if (more.length > 0) throw invalid("arguments", `"${more.join(" ")}" is too much; one agent at a time.`);
  const places = readPlaces(environment);
  if (name === undefined) {
    const agents = agentStatus(places, process.env.PATH ?? "");
    if (values.json) say(JSON.stringify({ agents }));
    else for (const status of agents) for (const line of statusLines(status)) say(line);
    return 0;
  }
  const agent = readAgent(name);
  const request: InstallRequest = {
    agent,
    scope: readScope(values.scope, places),
    butler: await whichButler(environment, places.home.socket, values.butler),
    places,
    ...ownProgram(),
    roster: environment.roster,
    version,
  };
  const place = learningPlace(environment, places.home, request.butler);
  const byFlags = await choiceByFlags(values, place, process.env);
  const prepared = prepareInstall(request, systemClock.now(), values.force ?? false);
  const dryRun = values["dry-run"] ?? false;
  if (!dryRun) applyInstall(prepared);
  if (!dryRun) for (const path of ownPaths(places.home)) closeTree(path, (at) => basename(at) === "store");
  if (!dryRun && place !== undefined && byFlags !== undefined) writeChoice(place, byFlags);
  if (values.json)
    say(JSON.stringify({ ...asJson(prepared, dryRun), ...(byFlags && { learn_with: byFlags.provider }) }));
  else for (const line of lines(prepared, dryRun)) say(line);
  if (!dryRun && !values.json) await sayWhoLearns(context, request, place);
  if (environment.databaseUrl !== undefined && !values.json)
    note("BUTLER_DATABASE_URL is set here but holds a password, so it was not written down; your agent needs it too.");
  return 0;
}

/** Asks who may be asked for help, unless somebody has answered before, and says what is in force. */
async function sayWhoLearns(
  context: Context,
  request: InstallRequest,
  place: LearningPlace | undefined,
): Promise<void> {
  const { butler, agent, places } = request;
  const told = () => learningTold(context.environment, places.home, butler);
  if (place !== undefined && told() === undefined) {
    const choice = await choiceByAsking(context, place, process.env);
    if (choice !== undefined) writeChoice(place, choice);
  }
  const learns = told();
  if (learns === undefined) return;
  context.say(learningLine(learns));
  context.say(changeLine(agent));
}

/** A running owner knows its butlers best; else the roster does. */
async function whichButler(environment: Environment, socket: string, asked: string | undefined): Promise<string> {
  const names =
    (await runningButlers(socket)) ??
    loadRoster(environment.roster, homeAt(environment.home).settingsFile).map((butler) => butler.name);
  const [only] = names;
  if (asked !== undefined && names.includes(asked)) return asked;
  if (asked === undefined && only !== undefined && names.length === 1) return only;
  const which = asked === undefined ? "Which butler?" : `There is no butler "${asked}".`;
  throw invalid("butler", `${which} Say --butler with one of: ${names.join(", ")}.`);
}

async function runningButlers(socket: string): Promise<string[] | undefined> {
  try {
    const { json } = await requestOwner({ socket, method: "GET", path: "/owner/butlers", timeoutMs: 2000 });
    return (json as { butlers: { name: string }[] }).butlers.map(({ name }) => name);
  } catch {
    return undefined;
  }
}

function asJson({ request, plan, writes, folder, changes }: Prepared, dryRun: boolean) {
  const { agent, scope, butler } = request;
  return {
    agent,
    scope,
    butler,
    dry_run: dryRun,
    changed: changes,
    files: fileChanges(writes, dryRun),
    backup: folder,
    next: plan.next,
    undo: undo(request),
  };
}

function lines({ request, plan, writes, folder, changes }: Prepared, dryRun: boolean): string[] {
  const { title } = AGENTS[request.agent];
  if (!changes) return [`${title} has the memory of "${request.butler}" already; nothing was changed.`];
  const changed = changeLines(fileChanges(writes, dryRun));
  if (dryRun) return [`${title} would get the memory of "${request.butler}"; nothing was changed.`, ...changed];
  return [
    `${title} has the memory of "${request.butler}" now.`,
    ...changed,
    `  backup   ${short(folder)}`,
    "",
    ...plan.next,
    "To see it work: start a new session; butler sessions shows it.",
    `To undo: ${undo(request)}`,
  ];
}

const undo = ({ agent, scope }: InstallRequest) =>
  `butler uninstall ${agent}${scope === "user" ? "" : " --scope project"}`;

function statusLines({ agent, title, present, installed }: AgentStatus): string[] {
  const head = `${agent.padEnd(12)} ${title.padEnd(12)} ${present ? "is here" : "not found"}`;
  if (installed.length === 0) return [present ? `${head}; butler install ${agent} gives it memory` : head];
  return installed.map(({ scope, root, butler, version: has, complete }) => {
    const where = scope === "user" ? "for you" : `in ${short(root)}`;
    const fault = complete ? "" : `, but a file is missing: butler install ${agent} again`;
    return `${head}; has the memory of "${butler}" ${where} (${has})${fault}`;
  });
}
