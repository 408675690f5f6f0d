/** What an undo changes of each memory, decided on what is stored: one change a memory, each an event of its own. */
import { isLive, type Validity } from "../lifecycle/lifecycle.ts";
import type { MaturityBars } from "../lifecycle/maturity.ts";
import { isRecord } from "../record.ts";
import type { RowJson } from "../replay.ts";
import {
  type Chronicle,
  type EventIds,
  isBirthOf,
  isUndo,
  type LinkKey,
  linkName,
  linksIn,
  type Mark,
  type PastEvent,
  takenBack,
} from "./chronicle.ts";
import { type Folded, fold, isLeftAlone, STATE } from "./fold.ts";
import type { Spread } from "./spread.ts";

export interface Planned {
  readonly chronicle: Chronicle;
  /** The events that are taken back. Empty when a place has become free for a memory of an earlier undo. */
  readonly undone: readonly string[];
  /** Every column that changes. */
  readonly set: RowJson;
  readonly deed: "goes" | "comes" | "changes" | "stays";
  /** Marks of a rule that count from now on, or no more. */
  readonly recounted: readonly Mark[];
  readonly links: readonly RowJson[];
  readonly unlinked: readonly LinkKey[];
  /** The memory that holds the place of one that would come back. */
  readonly blockedBy: string | undefined;
  /** An event of another cause that has changed the same since. */
  readonly changedSince: PastEvent | undefined;
}

export interface PlanInput {
  readonly chronicles: readonly Chronicle[];
  readonly spread: Spread;
  /** Rules and episodes that say the same as one of these, and are there. */
  readonly twins: ReadonlyMap<string, string>;
  readonly bars: MaturityBars;
  readonly now: Date;
}

interface Draft extends Omit<Planned, "deed" | "blockedBy" | "links" | "unlinked"> {
  readonly folded: Folded;
  readonly toggled: readonly PastEvent[];
  readonly liveBefore: boolean;
  readonly liveAfter: boolean;
}

export function plan(input: PlanInput): Planned[] {
  const { chronicles, spread } = input;
  const events: EventIds = new Set(spread.events.keys());
  const drafts = chronicles.flatMap((one) => draftOf(one, events, input));
  const blocked = blockedIn(drafts, chronicles, input.twins);
  const told = tellersAfter(chronicles, events);
  return drafts.flatMap((draft): Planned[] => {
    const { folded, toggled: _, liveBefore, liveAfter, ...rest } = draft;
    const blockedBy = blocked.get(rest.chronicle.id);
    if (rest.undone.length === 0 && (blockedBy !== undefined || liveBefore === liveAfter)) return [];
    const set = blockedBy === undefined ? rest.set : without(rest.set, STATE);
    return [{ ...rest, set, deed: deedOf(), blockedBy, ...linkChanges(draft, told) }];

    function deedOf(): Planned["deed"] {
      if (liveAfter && !liveBefore) return blockedBy === undefined ? "comes" : "stays";
      return !folded.lives && set.validity === "retracted" ? "goes" : liveBefore && !liveAfter ? "goes" : "changes";
    }
  });
}

const without = (set: RowJson, columns: readonly string[]): RowJson =>
  Object.fromEntries(Object.entries(set).filter(([column]) => !columns.includes(column)));

/** What marks decide of a rule. */
const BY_MARKS = [
  ...["maturity", "effectiveness_score", "success_count", "harmful_count", "applied_count"],
  ...["content", "original_content", "confidence", "last_confirmed_at", "last_applied_at", "last_evaluated_at"],
];

const isMark = ({ payload }: PastEvent): boolean => isRecord(payload.application);

function draftOf(chronicle: Chronicle, events: EventIds, { bars, now }: PlanInput): Draft[] {
  const own = chronicle.events.filter(({ id }) => events.has(id));
  const { row } = chronicle;
  if (row === undefined || (own.length === 0 && !wasBlocked(chronicle))) return [];
  const [before, after] = [takenBack(chronicle.events), takenBack(chronicle.events, events)];
  const toggled = chronicle.events.filter((event) => !isUndo(event) && before.has(event.id) !== after.has(event.id));
  const marks = toggled.filter(isMark);
  const folded = fold(chronicle, after, new Set(marks.map(({ id }) => id)), bars);
  const target = targetOf(folded, row, toggled, now, own.length === 0);
  const set = Object.fromEntries(Object.entries(target).filter(([name, to]) => plain(row[name]) !== plain(to)));
  const state = (set.validity ?? row.validity) as Validity;
  const back = toggled.filter(({ id }) => after.has(id) && !marks.some((mark) => mark.id === id));
  return [
    {
      ...{ chronicle, folded, toggled, set, undone: own.map(({ id }) => id) },
      liveBefore: isLive(row.validity as Validity),
      liveAfter: isLive(state),
      recounted: marks.length === 0 ? [] : recountedOf(chronicle, folded),
      changedSince: back.flatMap((event) => laterWriter(event, folded)).at(0),
    },
  ];
}

