import { type RefusalLine, readRefusals } from "../../daemon/audit/refusal-log.ts";
import { homeAt } from "../../daemon/home.ts";
import type { OwnerClient } from "../../daemon/line/client.ts";
import type { ExitCode } from "../../doors/failures.ts";
import { systemClock } from "../../engine/adapters/clock.ts";
import { invalid, MemoryError } from "../../engine/domain/errors.ts";
import { neutralLine } from "../../engine/domain/text/neutral.ts";
import { controlRedaction } from "../../engine/views/control/redaction.ts";
import { readSince } from "../log/since.ts";
import { ownerClient } from "../owner/owner-client.ts";
import { chooseButler } from "../program/choose-butler.ts";
import { type Context, readOptions } from "../program/command.ts";
import { agreedTo, answerOf } from "../program/for-good.ts";
import { tellFailure } from "../program/tell-failure.ts";
import { foundLines, type RedactionShown, redactedLines } from "../words/redaction.ts";

export const usage = `butler audit refusals [--since <time or age>] [--json]
butler audit redaction [--redact [--yes]] [--butler <name>] [--json]

refusals: who was turned away at a door, the oldest first: requests without a token or with one that is not right (token), for another
butler, tenant, role or scope than the token's, too many at once (rate, busy) or too large (size). Refusals of one kind and caller
within a minute are one line, which is written when the minute is over or the owner stops. A refused token is never written down. What is known of a tenant is in its
audit stream too, as events named access.refused (butler log shows them).

redaction: looks through everything that is stored (memories, their history, kept answers, records of runs) with the redaction policy that
the butler has now, and tells how many secrets of which kind stand where, never the secrets. --redact takes them out, after a question unless
--yes is given: texts, words and vectors are made anew, and a receipt remains. It cannot be undone, and tables are written anew, so a large
store is busy for a while.`;

export async function run(args: readonly string[], context: Context): Promise<ExitCode> {
  const [verb, ...rest] = args;
  if (verb === "refusals") return refusals(rest, context);
  if (verb === "redaction") return redaction(rest, context);
  throw invalid(
    "arguments",
    "butler audit refusals shows who was turned away; butler audit redaction looks for secrets in what is stored.",
  );
}

const REFUSALS = { since: { type: "string" }, json: { type: "boolean" } } as const;

function refusals(args: readonly string[], { environment, say }: Context): ExitCode {
  const { values } = readOptions(args, REFUSALS);
  const since = readSince(values.since, systemClock.now()) ?? "";
  const found = readRefusals(homeAt(environment.home)).filter(({ to }) => to >= since);
  if (values.json) say(JSON.stringify({ refusals: found }));
  else if (found.length === 0) say("Nobody was turned away.");
  else for (const refusal of found) say(line(refusal));
  return 0;
}

function line({ from, to, kind, count, door, actor, tenant, butler }: RefusalLine): string {
  const who = [
    actor === undefined ? "nobody known" : `token "${actor}"`,
    ...(tenant === undefined ? [] : [`tenant ${tenant}`]),
    ...(butler === undefined ? [] : [`butler ${butler}`]),
  ];
  const until = to.slice(0, 16) === from.slice(0, 16) ? "" : ` to ${to.slice(11, 19)}`;
  const at = `${from.slice(0, 19).replace("T", " ")}${until}`;
  return `${at}  ${kind.padEnd(7)} ${String(count).padStart(6)}  ${door.padEnd(6)} ${neutralLine(who.join(", "))}`;
}

const REDACTION = {
  redact: { type: "boolean" },
  yes: { type: "boolean" },
  butler: { type: "string" },
  json: { type: "boolean" },
} as const;

async function redaction(args: readonly string[], context: Context): Promise<ExitCode> {
  const { environment, say } = context;
  const { values } = readOptions(args, REDACTION);
  const json = values.json === true;
  const client = ownerClient(environment);
  try {
    const butler = await chooseButler(client, values.butler);
    const seen = await ask(client, butler, true);
    const isClean = seen.found.length === 0;
    if (!json) for (const one of foundLines(seen)) say(one);
    if (isClean || !values.redact) {
      if (json) say(JSON.stringify(seen, null, 2));
      else if (!isClean) say("Nothing was changed: butler audit redaction --redact takes them out.");
      return 0;
    }
    if (!values.yes && !(await agreedTo(context, "redact", "Nothing was changed"))) return 1;
    const done = await ask(client, butler, false);
    if (json) say(JSON.stringify(done, null, 2));
    else for (const one of redactedLines(done)) say(one);
    return 0;
  } catch (error) {
    if (!(error instanceof MemoryError) || error.code === "invalid_input") throw error;
    return tellFailure({ code: error.code, message: error.message }, json, context);
  } finally {
    client.close();
  }
}

const ask = (client: OwnerClient, butler: string, dry: boolean): Promise<RedactionShown> =>
  answerOf(client, butler, controlRedaction.name, { dry_run: dry });
