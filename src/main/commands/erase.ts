import { homeAt } from "../../daemon/home.ts";
import type { OwnerClient } from "../../daemon/line/client.ts";
import type { ExitCode } from "../../doors/failures.ts";
import { subjectNamed } from "../../engine/domain/erasure/subject-named.ts";
import { invalid, MemoryError } from "../../engine/domain/errors.ts";
import { controlErase } from "../../engine/views/control/erase.ts";
import { eraseTraces, type Traces } from "../../hosts/traces/erase-traces.ts";
import { ownerClient } from "../owner/owner-client.ts";
import { chooseButler } from "../program/choose-butler.ts";
import { type Context, readOptions } from "../program/command.ts";
import { agreedTo, answerOf } from "../program/for-good.ts";
import { tellFailure } from "../program/tell-failure.ts";
import { type EraseShown, erasedLines, goingLines } from "../words/erase.ts";

export const usage = `butler erase --subject <name> | --session <id> | --id <memory> [--dry-run] [--yes] [--butler <name>] [--json]

Erases for good: the memories, what was learned from them alone, their words and vectors in the index, their text in the audit stream, in
kept answers and in the records of consolidation, in what waits in the spool, in openings and in logs. --subject takes every fact about the
subject, the episodes that taught them, and everything that names it. It cannot be undone, so it asks first unless --yes is given; --dry-run
only counts. A receipt without any of the words remains. Tables are written anew, so a large store is busy for a while.
butler forget hides a memory and can be taken back; butler undo takes back what came of a session.`;

const KINDS = ["subject", "session", "id"] as const;

const OPTIONS = {
  subject: { type: "string" },
  session: { type: "string" },
  id: { type: "string" },
  "dry-run": { type: "boolean" },
  yes: { type: "boolean" },
  butler: { type: "string" },
  json: { type: "boolean" },
} as const;

export async function run(args: readonly string[], context: Context): Promise<ExitCode> {
  const { environment, say } = context;
  const { values } = readOptions(args, OPTIONS);
  const [kind, ...more] = KINDS.filter((name) => values[name] !== undefined);
  if (kind === undefined || more.length > 0)
    throw invalid("arguments", `Erase what? Name one of ${KINDS.map((name) => `--${name}`).join(", ")}.`);
  const target = { [kind]: values[kind] };
  const json = values.json === true;
  const client = ownerClient(environment);
  try {
    const butler = await chooseButler(client, values.butler);
    const planned = await ask(client, butler, { ...target, dry_run: true });
    if (!json) for (const line of goingLines(planned)) say(line);
    if (values["dry-run"]) {
      say(json ? JSON.stringify(planned, null, 2) : "Nothing was changed: leave out --dry-run to erase it.");
      return 0;
    }
    if (!values.yes && !(await agreedTo(context, "erase", "Nothing was erased"))) return 1;
    const home = homeAt(environment.home);
    const traces: Traces = {
      sessions: planned.sessions,
      ids: planned.memories.map(({ id }) => id),
      names: values.subject === undefined ? () => false : subjectNamed(values.subject),
    };
    // Before, so that no exchange is stored from the spool meanwhile; and after, because calls are logged.
    const before = eraseTraces(home, traces);
    const done = await ask(client, butler, target);
    const after = eraseTraces(home, traces);
    const gone = {
      spool: before.spool + after.spool,
      session_log: before.session_log + after.session_log,
      owner_log: before.owner_log + after.owner_log,
    };
    if (json) say(JSON.stringify({ ...done, files: gone }, null, 2));
    else for (const line of erasedLines(done, gone)) say(line);
    return 0;
  } catch (error) {
    if (!(error instanceof MemoryError) || error.code === "invalid_input") throw error;
    return tellFailure({ code: error.code, message: error.message }, json, context);
  } finally {
    client.close();
  }
}

const ask = (client: OwnerClient, butler: string, input: object): Promise<EraseShown> =>
  answerOf(client, butler, controlErase.name, input);
