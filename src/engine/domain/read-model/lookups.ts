/** Ways to the rows of the read model other than by words and vectors: the turns of a session, who speaks, facts of one key, what a shelf holds. */
import { isLasting } from "../lifecycle/lasting.ts";
import type { ReadRow } from "./rows.ts";

export interface Lookups {
  put(slot: number, row: ReadRow): void;
  drop(slot: number, row: ReadRow): void;
  /** Turns of the same session, butler and tenant with an ordinal in this range, in their order. */
  turns(row: ReadRow, first: number, last: number): readonly number[];
  /** Whether anybody of these first names speaks in the session of this row. */
  speaksIn(row: ReadRow, names: readonly string[]): boolean;
  /** Whether somebody of this first name speaks in these scopes; undefined: in any of the tenant. */
  isSpeaker(tenant: string, scopes: readonly string[] | undefined, name: string): boolean;
  /** What somebody of this first name said, in all scopes of the tenant. */
  saidBy(tenant: string, name: string): ReadonlySet<number>;
  /** Live facts under the key of this one, in all scopes of its tenant; itself among them. */
  sameKey(row: ReadRow): ReadonlySet<number>;
  /** What has this tag, in all scopes of the tenant. */
  tagged(tenant: string, tag: string): ReadonlySet<number>;
  /** Lasting facts or proven rules of a scope: what a profile is made of. */
  lasting(tenant: string, scope: string, type: "fact" | "rule"): ReadonlySet<number>;
}

interface Turn {
  readonly ordinal: number;
  readonly slot: number;
}

const joined = (...parts: readonly (string | null)[]): string => parts.join("\u0000");

/** As the index in the store is over it: the first word, in lower case. */
export const spokenName = (speaker: string): string => speaker.split(" ", 1)[0]?.toLowerCase() ?? "";

export function openLookups(): Lookups {
  const sessions = new Map<string, Turn[]>();
  const speaking = new Map<string, Map<string, number>>();
  const said = new Map<string, Map<string, Set<number>>>();
  const keys = new Map<string, Set<number>>();
  const lasting = new Map<string, Set<number>>();
  const tagged = new Map<string, Set<number>>();

  const add = (all: Map<string, Set<number>>, key: string, slot: number) => {
    const known = all.get(key);
    if (known === undefined) all.set(key, new Set([slot]));
    else known.add(slot);
  };
  const take = (all: Map<string, Set<number>>, key: string, slot: number) => {
    const known = all.get(key);
    known?.delete(slot);
    if (known?.size === 0) all.delete(key);
  };
  const sessionOf = ({ tenant_id, scope, session_id }: ReadRow) => joined(tenant_id, scope, session_id);
  const keyOf = ({ tenant_id, subject_key, predicate_key }: ReadRow) => joined(tenant_id, subject_key, predicate_key);
  const nameKey = (tenant: string, name: string) => joined(tenant, name);
  const count = (session: string, name: string, by: number) => {
    const names = speaking.get(session) ?? new Map<string, number>();
    speaking.set(session, names);
    const n = (names.get(name) ?? 0) + by;
    if (n > 0) names.set(name, n);
    else names.delete(name);
    if (names.size === 0) speaking.delete(session);
  };
  const speakerChange = (slot: number, row: ReadRow, by: 1 | -1) => {
    if (row.speaker === null) return;
    const name = spokenName(row.speaker);
    if (row.session_id !== null) count(sessionOf(row), name, by);
    const key = nameKey(row.tenant_id, name);
    const scopes = said.get(key) ?? new Map<string, Set<number>>();
    said.set(key, scopes);
    if (by > 0) add(scopes, row.scope, slot);
    else take(scopes, row.scope, slot);
    if (scopes.size === 0) said.delete(key);
  };
  const lastingKey = ({ tenant_id, scope, type }: ReadRow) => joined(tenant_id, scope, type);

  return {
    put(slot, row) {
      for (const tag of row.tags) add(tagged, joined(row.tenant_id, tag), slot);
      if (row.type === "fact") add(keys, keyOf(row), slot);
      if (row.type !== "episode") return isForProfile(row) ? add(lasting, lastingKey(row), slot) : undefined;
      speakerChange(slot, row, 1);
      if (row.session_id === null || row.ordinal === null) return;
      const turns = sessions.get(sessionOf(row)) ?? [];
      sessions.set(sessionOf(row), turns);
      turns.splice(firstAtLeast(turns, row.ordinal + 1), 0, { ordinal: row.ordinal, slot });
    },
    drop(slot, row) {
      for (const tag of row.tags) take(tagged, joined(row.tenant_id, tag), slot);
      if (row.type === "fact") take(keys, keyOf(row), slot);
      if (row.type !== "episode") return take(lasting, lastingKey(row), slot);
      speakerChange(slot, row, -1);
      const turns = sessions.get(sessionOf(row));
      const at = turns?.findIndex((turn) => turn.slot === slot) ?? -1;
      if (turns !== undefined && at >= 0) turns.splice(at, 1);
      if (turns?.length === 0) sessions.delete(sessionOf(row));
    },
    turns(row, first, last) {
      const turns = sessions.get(sessionOf(row)) ?? [];
      const found: number[] = [];
      for (let i = firstAtLeast(turns, first); i < turns.length; i++) {
        const { ordinal, slot } = turns[i] as Turn;
        if (ordinal > last) break;
        found.push(slot);
      }
      return found;
    },
    speaksIn(row, names) {
      const speakers = speaking.get(sessionOf(row));
      return speakers !== undefined && names.some((name) => speakers.has(name));
    },
    isSpeaker(tenant, scopes, name) {
      const known = said.get(nameKey(tenant, name));
      return known !== undefined && (scopes === undefined || scopes.some((scope) => known.has(scope)));
    },
    saidBy: (tenant, name) =>
      new Set([...(said.get(nameKey(tenant, name))?.values() ?? [])].flatMap((slots) => [...slots])),
    sameKey: (row) => keys.get(keyOf(row)) ?? NONE,
    tagged: (tenant, tag) => tagged.get(joined(tenant, tag)) ?? NONE,
    lasting: (tenant, scope, type) => lasting.get(joined(tenant, scope, type)) ?? NONE,
  };
}

const isForProfile = ({ type, permanence, importance, maturity }: ReadRow): boolean =>
  type === "rule" ? maturity === "proven" : isLasting({ permanence: permanence ?? undefined, importance });

const NONE: ReadonlySet<number> = new Set();

/** The place of the first turn whose ordinal is not less. */
function firstAtLeast(turns: readonly Turn[], ordinal: number): number {
  let low = 0;
  let high = turns.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((turns[middle] as Turn).ordinal < ordinal) low = middle + 1;
    else high = middle;
  }
  return low;
}
