/**
 * The memories of a moment in the past, looked up in the timeline of their tenant. Whole rows are folded for the few that are shown
 * (rows.ts). In this folder `call.now` is that moment.
 */

import type { Episode } from "../../domain/episode.ts";
import { invalid, MemoryError } from "../../domain/errors.ts";
import type { Fact, Held } from "../../domain/fact.ts";
import { effectiveConfidence } from "../../domain/lifecycle/decay.ts";
import { canonicalState } from "../../domain/lifecycle/lifecycle.ts";
import type { MemoryType, OrNull } from "../../domain/memory-types.ts";
import { askedKinds, KINDS, kindOf } from "../../domain/past/spans.ts";
import type { Line, Moment, Said, Timeline } from "../../domain/past/timeline.ts";
import { isValue } from "../../domain/present.ts";
import { concat, eachForward, FORWARD_BYTES } from "../../domain/ranking/words/postings.ts";
import { firstName } from "../../domain/text/names.ts";
import { knownSince } from "../../store/history/checkpoints.ts";
import type { Call } from "../memory.ts";
import { allCounted } from "../recall/reference.ts";
import { lookOf } from "../recall/retrieve.ts";

/** The same call, as if it was made then. */
export async function atThatTime(call: Call, asOf: Date): Promise<Call> {
  if (asOf > call.now) throw invalid("as_of", "as_of lies in the future; leave it out to ask about now.");
  await allCounted(call.memory);
  const since = await knownSince(call.memory.db, call.caller.tenant);
  if (since !== undefined && asOf < since)
    throw new MemoryError(
      "not_found",
      `what was known at ${asOf.toISOString()} is not known any more: single events are kept since ${since.toISOString()} (keep_days in [modules.memory.events]); ask for that moment or a later one.`,
      { field: "as_of" },
    );
  return { ...call, now: asOf };
}

/** What ranking needs of a memory. */
export interface PastMemory
  extends Held,
    Pick<Fact, "validity" | "importance" | "tags" | "created_at" | "corroborated_at">,
    OrNull<Pick<Episode, "expires_at">> {
  readonly type: MemoryType;
  readonly permanence: string | undefined;
  readonly maturity: string | undefined;
  readonly tier: string | undefined;
  /** Where and by whom it was said: of episodes only. */
  readonly session: string | undefined;
  readonly ordinal: number | undefined;
  readonly speaker: string | undefined;
  /** It ends with a question mark. */
  readonly asks: boolean;
}

export const sessionKey = ({
  scope,
  session,
}: {
  readonly scope: string;
  readonly session: string | null | undefined;
}): string => `${scope} ${session}`;

export interface PastScope {
  readonly types: readonly MemoryType[];
  /** Undefined: every scope of the tenant. */
  readonly scopes: readonly string[] | undefined;
  readonly ladder?: readonly string[] | undefined;
}

/** Every memory that was indexed then: the live ones, and expired episodes, which count in the statistics of words. */
export interface PastView {
  /** Numbers of their lines, in the order in which they were stored. */
  readonly lines: Int32Array;
  /** Those of these types. */
  linesOf(types: readonly MemoryType[]): Int32Array;
  lineAt(nth: number): Line;
  /** Put together when it is first asked for; undefined where it does not belong to the view. */
  memory(line: Line): PastMemory | undefined;
  find(id: string): PastMemory | undefined;
  /** Those of a session that have a place in it, in the order in which they were stored. */
  turnsWith(memory: PastMemory): readonly PastMemory[];
  /** Ids of what these people said; undefined where that is more than so many. */
  saidBy(names: readonly string[], most: number): readonly string[] | undefined;
  /** The words of this question that it had, and how many words it had in all. */
  wordsOf(memory: { readonly id: string }, asked: ReadonlySet<number>): Said;
  /** By place of words: what the memory is that had them then, or 0 where it does not belong to the view. */
  readonly kindAt: Uint8Array;
  /** By place of words: how many there are in all. */
  readonly lengths: Uint16Array;
  /** Places that have this word, of any time: place · 256 + tf. */
  postingsOf(hash: number): Int32Array;
  lineOfPlace(place: number): Line;
  /** Where the words of these memories were then. */
  placesOf(ids: Iterable<string>): ReadonlySet<number>;
  /** How many there were of a type, and how long they were in all. */
  sizeOf(type: MemoryType): { readonly n: number; readonly tl: number };
  /** Facts and rules that may have belonged into every block. */
  lasting(): readonly PastMemory[];
  /** Visible then: not expired, the value of its key, in its valid time, and of enough confidence. */
  isShown(memory: PastMemory, minConfidence: number): boolean;
  /** Another fact was the value of its key, or its day had not come. */
  isHidden(memory: PastMemory): boolean;
}