/** An earlier undo found its place taken, so that the memory may come back once the place is free. */
function wasBlocked({ events }: Chronicle): boolean {
  const back = takenBack(events);
  return events.some((event) => isUndo(event) && !back.has(event.id) && typeof event.payload.blocked_by === "string");
}

function targetOf(folded: Folded, row: RowJson, toggled: readonly PastEvent[], now: Date, stateOnly: boolean): RowJson {
  const columns = new Set<string>(toggled.some(isMark) ? BY_MARKS : []);
  for (const event of toggled.filter((one) => !isBirthOf(one)))
    for (const column of Object.keys(isRecord(event.payload.set) ? event.payload.set : {})) columns.add(column);
  if (stateOnly || toggled.some((event) => isBirthOf(event)) || columns.has("validity"))
    for (const one of STATE) columns.add(one);
  const target: RowJson = {};
  for (const column of columns)
    if (column in row && !isLeftAlone(column)) target[column] = folded.columns[column] ?? null;
  if (folded.lives || !("validity" in target)) return target;
  if (row.validity === "retracted") return without(target, STATE);
  return { ...target, validity: "retracted", forgotten_at: now.toISOString(), forget_reason: UNDONE };
}

const UNDONE = "undone";

/** Two forms of one moment are equal: the database writes its zone in another way than JSON does. */
export function plain(value: unknown): string {
  if (typeof value !== "string" || !/^\d{4}-\d\d-\d\dT\d\d:/.test(value)) return JSON.stringify(value ?? null);
  const at = new Date(value);
  return Number.isNaN(at.getTime()) ? JSON.stringify(value) : at.toISOString();
}

const recountedOf = ({ marks }: Chronicle, { counted }: Folded): Mark[] =>
  marks.filter((mark) => mark.counted !== counted.has(mark.id)).map(({ id, counted: was }) => ({ id, counted: !was }));

function laterWriter(event: PastEvent, { writers }: Folded): PastEvent[] {
  const columns = isBirthOf(event) || !isRecord(event.payload.set) ? [] : Object.keys(event.payload.set);
  return columns.flatMap((column) => {
    const writer = writers.get(column);
    return writer !== undefined && BigInt(writer.seq) > BigInt(event.seq) && !isLeftAlone(column) ? [writer] : [];
  });
}

/** One live fact holds a key, and one rule or episode says a thing. Whoever is there stays; else the newest comes back. */
function blockedIn(
  drafts: readonly Draft[],
  chronicles: readonly Chronicle[],
  twins: ReadonlyMap<string, string>,
): Map<string, string> {
  const blocked = new Map<string, string>();
  const drafted = new Map(drafts.map((draft) => [draft.chronicle.id, draft]));
  const goes = (id: string) => drafted.get(id)?.liveAfter === false && drafted.get(id)?.liveBefore === true;
  const holders = new Map<string, string>();
  for (const { id, type, row } of chronicles)
    if (type === "fact" && row !== undefined && isLive(row.validity as Validity) && !goes(id))
      holders.set(keyOf(row), id);
  const coming = drafts.filter(({ liveBefore, liveAfter }) => !liveBefore && liveAfter);
  for (const { chronicle, set } of coming.toSorted(newestFirst)) {
    const { id, type, row } = chronicle;
    const twin = twins.get(id);
    if (type !== "fact") {
      if (twin !== undefined && !goes(twin)) blocked.set(id, twin);
      continue;
    }
    const key = keyOf({ ...row, ...set });
    const holder = holders.get(key);
    if (holder === undefined) holders.set(key, id);
    else blocked.set(id, holder);
  }
  return blocked;
}

const keyOf = ({ scope, subject, predicate, waits_until }: RowJson): string =>
  JSON.stringify([scope, subject, predicate, plain(waits_until)]);

const newestFirst = (a: Draft, b: Draft): number => (a.chronicle.id < b.chronicle.id ? 1 : -1);

type Tellers = ReadonlySet<string>;

/** The links that events in effect will have told when the undo is done. */
function tellersAfter(chronicles: readonly Chronicle[], events: EventIds): Tellers {
  return new Set(
    chronicles.flatMap((chronicle) => {
      const back = takenBack(chronicle.events, events);
      return chronicle.events.filter(({ id }) => !back.has(id)).flatMap((event) => linksIn(event).map(linkName));
    }),
  );
}

function linkChanges({ toggled }: Draft, told: Tellers): Pick<Planned, "links" | "unlinked"> {
  const all = [...new Map(toggled.flatMap((event) => linksIn(event).map((link) => [linkName(link), link]))).values()];
  return {
    links: all.filter((link) => told.has(linkName(link))),
    unlinked: all
      .filter((link) => !told.has(linkName(link)))
      .map(({ source_id, target_id, relation }) => ({ source_id, target_id, relation })),
  };
}
