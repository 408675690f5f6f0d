/** What commands share that change something for good: they ask the owner first what would go, and then the person. */
import type { OwnerClient } from "../../daemon/line/client.ts";
import { MemoryError } from "../../engine/domain/errors.ts";
import type { Context } from "./command.ts";

/** The answer of a call; its failure is thrown. */
export async function answerOf<A>(client: OwnerClient, butler: string, tool: string, input: object): Promise<A> {
  const outcome = await client.invoke(butler, { tool, input });
  if (!outcome.ok) throw new MemoryError(outcome.error.code, outcome.error.message);
  return outcome.answer as A;
}

/** Whether the person typed `word`; otherwise they are told that `nothing` was done. */
export async function agreedTo({ ask, note }: Context, word: string, nothing: string): Promise<boolean> {
  const answer = await ask?.(`This cannot be undone. Type ${word} to go on: `);
  if (answer === word) return true;
  note(answer === undefined ? `${nothing}: give --yes where nobody can be asked.` : `${nothing}.`);
  return false;
}
