/** An undo in words: what goes, what comes back because of it, and what stays and why. */
import type { MemoryType } from "../memory-types.ts";
import type { RowJson } from "../replay.ts";
import { clip } from "../text/text.ts";
import { type Chronicle, kindOf, type PastEvent } from "./chronicle.ts";
import { type Planned, plain } from "./plan.ts";
import type { Spread } from "./spread.ts";

export interface UndoNode {
  readonly type: MemoryType;
  readonly id: string;
  readonly scope: string;
  readonly text: string;
  readonly deed: Planned["deed"];
  /** What happens to it, in short sentences. */
  readonly what: readonly string[];
  readonly events: number;
  readonly children: readonly UndoNode[];
}

export interface Stays {
  readonly type: MemoryType;
  readonly id: string;
  readonly text: string;
  readonly why: string;
}

export interface UndoTree {
  readonly tree: readonly UndoNode[];
  readonly stays: readonly Stays[];
}

const SHOWN = 200;

export function treeOf(planned: readonly Planned[], spread: Spread, chronicles: readonly Chronicle[]): UndoTree {
  const known = new Map(chronicles.map((one) => [one.id, one]));
  const there = new Set(planned.map(({ chronicle }) => chronicle.id));
  const parentOf = ({ undone }: Planned): string | undefined =>
    undone.map((id) => spread.because.get(id)).find((id) => id !== undefined && there.has(id));
  const under = (parent: string | undefined, above: ReadonlySet<string>): UndoNode[] =>
    planned
      .filter((one) => parentOf(one) === parent && !above.has(one.chronicle.id))
      .map((one) => nodeOf(one, under(one.chronicle.id, new Set([...above, one.chronicle.id]))));
  return { tree: under(undefined, new Set()), stays: [...keptWords(spread, known), ...plannedWords(planned, known)] };
}

const nodeOf = (one: Planned, children: readonly UndoNode[]): UndoNode => ({
  ...{ type: one.chronicle.type, id: one.chronicle.id, scope: one.chronicle.scope },
  ...{ text: textOf(one.chronicle), deed: one.deed, what: whatOf(one), events: one.undone.length, children },
});

export function textOf({ type, row = {}, events }: Chronicle): string {
  const told = (row.content === undefined ? ((events[0]?.payload.row ?? {}) as RowJson) : row) as RowJson;
  const text =
    type === "fact" ? `${told.subject_text} ${told.predicate_text}: ${told.content}` : String(told.content ?? "");
  return clip(text, SHOWN);
}

const DEEDS: Readonly<Record<Planned["deed"], string>> = {
  goes: "is taken back",
  comes: "holds again",
  changes: "is as it was before",
  stays: "stays as it is",
};

function whatOf({ deed, set, recounted, links, unlinked, chronicle: { row = {} } }: Planned): string[] {
  const less = recounted.filter(({ counted }) => !counted).length;
  const told = (name: string, value: unknown) => (value === null || value === undefined ? `no ${name}` : String(value));
  const moved = ["confidence", "maturity", "trust", "importance", "permanence"].flatMap((name) =>
    set[name] === undefined ? [] : [`${name} ${told(name, row[name])} → ${told(name, set[name])}`],
  );
  const day = (value: unknown) => plain(value).slice(0, 16).replace("T", " ");
  return [
    ...(deed === "changes" && Object.keys(set).length === 0 ? [] : [DEEDS[deed]]),
    ...moved,
    ...(set.last_confirmed_at === undefined || deed === "goes" ? [] : [`last confirmed ${day(set.last_confirmed_at)}`]),
    ...(less === 0 ? [] : [`${count(less, "mark")} taken back`]),
    ...(recounted.length === less ? [] : [`${count(recounted.length - less, "mark")} counted again`]),
    ...(unlinked.length === 0 ? [] : [`${count(unlinked.length, "link")} removed`]),
    ...(links.length === 0 ? [] : [`${count(links.length, "link")} added`]),
  ];
}

const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? "" : "s"}`;

const whoWhen = ({ actor, occurred_at }: PastEvent): string =>
  `by ${actor} on ${occurred_at.toISOString().slice(0, 16).replace("T", " ")}`;

const SINCE: Readonly<Record<string, string>> = {
  confirmed: "it was confirmed since",
  repeated: "it was told again since",
  restored: "it was restored since",
  marked_helpful: "it was marked as helpful since",
};

function keptWords({ kept }: Spread, known: ReadonlyMap<string, Chronicle>): Stays[] {
  return kept.flatMap(({ event, because }) => {
    const chronicle = known.get(event.entity_id);
    if (chronicle === undefined) return [];
    const why =
      "event" in because
        ? `${SINCE[kindOf(because.event)] ?? "it was changed since"} ${whoWhen(because.event)}`
        : "memory" in because
          ? `${because.memory}, which stays, did that`
          : `it was also learned from ${because.sources.join(", ")}`;
    return [{ type: chronicle.type, id: chronicle.id, text: textOf(chronicle), why }];
  });
}

function plannedWords(planned: readonly Planned[], known: ReadonlyMap<string, Chronicle>): Stays[] {
  return planned.flatMap(({ chronicle, blockedBy, changedSince }) => {
    const one = { type: chronicle.type, id: chronicle.id, text: textOf(chronicle) };
    const holder = blockedBy === undefined ? undefined : known.get(blockedBy);
    if (blockedBy !== undefined)
      return [{ ...one, why: `${blockedBy} has its place now${holder === undefined ? "" : `: ${textOf(holder)}`}` }];
    if (changedSince === undefined) return [];
    const what = changedSince.event_type.replace(".", " ").replaceAll("_", " ");
    return [{ ...one, why: `a part of it was changed since (${what}) ${whoWhen(changedSince)}` }];
  });
}
