/** Events as a timeline takes them in. */
import { type FactWords, factText } from "../../domain/fact.ts";
import type { Trust } from "../../domain/learning/trust.ts";
import type { Validity } from "../../domain/lifecycle/lifecycle.ts";
import type { MemoryType } from "../../domain/memory-types.ts";
import type { Said, Standing, Told } from "../../domain/past/timeline.ts";
import { encodeForward } from "../../domain/ranking/postings.ts";
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
const momentOf = (time: string): number => {
  const finer = /\.\d{3}(\d+)/.exec(time)?.[1] ?? "";
  return Date.parse(time) + (/[1-9]/.test(finer) ? 1 : 0);
};

const saidIn = (text: string): Said => encodeForward(lexemes(text));

/** The text of a memory whose words are indexed. */
export const indexedText = (type: MemoryType, row: RowJson): string =>
  type === "fact" ? factText({ content: "", ...row } as FactWords & RowJson) : String(row.content ?? "");

const keyOf = (type: MemoryType, { subject, predicate }: RowJson): string | undefined =>
  type === "fact" ? JSON.stringify([subject, predicate]) : undefined;

const time = (value: unknown): number | null => (typeof value === "string" ? new Date(value).getTime() : null);
const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
const sure = (value: unknown, type: MemoryType, ofEpisodes: number): number =>
  type === "episode" ? ofEpisodes : Number(value);

/** Each from the column of its name. */
const READ: { readonly [K in keyof Standing]: (value: unknown, type: MemoryType) => Standing[K] } = {
  validity: (value) => value as Validity,
  importance: Number,
  tags: (value) => (value as string[] | undefined) ?? [],
  created_at: (value) => time(value) ?? 0,
  confidence: (value, type) => sure(value, type, 1),
  decay_rate: (value, type) => sure(value, type, 0),
  last_confirmed_at: time,
  valid_to: time,
  waits_until: time,
  corroborated_at: time,
  expires_at: time,
  // Events from before the column existed have no trust; the migration set it in the rows.
  trust: (value) => (value as Trust | undefined) ?? "agent",
  permanence: (value) => value as string | undefined,
  maturity: (value) => value as string | undefined,
  tier: (value) => value as string | undefined,
  session: text,
  ordinal: (value) => (typeof value === "number" ? value : undefined),
  speaker: text,
};
const NAMES = Object.keys(READ) as (keyof Standing)[];
const columnOf = (name: keyof Standing): string => (name === "session" ? "session_id" : name);

const standingOf = (type: MemoryType, row: RowJson): Standing =>
  Object.fromEntries(NAMES.map((name) => [name, READ[name](row[columnOf(name)], type)])) as unknown as Standing;

const changeOf = (type: MemoryType, set: RowJson): Partial<Standing> =>
  Object.fromEntries(
    NAMES.filter((name) => columnOf(name) in set).map((name) => [name, READ[name](set[columnOf(name)], type)]),
  );
