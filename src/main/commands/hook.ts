import { homeAt } from "../../daemon/home.ts";
import type { ExitCode } from "../../doors/failures.ts";
import { invalid } from "../../engine/domain/errors.ts";
import { callHook } from "../../hosts/hooks/call.ts";
import { type AgentName, HOOK_DIALECTS } from "../../hosts/hooks/dialects.ts";
import { faultOf } from "../../hosts/hooks/fault.ts";
import { ownerLaunch } from "../owner/launch.ts";
import { type Context, readOptions } from "../program/command.ts";

export const usage = `butler hook <agent> <event> [--butler <name>] [--spent <seconds>] [--late] [--given <what>] [--gone <seconds>]

Called by the hooks that butler install puts into an agent: reads the event from stdin and answers in the agent's own format.
Takes two seconds at most and ends with 0 whatever happens: an agent never waits for its memory. With --gone the agent went on
at that time (in seconds since 1970), and there is time to start an owner; --given says what the session was told from the opening that lay ready.`;

/** Counted from the start of this process; what is left of two seconds is for starting it and for the shell around it. */
const LIMIT_MS = 1_850;
/** For an owner to start on a busy machine. Nobody waits for it. */
const GONE_MS = 60_000;

export async function run(args: readonly string[], { environment, say, note }: Context): Promise<ExitCode> {
  const options = {
    butler: { type: "string" },
    spent: { type: "string" },
    late: { type: "boolean" },
    given: { type: "string" },
    gone: { type: "string" },
  } as const;
  const { values, positionals } = readOptions(args, options, true);
  const [agent, event, ...more] = positionals;
  if (agent === undefined || event === undefined || more.length > 0) throw invalid("arguments", usage);
  if (!Object.hasOwn(HOOK_DIALECTS, agent))
    throw invalid(
      "agent",
      `There are no hooks for "${agent}"; there are for ${Object.keys(HOOK_DIALECTS).join(", ")}.`,
    );
  if (environment.hooksOff) return 0;
  try {
    const answer = await callHook({
      home: homeAt(environment.home),
      launch: environment.autostart ? async () => ownerLaunch(environment) : undefined,
      // Whichever owner runs is asked, as the shell script does.
      databaseUrl: undefined,
      agent: agent as AgentName,
      event,
      butler: values.butler ?? "general",
      input: JSON.parse(await wholeInput()),
      project: environment.project,
      until: values.gone !== undefined ? GONE_MS : LIMIT_MS - secondsOf(values.spent) * 1_000,
      late: values.late ?? false,
      given: values.given,
      gone: values.gone === undefined ? undefined : secondsOf(values.gone) * 1_000,
    });
    if (answer !== undefined) say(JSON.stringify(answer));
  } catch (error) {
    // Only a code: some agents keep what a hook writes to stderr, and the message of a JSON error quotes the input.
    note(`butler hook: ${faultOf(error)}`);
  }
  // An owner that is still starting must not keep this process.
  process.exit(0);
}

/** curl prints a comma in some locales; what cannot be read counts as 0. */
const secondsOf = (text = "0"): number => Number(text.replace(",", ".")) || 0;

async function wholeInput(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
