import type { OwnerClient } from "../../daemon/line/client.ts";
import { invalid } from "../../engine/domain/errors.ts";

/** The butler that a command calls: the one that was named, or the only one there is. */
export async function chooseButler(client: OwnerClient, asked: string | undefined): Promise<string> {
  if (asked !== undefined) return asked;
  const names = (await client.butlers()).map(({ name }) => name);
  const [only] = names;
  if (only !== undefined && names.length === 1) return only;
  throw invalid("butler", `Which butler? Say --butler with one of: ${names.join(", ")}.`);
}
