/** Ways to the rows of the read model other than by words and vectors: the turns of a session, who speaks, facts of one key, what a shelf holds. */
import { isLasting } from "../lifecycle/lasting.ts";
import { firstName } from "../text/names.ts";
import type { ReadRow } from "./rows.ts";

export interface Lookups {
  put(slot: number, row: ReadRow): void;
  drop(slot: number, row: ReadRow): void;
  /** What tells the session of an episode from all others: of one tenant, butler and name. */
  sessionOf(slot: number): string | undefined;
  /** These slots without the episodes of sessions of this name, in their order; they are written over. */
  outside(tenant: string, session: string, slots: Int32Array): Int32Array;
  /** Turns of the same session with an ordinal in this range, in their order. */
  turns(slot: number, first: number, last: number): readonly number[];
  /** Whether anybody of these first names speaks in the session of this episode. */
  speaksIn(slot: number, names: readonly string[]): boolean;
  /** The first name of who said it, if it is a name. */
  nameOf(slot: number): string | undefined;
  /** Whether somebody of this first name speaks in these scopes; undefined: in any of the tenant. */
  isSpeaker(tenant: string, scopes: readonly string[] | undefined, name: string): boolean;
  /** What people of these first names said, in all scopes of the tenant. */
  saidBy(tenant: string, names: readonly string[]): readonly number[];
  /** Live facts under the key of this one, in all scopes of its tenant; itself among them. */
  sameKey(slot: number): ReadonlySet<number>;
  /** What has this tag, in all scopes of the tenant. */
  tagged(tenant: string, tag: string): ReadonlySet<number>;
  /** Lasting facts or proven rules of a scope: what a profile is made of. */
  lasting(tenant: string, scope: string, type: "fact" | "rule"): ReadonlySet<number>;
}

interface Session {
  readonly key: string;
  /** Its tenant and name: sessions of several scopes may share them. */
  readonly name: string;
  /** Slots by their ordinals, which stand beside them: an object for each turn took three times the memory. */
  readonly turns: number[];
  readonly ordinals: number[];
  /** How often somebody of this first name speaks in it. */
  readonly names: Map<string, number>;
  episodes: number;
}

const joined = (...parts: readonly (string | null)[]): string => parts.join("\u0000");

/** As the index in the store is over it: the first word, in lower case. */
export const spokenName = (speaker: string): string => speaker.split(" ", 1)[0]?.toLowerCase() ?? "";

