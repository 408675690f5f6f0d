import type { ExitCode } from "../../doors/failures.ts";
import { systemClock } from "../../engine/adapters/clock.ts";
import { invalid } from "../../engine/domain/errors.ts";
import { controlUndo } from "../../engine/views/control/undo.ts";
import { readSince } from "../log/since.ts";
import { ownerClient } from "../owner/owner-client.ts";
import { chooseButler } from "../program/choose-butler.ts";
import { type Context, readOptions } from "../program/command.ts";
import { tellFailure } from "../program/tell-failure.ts";
import { type UndoShown, undoWords } from "../words/undo.ts";

export const usage = `butler undo --request <id> | --session <id> | --run <id> | --source <name> | --event <id> | --since <time>
            [--dry-run] [--butler <name>] [--json]

Takes back what came of a cause, all of it or nothing: memories that it stored are forgotten, what they replaced holds again, marks count
no more, links are removed. --session also takes back what was learned from its episodes and from nothing else; --run what one run of
consolidation learned; --source what came from a source (as butler call memory_get shows it) or was done by a caller; --since everything since a
time like 2026-05-01T09:30 or an age like 2h. What somebody else has confirmed or changed since stays, and is shown with the reason.
--dry-run shows the tree and changes nothing. An undo can be undone: it prints the id for --request.`;

const CAUSES = ["request", "session", "run", "source", "event", "since"] as const;

const OPTIONS = {
  ...(Object.fromEntries(CAUSES.map((name) => [name, { type: "string" }])) as Record<
    (typeof CAUSES)[number],
    { type: "string" }
  >),
  "dry-run": { type: "boolean" },
  butler: { type: "string" },
  json: { type: "boolean" },
} as const;

export async function run(args: readonly string[], context: Context): Promise<ExitCode> {
  const { environment, say } = context;
  const { values } = readOptions(args, OPTIONS);
  const [cause, ...more] = CAUSES.filter((name) => values[name] !== undefined);
  if (cause === undefined || more.length > 0)
    throw invalid("arguments", `Undo what? Name one of ${CAUSES.map((name) => `--${name}`).join(", ")}.`);
  const now = environment.now === undefined ? systemClock.now() : new Date(environment.now);
  const value = cause === "since" ? readSince(values.since, now) : values[cause];
  const client = ownerClient(environment);
  try {
    const butler = await chooseButler(client, values.butler);
    const input = { [cause]: value, dry_run: values["dry-run"] === true };
    const outcome = await client.invoke(butler, { tool: controlUndo.name, input });
    const json = values.json === true;
    if (outcome.ok) {
      if (json) say(JSON.stringify(outcome.answer, null, 2));
      else for (const line of undoWords(outcome.answer as unknown as UndoShown, values.butler)) say(line);
      return 0;
    }
    return tellFailure(outcome.error, json, context);
  } finally {
    client.close();
  }
}