export function viewOf(call: Call, timeline: Timeline, { types, scopes, ladder }: PastScope): PastView {
  const now = call.now.getTime();
  const look = lookOf(call, ladder);
  const { lines, kinds, places } = timeline.alive({ moment: now, types, scopes });
  const { lengths, holders } = timeline;
  const kindAt = new Uint8Array(lengths.length);
  const sizes = Array.from({ length: KINDS }, () => ({ n: 0, tl: 0 }));
  for (let at = 0; at < lines.length; at++) {
    const nth = lines[at] as number;
    const [kind, place] = [kinds[nth] as number, places[nth] as number];
    const size = sizes[kind] as (typeof sizes)[number];
    size.n += 1;
    size.tl += lengths[place] as number;
    kindAt[place] = kind;
  }

  const made = new Map<Line, { readonly memory: PastMemory; readonly key: string | undefined }>();
  const entryOf = (line: Line) => {
    // A line that was begun since has none.
    if (!kinds[line.nth]) return undefined;
    const known = made.get(line);
    if (known !== undefined) return known;
    const moment = timeline.at(line, now);
    if (moment === undefined) return undefined;
    const entry = { memory: memoryOf(moment), key: moment.key };
    made.set(line, entry);
    return entry;
  };
  const memory = (line: Line): PastMemory | undefined => entryOf(line)?.memory;
  const all = (found: readonly Line[]): PastMemory[] => found.flatMap((line) => memory(line) ?? []);
  const lineOf = ({ id }: { readonly id: string }): Line | undefined => timeline.lineOf(id);

  const sessions = new Map<string, readonly PastMemory[]>();
  const hidden = new Map<PastMemory, boolean>();
  const isHidden = (fact: PastMemory): boolean => {
    const line = lineOf(fact);
    const key = line && entryOf(line)?.key;
    if (key === undefined) return false;
    const known = hidden.get(fact);
    if (known !== undefined) return known;
    const rivals = timeline.withKey(key).flatMap((other) => {
      const entry = entryOf(other);
      return entry?.key === key ? [entry.memory] : [];
    });
    const is = !isValue(fact, rivals, look);
    hidden.set(fact, is);
    return is;
  };

  return {
    lines,
    linesOf(some) {
      if (types.every((type) => some.includes(type))) return lines;
      const isAsked = askedKinds(some);
      const found = new Int32Array(lines.length);
      let n = 0;
      for (let at = 0; at < lines.length; at++) {
        const nth = lines[at] as number;
        if (isAsked[kinds[nth] as number]) found[n++] = nth;
      }
      return found.subarray(0, n);
    },
    memory,
    find(id) {
      const line = timeline.lineOf(id);
      return line && memory(line);
    },
    turnsWith(spot) {
      const { scope, session } = spot;
      if (session === undefined) return [];
      const key = sessionKey(spot);
      const known = sessions.get(key);
      if (known !== undefined) return known;
      const turns = all(timeline.inSession(session)).filter(
        (turn) => turn.scope === scope && turn.session === session && turn.ordinal !== undefined,
      );
      sessions.set(key, turns);
      return turns;
    },
    saidBy(names, most) {
      const ids = new Set<string>();
      const isTheirs = new Map<string | undefined, boolean>();
      for (const name of names)
        for (const line of timeline.spokenBy(name)) {
          const speaker = kinds[line.nth] ? timeline.saidAt(line, now)?.speaker : undefined;
          const theirs = isTheirs.get(speaker) ?? names.includes(firstName(speaker) ?? "");
          isTheirs.set(speaker, theirs);
          if (theirs) ids.add(line.id);
          if (ids.size > most) return undefined;
        }
      return [...ids];
    },
    wordsOf(one, asked) {
      const place = places[lineOf(one)?.nth ?? -1];
      return place === undefined
        ? { len: 0, x: new Uint8Array() }
        : { len: lengths[place] as number, x: onlyThese(timeline.wordsAt(place), asked) };
    },
    kindAt,
    lengths,
    postingsOf(hash) {
      const entries = timeline.postingsOf(hash);
      let n = entries.length;
      // What was told since may have places beyond those of the view; they come last.
      while (n > 0 && (entries[n - 1] as number) >>> 8 >= kindAt.length) n--;
      return entries.subarray(0, n);
    },
    lineOfPlace: (place) => timeline.lines[holders[place] as number] as Line,
    placesOf(ids) {
      const own = new Set<number>();
      for (const id of ids) {
        const nth = timeline.lineOf(id)?.nth ?? -1;
        if (kinds[nth]) own.add(places[nth] as number);
      }
      return own;
    },
    lineAt: (nth) => timeline.lines[nth] as Line,
    lasting: () => all([...timeline.lasting].sort((a, b) => a.nth - b.nth)),
    sizeOf: (type) => sizes[kindOf(type)] ?? { n: 0, tl: 0 },
    isShown: (one, minConfidence) => isInSight(one, call.now, minConfidence) && !isHidden(one),
    isHidden,
  };
}

function isInSight(memory: PastMemory, now: Date, minConfidence: number): boolean {
  if (memory.type === "episode" && (memory.expires_at === null || memory.expires_at <= now)) return false;
  if (memory.valid_to !== null && memory.valid_to <= now) return false;
  return effectiveConfidence(memory, now) >= minConfidence;
}

function onlyThese(forward: Uint8Array, wanted: ReadonlySet<number>): Uint8Array {
  const kept: Uint8Array[] = [];
  let at = 0;
  eachForward(forward, (hash) => {
    if (wanted.has(hash)) kept.push(forward.subarray(at, at + FORWARD_BYTES));
    at += FORWARD_BYTES;
  });
  return concat(kept);
}

const dateOf = (ms: number | null): Date | null => (ms === null ? null : new Date(ms));

/** Written out: some thousands are made for an answer. */
const memoryOf = ({ line, type, scope, asks, standing }: Moment): PastMemory => ({
  type,
  id: line.id,
  scope,
  asks,
  validity: canonicalState(standing.validity),
  importance: standing.importance,
  tags: standing.tags,
  created_at: new Date(standing.created_at),
  confidence: standing.confidence,
  decay_rate: standing.decay_rate,
  last_confirmed_at: new Date(standing.last_confirmed_at ?? standing.created_at),
  valid_to: dateOf(standing.valid_to),
  waits_until: dateOf(standing.waits_until),
  corroborated_at: dateOf(standing.corroborated_at),
  expires_at: dateOf(standing.expires_at),
  trust: standing.trust,
  permanence: standing.permanence,
  maturity: standing.maturity,
  tier: standing.tier,
  session: standing.session,
  ordinal: standing.ordinal,
  speaker: standing.speaker,
});