export function openLookups(): Lookups {
  const sessions = new Map<string, Session>();
  const named = new Map<string, Set<Session>>();
  /** By slot: a key put together of three texts for every turn of every candidate took a tenth of a search. */
  const sessionAt: (Session | undefined)[] = [];
  const nameAt: (string | undefined)[] = [];
  const sameKeyAt: (ReadonlySet<number> | undefined)[] = [];
  const said = new Map<string, Map<string, Set<number>>>();
  const keys = new Map<string, Set<number>>();
  const lasting = new Map<string, Set<number>>();
  const tagged = new Map<string, Set<number>>();

  const add = <T>(all: Map<string, Set<T>>, key: string, one: T): ReadonlySet<T> => {
    const known = all.get(key) ?? new Set();
    if (known.size === 0) all.set(key, known);
    return known.add(one);
  };
  const take = <T>(all: Map<string, Set<T>>, key: string, one: T) => {
    const known = all.get(key);
    known?.delete(one);
    if (known?.size === 0) all.delete(key);
  };
  const keyOf = ({ tenant_id, subject_key, predicate_key }: ReadRow) => joined(tenant_id, subject_key, predicate_key);
  const nameKey = (tenant: string, name: string) => joined(tenant, name);
  const sessionFor = ({ tenant_id, scope, session_id }: ReadRow): Session => {
    const key = joined(tenant_id, scope, session_id);
    const known = sessions.get(key);
    if (known !== undefined) return known;
    const made: Session = {
      ...{ key, name: joined(tenant_id, session_id) },
      ...{ turns: [], ordinals: [], names: new Map(), episodes: 0 },
    };
    sessions.set(key, made);
    add(named, made.name, made);
    return made;
  };
  const speakerChange = (slot: number, row: ReadRow, by: 1 | -1) => {
    if (row.speaker === null) return;
    const name = spokenName(row.speaker);
    const names = sessionAt[slot]?.names;
    const n = (names?.get(name) ?? 0) + by;
    if (n > 0) names?.set(name, n);
    else names?.delete(name);
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
      if (row.type === "fact") sameKeyAt[slot] = add(keys, keyOf(row), slot);
      if (row.type !== "episode") {
        if (isForProfile(row)) add(lasting, lastingKey(row), slot);
        return;
      }
      nameAt[slot] = firstName(row.speaker);
      const session = row.session_id === null ? undefined : sessionFor(row);
      sessionAt[slot] = session;
      speakerChange(slot, row, 1);
      if (session === undefined) return;
      session.episodes += 1;
      if (row.ordinal === null) return;
      const at = firstAtLeast(session.ordinals, row.ordinal + 1);
      session.turns.splice(at, 0, slot);
      session.ordinals.splice(at, 0, row.ordinal);
    },
    drop(slot, row) {
      for (const tag of row.tags) take(tagged, joined(row.tenant_id, tag), slot);
      if (row.type === "fact") take(keys, keyOf(row), slot);
      sameKeyAt[slot] = undefined;
      if (row.type !== "episode") return take(lasting, lastingKey(row), slot);
      speakerChange(slot, row, -1);
      const session = sessionAt[slot];
      sessionAt[slot] = undefined;
      nameAt[slot] = undefined;
      if (session === undefined) return;
      session.episodes -= 1;
      if (session.episodes === 0) {
        sessions.delete(session.key);
        take(named, session.name, session);
      }
      const at = session.turns.indexOf(slot);
      if (at === -1) return;
      session.turns.splice(at, 1);
      session.ordinals.splice(at, 1);
    },
    sessionOf: (slot) => sessionAt[slot]?.key,
    outside(tenant, session, slots) {
      const own = named.get(joined(tenant, session));
      if (own === undefined) return slots;
      let n = 0;
      for (const slot of slots) {
        const of = sessionAt[slot];
        if (of === undefined || !own.has(of)) slots[n++] = slot;
      }
      return slots.subarray(0, n);
    },
    nameOf: (slot) => nameAt[slot],
    turns(slot, first, last) {
      const session = sessionAt[slot];
      if (session === undefined) return [];
      const { turns, ordinals } = session;
      return turns.slice(firstAtLeast(ordinals, first), firstAtLeast(ordinals, last + 1));
    },
    speaksIn(slot, names) {
      const speakers = sessionAt[slot]?.names;
      return speakers !== undefined && names.some((name) => speakers.has(name));
    },
    isSpeaker(tenant, scopes, name) {
      const known = said.get(nameKey(tenant, name));
      return known !== undefined && (scopes === undefined || scopes.some((scope) => known.has(scope)));
    },
    saidBy(tenant, names) {
      const slots: number[] = [];
      for (const name of names)
        for (const own of said.get(nameKey(tenant, name))?.values() ?? []) for (const slot of own) slots.push(slot);
      return slots;
    },
    sameKey: (slot) => sameKeyAt[slot] ?? NONE,
    tagged: (tenant, tag) => tagged.get(joined(tenant, tag)) ?? NONE,
    lasting: (tenant, scope, type) => lasting.get(joined(tenant, scope, type)) ?? NONE,
  };
}

const isForProfile = ({ type, permanence, importance, maturity }: ReadRow): boolean =>
  type === "rule" ? maturity === "proven" : isLasting({ permanence: permanence ?? undefined, importance });

const NONE: ReadonlySet<number> = new Set();

/** The place of the first ordinal that is not less. */
function firstAtLeast(ordinals: readonly number[], ordinal: number): number {
  let low = 0;
  let high = ordinals.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ordinals[middle] as number) < ordinal) low = middle + 1;
    else high = middle;
  }
  return low;
}
