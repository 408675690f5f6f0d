/**
 * What became of each memory of a tenant, and when: of every change what ranking reads, in the order of the stream. A moment in the past is
 * then looked up instead of folded from all events before it. About 300 bytes a memory and 80 a change are kept.
 */
import type { Trust } from "../learning/trust.ts";
import { LASTING } from "../lifecycle/lasting.ts";
import { canonicalState, isLive, type Validity } from "../lifecycle/lifecycle.ts";
import type { MemoryType } from "../memory-types.ts";
import { eachForward } from "../ranking/words/postings.ts";
import { type Arena, openArena } from "../read-model/arena.ts";
import { addTo, entriesOf, listOf, type PostingList } from "../read-model/posting-list.ts";
import { firstName } from "../text/names.ts";

/** What ranking reads of a row. Times are milliseconds since 1970. */
export interface Standing {
  readonly validity: Validity;
  readonly importance: number;
  readonly tags: readonly string[];
  readonly created_at: number;
  readonly confidence: number;
  readonly decay_rate: number;
  readonly last_confirmed_at: number | null;
  readonly valid_to: number | null;
  readonly waits_until: number | null;
  readonly corroborated_at: number | null;
  readonly expires_at: number | null;
  readonly trust: Trust;
  readonly permanence: string | undefined;
  readonly maturity: string | undefined;
  readonly tier: string | undefined;
  readonly session: string | undefined;
  readonly ordinal: number | undefined;
  readonly speaker: string | undefined;
}

/** The number of its words, and a forward row. */
export interface Said {
  readonly len: number;
  readonly x: Uint8Array;
}

/** What an event tells of one memory. */
export type Told = { readonly id: string; readonly at: number } & (
  | {
      readonly kind: "stored";
      readonly type: MemoryType;
      readonly scope: string;
      /** Of facts. */
      readonly key: string | undefined;
      readonly asks: boolean;
      /** Who spoke, as sessions are asked for it. */
      readonly name: string | undefined;
      readonly standing: Standing;
      readonly said: Said;
    }
  /** `said`: it has other words since. */
  | {
      readonly kind: "set";
      readonly change: Partial<Standing>;
      readonly reworded: boolean;
      readonly said: Said | undefined;
    }
  | { readonly kind: "deleted" }
  /** A reading lets an episode live until then. */
  | { readonly kind: "read"; readonly until: number }
);

export interface Birth {
  readonly type: MemoryType;
  readonly scope: string;
  readonly key: string | undefined;
  readonly asks: boolean;
  readonly name: string | undefined;
}

/** One of `birth`, `change` or neither: it was deleted. */
interface Step {
  readonly at: number;
  readonly birth: Birth | undefined;
  readonly change: Partial<Standing> | undefined;
  /** The place of its words, where it has others since. */
  readonly words: number | undefined;
}

interface Life {
  readonly at: number;
  readonly until: number;
}

export interface Line {
  readonly nth: number;
  readonly id: string;
  readonly steps: Step[];
  /** When it got other words. */
  reworded: number[] | undefined;
  lives: Life[] | undefined;
}

/** A memory at a moment. */
export interface Moment extends Birth {
  readonly line: Line;
  /** When it was stored. */
  readonly since: number;
  readonly standing: Standing;
  /** The place of its words. */
  readonly words: number;
}

export interface Timeline {
  apply(told: Iterable<Told>): void;
  readonly lines: readonly Line[];
  lineOf(id: string): Line | undefined;
  /** Every line that was live then, with what it was and the place of its words. */
  eachLive(moment: number, visit: (line: Line, birth: Birth, words: number) => void): void;
  /** How it was then, whatever its state; undefined where it was not stored yet, or deleted. */
  at(line: Line, moment: number): Moment | undefined;
  /** Lines that may hold this key, be of this session, or have this speaker: at some time. */
  withKey(key: string): readonly Line[];
  inSession(session: string): readonly Line[];
  spokenBy(name: string): readonly Line[];
  /** Those that lasted at some time, whatever is asked: facts by their permanence, rules that were proven. */
  readonly lasting: ReadonlySet<Line>;
  /** Where this word stands, and how often: place · 256 + tf. */
  postingsOf(hash: number): Int32Array;
  lengthAt(place: number): number;
  /** A view, valid until more is told. */
  wordsAt(place: number): Uint8Array;
  places(): number;
  /** It was given other words after that moment. */
  isRewordedAfter(line: Line, moment: number): boolean;
}

