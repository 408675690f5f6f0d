/** Events as a timeline takes them in. */
import { type FactWords, factText } from "../../domain/fact.ts";
import type { Trust } from "../../domain/learning/trust.ts";
import type { Validity } from "../../domain/lifecycle/lifecycle.ts";
import type { MemoryType } from "../../domain/memory-types.ts";
import type { Said, Standing, Told } from "../../domain/past/timeline.ts";
import { encodeForward } from "../../domain/ranking/words/postings.ts";
import type { RowJson } from "../../domain/replay.ts";
import { lexemes } from "../../domain/text/lexemes.ts";
import type { StreamPage, StreamStep } from "../../store/history/timeline.ts";

export function* toldBy({ steps, readings }: StreamPage): Iterable<Told> {
  for (const step of steps) {
    const told = toldOf(step);
    if (told !== undefined) yield told;
  }
  for (const { id, at, until } of readings)
    yield { kind: "read", id, at: momentOf(at), until: new Date(until).getTime() };
}

function toldOf(step: StreamStep): Told | undefined {
  const { id, type, scope, row, set, asks } = step;
  const at = momentOf(step.at);
  if (step.deleted) return { kind: "deleted", id, at };
  if (row !== null) {
    const said =
      step.x === undefined || step.len === null ? saidIn(indexedText(type, row)) : { len: step.len, x: step.x };
    const name = step.name ?? undefined;
    return {
      kind: "stored",
      id,
      at,
      type,
      scope,
      key: keyOf(type, row),
      asks,
      name,
      said,
      standing: standingOf(type, row),
    };
  }
  if (set === null) return undefined;
  // The text of a fact never changes, and its content is only a part of what is indexed.
  const said = typeof set.content === "string" && type !== "fact" ? saidIn(set.content) : undefined;
  return { kind: "set", id, at, change: changeOf(type, set), reworded: "content" in set, said };
}

/** A moment is asked for in milliseconds; what happened in the course of one had not happened when it began. */
const momentOf = (time: string): number =>
  new Date(time).getTime() + (time[19] === "." && /^\d{3}0*[1-9]/.test(time.slice(20)) ? 1 : 0);

const saidIn = (text: string): Said => encodeForward(lexemes(text));

/** The text of a memory whose words are indexed. */
export const indexedText = (type: MemoryType, row: RowJson): string =>
  type === "fact" ? factText({ content: "", ...row } as FactWords & RowJson) : String(row.content ?? "");

const keyOf = (type: MemoryType, { subject, predicate }: RowJson): string | undefined =>
  type === "fact" ? JSON.stringify([subject, predicate]) : undefined;

const time = (value: unknown): number | null => (typeof value === "string" ? new Date(value).getTime() : null);
const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** Written out: objects of one shape take half the room, and these stay. */
function standingOf(type: MemoryType, row: RowJson): Standing {
  const isEpisode = type === "episode";
  return {
    validity: row.validity as Validity,
    importance: Number(row.importance),
    tags: (row.tags as string[] | undefined) ?? [],
    created_at: time(row.created_at) ?? 0,
    confidence: isEpisode ? 1 : Number(row.confidence),
    decay_rate: isEpisode ? 0 : Number(row.decay_rate),
    last_confirmed_at: time(row.last_confirmed_at),
    valid_to: time(row.valid_to),
    waits_until: time(row.waits_until),
    corroborated_at: time(row.corroborated_at),
    expires_at: time(row.expires_at),
    // Events from before the column existed have no trust; the migration set it in the rows.
    trust: (row.trust as Trust | undefined) ?? "agent",
    permanence: row.permanence as string | undefined,
    maturity: row.maturity as string | undefined,
    tier: row.tier as string | undefined,
    session: text(row.session_id),
    ordinal: typeof row.ordinal === "number" ? row.ordinal : undefined,
    speaker: text(row.speaker),
  };
}

/** What is not set is not there. */
function changeOf(type: MemoryType, set: RowJson): Partial<Standing> {
  const whole: Standing = standingOf(type, set);
  const change: Record<string, unknown> = {};
  for (const column in set) {
    const name = column === "session_id" ? "session" : column;
    if (name in whole) change[name] = whole[name as keyof Standing];
  }
  return change;
}
