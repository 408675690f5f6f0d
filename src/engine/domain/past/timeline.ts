/**
 * What became of each memory of a tenant, and when: of every change what ranking reads, in the order of the stream. A moment in the past is
 * then looked up instead of folded from all events before it. About 300 bytes a memory and 80 a change are kept.
 */

import { withRoom } from "../collections/with-room.ts";
import type { Trust } from "../learning/trust.ts";
import { LASTING } from "../lifecycle/lasting.ts";
import { canonicalState, isLive, type Validity } from "../lifecycle/lifecycle.ts";
import type { MemoryType } from "../memory-types.ts";
import { eachForward } from "../ranking/words/postings.ts";
import { type Arena, openArena } from "../read-model/arena.ts";
import { asList, entriesOf, type Postings, withEntry } from "../read-model/posting-list.ts";
import { firstName } from "../text/names.ts";
import { type Alive, type AliveQuery, openSpans, type Span } from "./spans.ts";

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
  /** Stored once, and neither deleted nor moved to another session or speaker since: what it was stored with says where it was said. */
  fixed: boolean;
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

/** Where something was said, and by whom. */
export interface SaidWhere {
  readonly birth: Birth;
  readonly session: string | undefined;
  readonly speaker: string | undefined;
  /** When it was stored. */
  readonly since: number;
}

/** Where a speaker spoke. */
export interface SpokenIn {
  /** The first turn in each session, of lines that are fixed. */
  readonly firsts: Iterable<SaidWhere>;
  readonly loose: readonly Line[];
}

export interface Timeline {
  apply(told: Iterable<Told>): void;
  readonly lines: readonly Line[];
  lineOf(id: string): Line | undefined;
  alive(query: AliveQuery): Alive;
  /** How it was then, whatever its state; undefined where it was not stored yet, or deleted. */
  at(line: Line, moment: number): Moment | undefined;
  /** The same, for questions that ask of thousands who spoke where. */
  saidAt(line: Line, moment: number): SaidWhere | undefined;
  /** Lines that may hold this key, be of this session, or have this speaker: at some time. */
  withKey(key: string): readonly Line[];
  inSession(session: string): readonly Line[];
  spokenBy(name: string): readonly Line[];
  spokenIn(name: string): SpokenIn;
  /** Those that lasted at some time, whatever is asked: facts by their permanence, rules that were proven. */
  readonly lasting: ReadonlySet<Line>;
  /** Where this word stands, and how often: place · 256 + tf. */
  postingsOf(hash: number): Int32Array;
  /** By place: how many words there are in all. Valid, like `holders`, until more is told. */
  readonly lengths: Uint16Array;
  /** By place: the number of the line that has, or had, these words. */
  readonly holders: Int32Array;
  /** A view, valid until more is told. */
  wordsAt(place: number): Uint8Array;
  /** Numbers of lines that were given other words after that moment. */
  rewordedAfter(moment: number): ReadonlySet<number>;
}

