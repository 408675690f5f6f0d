/** Asks the memory what it knows: everything that was ever learned in it, as it is now, and the words it was learned from. */
import { butler, type WeekDesk } from "./desk.ts";
import type { KnownMemory } from "./records.ts";
import { saidFor } from "./said.ts";

interface Got {
  readonly memory: Readonly<Record<string, unknown>> & { readonly content: string; readonly state: string };
  readonly links: {
    readonly outbound: readonly { readonly relation: string; readonly type: string; readonly id: string }[];
    readonly inbound: readonly { readonly relation: string; readonly type: string; readonly id: string }[];
  };
}

interface Event {
  readonly event_type: string;
  readonly entity_type: string;
  readonly entity_id: string;
}

export async function askKnown(desk: WeekDesk, now: Date): Promise<KnownMemory[]> {
  const call = async <T>(tool: string, input: object): Promise<T> =>
    JSON.parse(await butler(desk, ["call", tool, "--json", JSON.stringify(input)], now)) as T;
  const get = (id: string) => call<Got>("memory_get", { id });
  const asked = { scope: "*", changes: true, limit: 1_000 };
  const { events } = await call<{ events: readonly Event[] }>("memory_activity_stream", asked);
  const learned = events.filter(({ event_type }) => event_type === "fact.stored" || event_type === "rule.stored");
  const known: KnownMemory[] = [];
  for (const { entity_type, entity_id } of learned)
    known.push(await knownOf(entity_type as "fact" | "rule", entity_id));
  return known;

  async function knownOf(type: "fact" | "rule", id: string): Promise<KnownMemory> {
    const { memory, links } = await get(id);
    const sources: KnownMemory["sources"][number][] = [];
    for (const link of links.outbound.filter((one) => one.type === "episode")) {
      const episode = (await get(link.id)).memory;
      const day = String(episode.occurred_at).slice(0, 10);
      sources.push({ day, said: saidFor(memory.content, episode.content) });
    }
    const over = links.inbound.find(({ relation }) => relation === "supersedes");
    const metadata = memory.metadata as { learned?: { hint?: boolean; sureness?: number } } | undefined;
    const { hint = false, sureness } = metadata?.learned ?? {};
    return {
      ...{ type, text: memory.content, state: memory.state, hint, sources },
      ...(type === "fact" ? { subject: String(memory.subject_text), predicate: String(memory.predicate_text) } : {}),
      ...(sureness === undefined ? {} : { sureness }),
      ...(over === undefined ? {} : { replacedBy: (await get(over.id)).memory.content }),
    };
  }
}