export function openTimeline(): Timeline {
  const lines: Line[] = [];
  const byId = new Map<string, Line>();
  const byKey = new Map<string, Line[]>();
  const bySession = new Map<string, Line[]>();
  const byName = new Map<string, Line[]>();
  const lasting = new Set<Line>();
  /** Of lines that have been live since they were stored, with the words of then: when, and what. Undefined for the others. */
  const steady: ({ readonly at: number; readonly birth: Birth; readonly words: number } | undefined)[] = [];
  const postings = new Map<number, PostingList>();
  const forwards: Arena = openArena();
  const lengths: number[] = [];
  const shared = new Map<string, string>();

  /** Thousands of memories name the same few scopes, sessions and speakers. */
  const one = <T extends string | undefined>(text: T): T => {
    if (text === undefined) return text;
    const known = shared.get(text);
    if (known !== undefined) return known as T;
    shared.set(text, text);
    return text;
  };
  const fileWords = ({ len, x }: Said): number => {
    const place = lengths.push(len) - 1;
    forwards.put(place, x);
    eachForward(x, (hash, tf) => {
      const list = postings.get(hash);
      if (list === undefined) postings.set(hash, listOf(place * 256 + tf));
      else addTo(list, place * 256 + tf);
    });
    return place;
  };
  const lineFor = (id: string): Line => {
    const known = byId.get(id);
    if (known !== undefined) return known;
    const line: Line = { nth: lines.length, id, steps: [], reworded: undefined, lives: undefined };
    lines.push(line);
    byId.set(id, line);
    return line;
  };
  const applyOne = (told: Told): void => {
    if (told.kind === "read") {
      extendLife(byId.get(told.id), told);
      return;
    }
    if (told.kind === "stored") {
      const line = lineFor(told.id);
      const { type, asks, standing } = told;
      const birth = { type, scope: one(told.scope), key: told.key, asks, name: one(told.name) };
      const change = { ...standing, session: one(standing.session), speaker: one(standing.speaker) };
      const words = fileWords(told.said);
      const isFirst = line.steps.push({ at: told.at, birth, change, words }) === 1;
      steady[line.nth] = isFirst && isLive(standing.validity) ? { at: told.at, birth, words } : undefined;
      if (mayLast(standing)) lasting.add(line);
      if (birth.key !== undefined) file(byKey, birth.key, line);
      if (standing.session !== undefined) file(bySession, standing.session, line);
      // Databases and this program do not put every letter into lower case alike.
      for (const name of new Set([birth.name, firstName(standing.speaker)]))
        if (name !== undefined) file(byName, name, line);
      return;
    }
    const line = byId.get(told.id);
    if (line === undefined) return;
    if (told.kind === "deleted" || told.change.validity !== undefined || told.said !== undefined)
      steady[line.nth] = undefined;
    if (told.kind === "deleted") {
      line.steps.push({ at: told.at, birth: undefined, change: undefined, words: undefined });
      return;
    }
    const { at, change, said } = told;
    if (mayLast(change)) lasting.add(line);
    if (told.reworded) line.reworded = [...(line.reworded ?? []), at];
    line.steps.push({ at, birth: undefined, change, words: said && fileWords(said) });
  };

  return {
    lines,
    apply(all) {
      for (const told of all) applyOne(told);
    },
    lineOf: (id) => byId.get(id),
    eachLive(moment, visit) {
      for (let nth = 0; nth < lines.length; nth++) {
        const line = lines[nth] as Line;
        const one = steady[nth];
        if (one !== undefined) {
          if (one.at <= moment) visit(line, one.birth, one.words);
          continue;
        }
        const seen = glance(line, moment);
        if (seen !== undefined) visit(line, seen.birth, seen.words);
      }
    },
    at: momentOf,
    withKey: (key) => byKey.get(key) ?? NO_LINES,
    inSession: (session) => bySession.get(session) ?? NO_LINES,
    spokenBy: (name) => byName.get(name) ?? NO_LINES,
    lasting,
    postingsOf: (hash) => {
      const list = postings.get(hash);
      return list === undefined ? NO_POSTINGS : entriesOf(list);
    },
    lengthAt: (place) => lengths[place] ?? 0,
    wordsAt: (place) => forwards.get(place) ?? NO_WORDS,
    places: () => lengths.length,
    isRewordedAfter: (line, moment) => line.reworded?.some((at) => at > moment) ?? false,
  };
}

const NO_LINES: readonly Line[] = [];
const NO_POSTINGS = new Int32Array(0);
const NO_WORDS = new Uint8Array(0);

const mayLast = ({ permanence, maturity }: Partial<Standing>): boolean =>
  maturity === "proven" || LASTING.some((one) => one === permanence);

function file(lists: Map<string, Line[]>, name: string, line: Line): void {
  const list = lists.get(name);
  if (list === undefined) lists.set(name, [line]);
  else if (list.at(-1) !== line) list.push(line);
}

/** Of readings that come in order only those that move the end are kept. */
function extendLife(line: Line | undefined, { at, until }: Life): void {
  if (line === undefined) return;
  const last = line.lives?.at(-1);
  if (last !== undefined && last.at <= at && last.until >= until) return;
  line.lives = [...(line.lives ?? []), { at, until }];
}

/** Events count in the order of the stream, and those that happened later are left out: clocks may differ a little. */
function momentOf(line: Line, moment: number): Moment | undefined {
  let birth: Birth | undefined;
  let standing: Standing | undefined;
  let words = 0;
  let since = 0;
  for (const step of line.steps) {
    if (step.at > moment) continue;
    if (step.birth !== undefined) {
      birth = step.birth;
      standing = step.change as Standing;
      since = step.at;
    } else if (step.change === undefined) standing = undefined;
    else if (standing !== undefined) standing = { ...standing, ...step.change };
    if (step.words !== undefined) words = step.words;
  }
  if (birth === undefined || standing === undefined) return undefined;
  return { line, ...birth, since, standing: extended(standing, line.lives, moment), words };
}

function extended(standing: Standing, lives: readonly Life[] | undefined, moment: number): Standing {
  let end = standing.expires_at;
  if (lives === undefined || end === null) return standing;
  for (const { at, until } of lives) if (at <= moment && until > end) end = until;
  return end === standing.expires_at ? standing : { ...standing, expires_at: end };
}

/** What it was and where its words are, if it was live then. Of most memories nothing else is asked, so that nothing more is put together. */
function glance(line: Line, moment: number): { readonly birth: Birth; readonly words: number } | undefined {
  let birth: Birth | undefined;
  let state: Validity | undefined;
  let words = 0;
  for (const step of line.steps) {
    if (step.at > moment) continue;
    if (step.birth !== undefined) birth = step.birth;
    if (step.change === undefined) state = undefined;
    else if (step.birth !== undefined || state !== undefined) state = step.change.validity ?? state;
    if (step.words !== undefined) words = step.words;
  }
  return birth !== undefined && state !== undefined && isLive(canonicalState(state)) ? { birth, words } : undefined;
}