export function openTimeline(): Timeline {
  const lines: Line[] = [];
  const byId = new Map<string, Line>();
  const byKey = new Map<string, Line[]>();
  const bySession = new Map<string, Line[]>();
  const byName = new Map<string, Line[]>();
  const lasting = new Set<Line>();
  const spoken = new Map<string, SpokenSoFar>();
  let loosened = 0;
  const spans = openSpans();
  /** When a line got other words, the last time. */
  const reworded = new Map<number, number>();
  const postings = new Map<number, Postings>();
  const forwards: Arena = openArena();
  let places = 0;
  let lengths = new Uint16Array(1024);
  let holders = new Int32Array(1024);
  const shared = new Map<string, string>();

  /** Thousands of memories name the same few scopes, sessions and speakers. */
  const one = <T extends string | undefined>(text: T): T => {
    if (text === undefined) return text;
    const known = shared.get(text);
    if (known !== undefined) return known as T;
    shared.set(text, text);
    return text;
  };
  const fileWords = ({ nth }: Line, { len, x }: Said): number => {
    const place = places++;
    if (place === lengths.length) {
      lengths = withRoom(new Uint16Array(place * 2), lengths);
      holders = withRoom(new Int32Array(place * 2), holders);
    }
    lengths[place] = len;
    holders[place] = nth;
    forwards.put(place, x);
    eachForward(x, (hash, tf) => {
      const kept = postings.get(hash);
      const next = withEntry(kept, place * 256 + tf);
      if (next !== kept) postings.set(hash, next);
    });
    return place;
  };
  const lineFor = (id: string): Line => {
    const known = byId.get(id);
    if (known !== undefined) return known;
    const line: Line = { nth: lines.length, id, steps: [], fixed: true, lives: undefined };
    lines.push(line);
    byId.set(id, line);
    return line;
  };
  const loosen = (line: Line) => {
    line.fixed = false;
    loosened += 1;
  };
  /** What was gathered of a name is gone on with, unless a line was loosened since. */
  const spokenIn = (name: string): SpokenIn => {
    const lines = byName.get(name);
    if (lines === undefined) return { firsts: [], loose: [] };
    const known = spoken.get(name);
    const so: SpokenSoFar =
      known?.loosened === loosened ? known : { loosened, looked: 0, bySession: new Map(), loose: [] };
    for (; so.looked < lines.length; so.looked++) {
      const line = lines[so.looked] as Line;
      const said = line.fixed ? saidAt(line, Number.POSITIVE_INFINITY) : undefined;
      if (said === undefined) so.loose.push(line);
      else if (said.birth.name === name && said.birth.type === "episode") {
        const session = JSON.stringify([said.birth.scope, said.session]);
        const before = so.bySession.get(session);
        if (before === undefined || before.since > said.since) so.bySession.set(session, said);
      }
    }
    spoken.set(name, so);
    return { firsts: so.bySession.values(), loose: so.loose };
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
      const words = fileWords(line, told.said);
      const isFirst = line.steps.push({ at: told.at, birth, change, words }) === 1;
      if (!isFirst) loosen(line);
      if (isFirst && isLive(standing.validity)) spans.begin(line.nth, told.at, { type, scope: birth.scope, words });
      else spans.scatter(line.nth);
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
    if (told.kind === "deleted") {
      spans.end(line.nth, told.at);
      loosen(line);
      line.steps.push({ at: told.at, birth: undefined, change: undefined, words: undefined });
      return;
    }
    const { at, change, said } = told;
    if ("session" in change || "speaker" in change) loosen(line);
    const state = canonicalState(change.validity);
    if (state !== undefined && !isLive(state)) spans.end(line.nth, at);
    else if (said !== undefined || (state !== undefined && !spans.isOpen(line.nth))) spans.scatter(line.nth);
    if (mayLast(change)) lasting.add(line);
    if (told.reworded) reworded.set(line.nth, Math.max(at, reworded.get(line.nth) ?? at));
    line.steps.push({ at, birth: undefined, change, words: said && fileWords(line, said) });
  };

  return {
    lines,
    apply(all) {
      for (const told of all) applyOne(told);
    },
    lineOf: (id) => byId.get(id),
    alive: (query) => spans.alive(query, (nth) => spanAt(lines[nth] as Line, query.moment)),
    at: momentOf,
    saidAt,
    withKey: (key) => byKey.get(key) ?? NO_LINES,
    inSession: (session) => bySession.get(session) ?? NO_LINES,
    spokenBy: (name) => byName.get(name) ?? NO_LINES,
    spokenIn,
    lasting,
    postingsOf: (hash) => {
      const kept = postings.get(hash);
      return kept === undefined ? NO_POSTINGS : entriesOf(asList(kept));
    },
    get lengths() {
      return lengths;
    },
    get holders() {
      return holders;
    },
    wordsAt: (place) => forwards.get(place) ?? NO_WORDS,
    rewordedAfter: (moment) => new Set([...reworded].filter(([, at]) => at > moment).map(([nth]) => nth)),
  };
}

interface SpokenSoFar {
  /** How many lines had been loosened when this was begun. */
  readonly loosened: number;
  looked: number;
  readonly bySession: Map<string, SaidWhere>;
  readonly loose: Line[];
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

function saidAt(line: Line, moment: number): SaidWhere | undefined {
  const [first] = line.steps;
  if (!line.fixed || first?.birth === undefined) {
    const then = momentOf(line, moment);
    return then && { birth: then, session: then.standing.session, speaker: then.standing.speaker, since: then.since };
  }
  const { at, birth, change } = first;
  return at > moment ? undefined : { birth, session: change?.session, speaker: change?.speaker, since: at };
}

function extended(standing: Standing, lives: readonly Life[] | undefined, moment: number): Standing {
  let end = standing.expires_at;
  if (lives === undefined || end === null) return standing;
  for (const { at, until } of lives) if (at <= moment && until > end) end = until;
  return end === standing.expires_at ? standing : { ...standing, expires_at: end };
}

/** What it was and where its words are, if it was live then. Of most memories nothing else is asked, so that nothing more is put together. */
function spanAt(line: Line, moment: number): Span | undefined {
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
  if (birth === undefined || state === undefined || !isLive(canonicalState(state))) return undefined;
  return { type: birth.type, scope: birth.scope, words };
}
