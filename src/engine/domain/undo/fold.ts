/** A memory as the events in effect leave it. */

import { DAY_MS } from "../lifecycle/decay.ts";
import { isLive, type Validity } from "../lifecycle/lifecycle.ts";
import { effectiveness, judgeMaturity, type Maturity, type MaturityBars, warningFrom } from "../lifecycle/maturity.ts";
import { isRecord } from "../record.ts";
import type { RowJson } from "../replay.ts";
import { type Chronicle, type EventIds, isBirthOf, isOfTime, isUndo, kindOf, type PastEvent } from "./chronicle.ts";

export interface Folded {
  /** False when nothing in effect has stored or restored it. */
  readonly lives: boolean;
  readonly columns: RowJson;
  /** The event in effect that wrote a column last. */
  readonly writers: ReadonlyMap<string, PastEvent>;
  /** Of a rule: its marks that count. */
  readonly counted: ReadonlySet<string>;
}

/** The columns that together are the state of a memory: they change as one. */
export const STATE = ["validity", "forgotten_at", "forget_reason", "superseded_at"] as const;

/** How an episode stands with consolidation and how long it lives are not undone; see `isReversed`. */
const LEFT_ALONE = /^(consolidation_|last_consolidation_|next_consolidation_|expires_at$)/;

export const isLeftAlone = (column: string): boolean => LEFT_ALONE.test(column);

/** `anew`: from the first of these events on, the maturity of a rule is judged again by the marks that are left. */
export function fold(chronicle: Chronicle, back: EventIds, anew: EventIds, bars: MaturityBars): Folded {
  const columns: RowJson = {};
  const writers = new Map<string, PastEvent>();
  const counted = new Set<string>();
  const told = new Set<string>();
  const reasons: string[] = [];
  const tally = { success: 0, harmful: 0 };
  let lives = false;
  let judging = false;

  const put = (event: PastEvent, set: RowJson) => {
    for (const [column, value] of Object.entries(set)) {
      columns[column] = value;
      writers.set(column, event);
    }
  };

  for (const event of chronicle.events) {
    const { payload } = event;
    if (anew.has(event.id)) judging = true;
    if (isBirthOf(event)) {
      put(event, payload.row as RowJson);
      lives = !back.has(event.id);
      // Of events that were folded into this one.
      if (Array.isArray(payload.applications))
        for (const mark of payload.applications) if (isRecord(mark) && mark.counted === true) count(mark);
      continue;
    }
    if (isUndo(event) || back.has(event.id)) continue;
    const set = isRecord(payload.set) ? { ...payload.set } : {};
    const before = columns.validity as Validity;
    const moves = set.validity !== undefined && set.validity !== payload.from;
    if (!moves || (isOfTime(event) && !isLive(before))) delete set.validity;
    if (set.validity !== undefined && set.validity !== "retracted")
      Object.assign(set, { forgotten_at: null, forget_reason: null });
    if (kindOf(event) === "restored") lives = true;
    const counts = countMark(event);
    if (judging && (counts || "maturity" in set)) put(event, { ...set, ...judge(event, set, counts) });
    else put(event, set);
  }
  return { lives, columns, writers, counted };

  /** A session counts once for each outcome. */
  function countMark({ payload }: PastEvent): boolean {
    return isRecord(payload.application) && count(payload.application);
  }

  function count(mark: RowJson): boolean {
    if (typeof mark.id !== "string") return false;
    const once = `${mark.outcome} ${mark.session_id}`;
    if (typeof mark.session_id === "string" && told.has(once)) return false;
    told.add(once);
    counted.add(mark.id);
    tally[mark.outcome === "helpful" ? "success" : "harmful"] += 1;
    if (mark.outcome === "harmful" && typeof mark.note === "string") reasons.push(mark.note);
    return true;
  }

  function judge(event: PastEvent, set: RowJson, isMark: boolean): RowJson {
    const at = event.occurred_at;
    const ageDays = (at.getTime() - new Date(String(columns.created_at)).getTime()) / DAY_MS;
    const was = columns.maturity as Maturity;
    const outcome = isMark ? ((event.payload.application as RowJson).outcome as "helpful" | "harmful") : undefined;
    const maturity = judgeMaturity(was, outcome, { ...tally, ageDays }, bars);
    const judged: RowJson = {
      ...{ maturity, effectiveness_score: effectiveness(tally) },
      ...{ success_count: tally.success, harmful_count: tally.harmful, applied_count: tally.success + tally.harmful },
      last_evaluated_at: at.toISOString(),
      ...(isMark ? { last_applied_at: at.toISOString() } : {}),
    };
    const unchanged = Object.fromEntries(INVERTED.map((column) => [column, columns[column]]));
    if (maturity !== "anti_pattern" || was === "anti_pattern")
      // What an inversion wrote is not taken over when there is none.
      return "original_content" in set ? { ...unchanged, ...judged } : judged;
    const content = String(columns.content);
    return {
      ...judged,
      content: warningFrom(content, reasons),
      original_content: columns.original_content ?? content,
      confidence: 1,
      last_confirmed_at: at.toISOString(),
    };
  }
}

const INVERTED = ["content", "original_content", "confidence", "last_confirmed_at"] as const;
