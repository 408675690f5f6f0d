import { type Home, homeAt, prepareHome } from "../../daemon/home.ts";
import type { RunningOwner } from "../../daemon/owner/serve-owner.ts";
import { refuseSecondUp, takeOwnership } from "../../daemon/owner/take-ownership.ts";
import { keptHere, loadRoster, type Roster } from "../../daemon/roster/roster.ts";
import type { ExitCode } from "../../doors/failures.ts";
import { MODEL_NAME, type ModelVariant } from "../../engine/adapters/model/catalogue.ts";
import { locateModel } from "../../engine/adapters/model/files.ts";
import { reasonOf } from "../../engine/domain/errors.ts";
import { ENVIRONMENT_FLAGS, type Environment, withFlags } from "../environment.ts";
import { stderrLog } from "../logger.ts";
import { roomForSearches, tuneProcess } from "../owner/light-process.ts";
import { runOwner, untilStopped } from "../owner/owner-process.ts";
import { type Context, readOptions } from "../program/command.ts";
import { fetchModel } from "../wiring/models.ts";
import { checkDatabase } from "../wiring/stores.ts";
import { progressLine } from "../words/progress.ts";
import { typedCommand } from "../words/typed-command.ts";

export const usage = `butler up [--port <n>] [--host <address>] [--roster <folder>] [--database-url <url>] [--model-dir <folder>] [--json]

Serves every butler of the roster over HTTP and MCP until it is stopped (Ctrl-C or butler stop).
Without a roster there is one butler, general. An owner that a client had started hands its stores over.`;

const options = { ...ENVIRONMENT_FLAGS, json: { type: "boolean" } } as const;

export async function run(args: readonly string[], context: Context): Promise<ExitCode> {
  const { values } = readOptions(args, options);
  const environment = withFlags(context.environment, values);
  const home = homeAt(environment.home);
  const log = stderrLog(environment.logLevel ?? "warn");
  tuneProcess();
  if (environment.databaseUrl !== undefined) roomForSearches();
  prepareHome(home);
  const roster = loadRoster(environment.roster, home.settingsFile);
  await refuseSecondUp(home);
  const unwise = await checkDatabase(environment.databaseUrl);
  if (unwise !== undefined) context.note(unwise);
  await haveModels(environment, home, roster, context);
  const lock = await takeOwnership(home);
  const running = await runOwner({ environment, home, lock, roster, log, mode: "up" }).catch(async (error: unknown) => {
    await lock.release();
    throw error;
  });
  if (values.json)
    context.say(
      JSON.stringify({ ...running.note, token_file: home.tokenFile, butlers: roster.map(({ name }) => name) }),
    );
  else for (const line of welcome(environment, home, roster, running)) context.say(line);
  await untilStopped(running);
  process.exit(0);
}

/** A person waits at this command, so the model is fetched before the doors open; without it search is by keywords only. */
async function haveModels(environment: Environment, home: Home, roster: Roster, { note }: Context): Promise<void> {
  const folders = { modelDir: environment.modelDir, cacheDir: home.models };
  for (const variant of new Set<ModelVariant>(keptHere(roster).map(({ memory }) => memory.embedding_variant))) {
    const progress = progressLine(`Fetching the model ${MODEL_NAME} (${variant})`);
    try {
      if (await locateModel({ ...folders, variant })) continue;
      await fetchModel(folders, variant, { onProgress: progress.show });
      progress.done("done");
    } catch (error) {
      progress.done("failed");
      note(`Going on without the model, with keyword search only: ${reasonOf(error)}`);
    }
  }
}

function welcome(environment: Environment, home: Home, roster: Roster, { note }: RunningOwner): string[] {
  const first = roster[0]?.name ?? "general";
  const names = roster.map(({ name }) => name);
  const width = Math.max("Start page".length, ...names.map((name) => name.length));
  const row = (label: string, text: string) => `  ${label.padEnd(width)}   ${text}`.trimEnd();
  return [
    `Butler Memory ${note.version}`,
    "",
    row("Start page", `${note.address}/`),
    row("Pages", `${note.address}/memory   (${typedCommand(process.argv)} open signs you in)`),
    ...roster.map(({ name, description }) => row(name, `${note.address}/butlers/${name}/mcp   ${description}`)),
    row("Token", `in ${home.tokenFile}`),
    row("Data", environment.databaseUrl === undefined ? home.root : "PostgreSQL (BUTLER_DATABASE_URL)"),
    "",
    "Connect an agent:",
    `  ${typedCommand(process.argv)} install claude-code --butler ${first}        (or codex, cursor, gemini, opencode; uninstall undoes it)`,
    `  claude mcp add butler-memory -- ${typedCommand(process.argv)} mcp --butler ${first}`,
    `  claude mcp add --transport http butler-memory ${note.address}/butlers/${first}/mcp --header "Authorization: Bearer $(cat ${home.tokenFile})"`,
    "",
    "Ready. Ctrl-C or butler stop ends it.",
  ];
}
