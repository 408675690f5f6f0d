/** The whole ids for the short ones that a model was shown, within what the caller may see. */
import { invalid, notFound } from "../domain/errors.ts";
import { MEMORY_TYPES, type MemoryType } from "../domain/memory-types.ts";
import { everyVisible } from "../domain/scope.ts";
import { plainShortId } from "../domain/short-id.ts";
import { clip } from "../domain/text/text.ts";
import { memoriesNamed } from "../store/memories/short-ids.ts";
import type { Call } from "./memory.ts";

/** The arguments that name a memory, and the type that some of them are always of. */
const NAMES: Readonly<Record<string, MemoryType | undefined>> = {
  id: undefined,
  rule_id: "rule",
  source_episode_id: "episode",
};

export async function withWholeIds(call: Call, input: Record<string, unknown>): Promise<Record<string, unknown>> {
  const whole = { ...input };
  for (const [name, type] of Object.entries(NAMES)) {
    const short = typeof whole[name] === "string" ? plainShortId(whole[name]) : undefined;
    if (short !== undefined)
      whole[name] = await wholeId(call, name, short, type ?? (input.type as MemoryType | undefined));
  }
  return whole;
}

async function wholeId(call: Call, field: string, short: string, type: MemoryType | undefined): Promise<string> {
  const { memory, caller, now } = call;
  const [first, ...others] = await memoriesNamed(memory.db, short, {
    tenant: caller.tenant,
    scopes: everyVisible(caller),
    types: type === undefined ? MEMORY_TYPES : [type],
    now,
  });
  if (first === undefined) throw notFound(`no ${type ?? "memory"} with the id ${short}; search for it first.`);
  if (others.length === 0) return first.id;
  const all = [first, ...others].map(({ type, id, content }) => `${type} ${id} (${clip(content, 60)})`);
  throw invalid(field, `${field}: ${short} is short for several; give one of these: ${all.join("; ")}.`);
}
