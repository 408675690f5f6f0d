import type { ExitCode } from "../../doors/failures.ts";
import { invalid } from "../../engine/domain/errors.ts";
import { AGENTS } from "../../hosts/install/agents/agents.ts";
import { applyUninstall, type PreparedUninstall, prepareUninstall } from "../../hosts/install/uninstall.ts";
import { learningTold } from "../program/choose-learning.ts";
import { type Context, readOptions } from "../program/command.ts";
import { readAgent, readPlaces, readScope } from "../program/install-args.ts";
import { changeLines, fileChanges, short } from "../words/install.ts";
import { learningLine } from "../words/learning.ts";

export const usage = `butler uninstall <agent> [--scope user|project] [--dry-run] [--json]

Takes memory away from a coding agent again. Files that were not changed since are put back byte for byte; from the others
exactly what butler install had added is taken out. What is remembered stays. Agents: claude-code, codex, cursor, gemini, opencode.`;

const options = {
  scope: { type: "string" },
  "dry-run": { type: "boolean" },
  json: { type: "boolean" },
} as const;

export async function run(args: readonly string[], { environment, say }: Context): Promise<ExitCode> {
  const { values, positionals } = readOptions(args, options, true);
  const [name, ...more] = positionals;
  if (name === undefined) throw invalid("agent", "Which agent? butler install lists those that have memory.");
  if (more.length > 0) throw invalid("arguments", `"${more.join(" ")}" is too much; one agent at a time.`);
  const agent = readAgent(name);
  const places = readPlaces(environment);
  const undoing = prepareUninstall(places, agent, readScope(values.scope, places));
  const dryRun = values["dry-run"] ?? false;
  if (!dryRun) applyUninstall(undoing);
  if (values.json) {
    const { writes, kept, copies, manifest } = undoing;
    const { scope } = manifest;
    const files = fileChanges(writes, dryRun);
    say(JSON.stringify({ agent, scope, dry_run: dryRun, files, kept, copies: [...copies.keys()] }));
    return 0;
  }
  for (const line of lines(undoing, dryRun)) say(line);
  const learns = learningTold(environment, places.home, undoing.manifest.butler);
  if (learns !== undefined)
    say(`What you chose for learning stays; to change it, edit that line. ${learningLine(learns)}`);
  return 0;
}

function lines({ manifest, writes, kept, copies }: PreparedUninstall, dryRun: boolean): string[] {
  const { title } = AGENTS[manifest.agent];
  const changed = changeLines(fileChanges(writes, dryRun));
  if (dryRun) return [`${title} would go without memory; nothing was changed.`, ...changed];
  return [
    `${title} has no memory any more; what is remembered stays.`,
    ...changed,
    ...kept.map((what) => `  left     ${short(what)}: it is not as we had written it`),
    ...[...copies.keys()].map((path) => `  kept     ${short(path)}: your changes to a file of ours`),
  ];
}
