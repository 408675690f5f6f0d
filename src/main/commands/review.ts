import type { ExitCode } from "../../doors/failures.ts";
import { viewReview } from "../../engine/views/lists/review.ts";
import { ownerClient } from "../owner/owner-client.ts";
import { chooseButler } from "../program/choose-butler.ts";
import { type Context, readOptions } from "../program/command.ts";
import { tellFailure } from "../program/tell-failure.ts";
import { type ReviewShown, reviewLines } from "../words/review.ts";

export const usage = `butler review [--butler <name>] [--json]

What waits for a person: facts and rules that come from an untrusted source (what a tool, a file or a web page said), which no context
block holds until another source says the same or you confirm them, and what somebody has contradicted, with the claims against it.
Decide with butler call memory_confirm --id <id> (it holds), butler call memory_forget --id <id>, or butler undo --event <id>. What nobody looks at leaves the list after
30 days by itself and stays as it is.`;

const OPTIONS = { butler: { type: "string" }, json: { type: "boolean" } } as const;

const PAGE = 200;

export async function run(args: readonly string[], context: Context): Promise<ExitCode> {
  const { environment, say } = context;
  const { values } = readOptions(args, OPTIONS);
  const json = values.json === true;
  const client = ownerClient(environment);
  try {
    const butler = await chooseButler(client, values.butler);
    const outcome = await client.invoke(butler, { tool: viewReview.name, input: { limit: PAGE } });
    if (outcome.ok) {
      if (json) say(JSON.stringify(outcome.answer, null, 2));
      else for (const line of reviewLines(outcome.answer as unknown as ReviewShown, values.butler)) say(line);
      return 0;
    }
    return tellFailure(outcome.error, json, context);
  } finally {
    client.close();
  }
}
