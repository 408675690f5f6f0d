/** Whether what was just said lets an untrusted memory into context blocks. */
import type { Sql } from "../../adapters/db/port.ts";
import type { Fact } from "../../domain/fact.ts";
import { bestTrust } from "../../domain/learning/trust.ts";
import { corroborates, isKeptOut, type Reviewed, reviewAfter, type Source } from "../../domain/lifecycle/quarantine.ts";
import type { Rule } from "../../domain/rule.ts";
import { sourcesOf } from "../../store/memories/origins.ts";
import type { Call } from "../memory.ts";

/** The columns that change when these say the same as a known fact or rule. Of what is trusted nothing is read. */
export async function reviewedBy(
  call: Call,
  sql: Sql,
  known: Fact | Rule,
  said: readonly Source[],
): Promise<Partial<Reviewed>> {
  const best = bestTrust(said.map(({ trust }) => trust));
  const sources = isKeptOut(known) && best !== "user" ? await sourcesOf(sql, call.caller.tenant, known) : [];
  const corroborated = said.some((one) => corroborates(one, sources));
  return reviewAfter(known, best, corroborated, call.now);
}
