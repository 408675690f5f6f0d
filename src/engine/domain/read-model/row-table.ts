/**
 * The rows of the read model by column: numbers in arrays outside of the heap that is searched for garbage, texts that many rows share as
 * numbers. As an object the row of an episode took 390 bytes of that heap, which the collector lets grow by two fifths more, and every reading
 * that was counted left one behind.
 */
import { withRoom } from "../collections/with-room.ts";
import type { Counts, ReadRow } from "./rows.ts";
import { openTexts, type Texts } from "./texts.ts";

export interface RowTable {
  /** A view of what is filed there now, good until it is written again; undefined where nothing is. */
  at(slot: number): ReadRow | undefined;
  put(slot: number, row: ReadRow): void;
  count(slot: number, counts: Counts): void;
  drop(slot: number): void;
  tierOf(slot: number): ReadRow["tier"];
  /** Texts that rows share. */
  texts(): number;
}

type Columns = ReturnType<typeof columnsFor> & {
  readonly idOf: (slot: number) => string;
  readonly texts: Texts;
  readonly content: string[];
  /** Of the few rows that have some. */
  readonly tags: Map<number, readonly string[]>;
  readonly rest: (Rest | undefined)[];
};

/** What an episode has not, or has from its birth. */
interface Rest {
  readonly confidence: number;
  readonly decay_rate: number;
  readonly last_confirmed_at: number;
  readonly subject_key: number;
  readonly predicate_key: number;
  readonly subject: number;
  readonly predicate: number;
  readonly permanence: number;
  readonly maturity: number;
  readonly valid_from: number | null;
  readonly valid_to: number | null;
  readonly waits_until: number | null;
  readonly effectiveness: number | null;
  readonly corroborated_at: number | null;
}

const TEXTS = ["type", "tenant_id", "scope", "state", "trust", "tier", "session_id", "speaker"] as const;
const RARE = ["subject_key", "predicate_key", "subject", "predicate", "permanence", "maturity"] as const;
const FIRST = 1_024;

export function openRowTable(idOf: (slot: number) => string): RowTable {
  const texts = openTexts();
  const all: Columns = { ...columnsFor(FIRST), idOf, texts, content: [], tags: new Map(), rest: [] };

  const reserve = (slot: number) => {
    if (slot < all.asks.length) return;
    const next = columnsFor(Math.ceil(slot * 1.25));
    for (const name of Object.keys(next) as (keyof typeof next)[])
      Object.assign(all, { [name]: withRoom<{ set(before: unknown): void }>(next[name], all[name]) });
  };
  const holds = (slot: number) => slot < all.asks.length && all.type[slot] !== 0;
  const leave = (slot: number) => {
    for (const name of TEXTS) texts.leave(all[name][slot] as number);
    const rest = all.rest[slot];
    if (rest !== undefined) for (const name of RARE) texts.leave(rest[name]);
  };
  const count = (slot: number, { reference_count, last_referenced_at, prior_referenced_at, expires_at }: Counts) => {
    all.reference_count[slot] = reference_count;
    all.last_referenced_at[slot] = numberOf(last_referenced_at);
    all.prior_referenced_at[slot] = numberOf(prior_referenced_at);
    all.expires_at[slot] = numberOf(expires_at);
  };
  return {
    at: (slot) => (holds(slot) ? new RowView(all, slot) : undefined),
    put(slot, row) {
      reserve(slot);
      // Taken before the old ones are left: what stays the same is not filed anew.
      const codes = TEXTS.map((name) => texts.take(row[name] ?? null));
      const rest = hasRest(row) ? restOf(row, texts) : undefined;
      if (holds(slot)) leave(slot);
      TEXTS.forEach((name, at) => {
        all[name][slot] = codes[at] as number;
      });
      all.importance[slot] = row.importance;
      all.created_at[slot] = row.created_at;
      all.ordinal[slot] = numberOf(row.ordinal);
      all.occurred_at[slot] = numberOf(row.occurred_at);
      all.asks[slot] = row.asks ? 1 : 0;
      count(slot, row);
      all.content[slot] = row.content;
      if (row.tags.length === 0) all.tags.delete(slot);
      else all.tags.set(slot, row.tags);
      all.rest[slot] = rest;
    },
    count,
    drop(slot) {
      if (!holds(slot)) return;
      leave(slot);
      all.type[slot] = 0;
      all.content[slot] = "";
      all.tags.delete(slot);
      all.rest[slot] = undefined;
    },
    tierOf: (slot) => texts.at(all.tier[slot] as number) as ReadRow["tier"],
    texts: texts.size,
  };
}

const columnsFor = (room: number) => ({
  type: new Int32Array(room),
  tenant_id: new Int32Array(room),
  scope: new Int32Array(room),
  state: new Int32Array(room),
  trust: new Int32Array(room),
  tier: new Int32Array(room),
  session_id: new Int32Array(room),
  speaker: new Int32Array(room),
  importance: new Float64Array(room),
  reference_count: new Float64Array(room),
  created_at: new Float64Array(room),
  last_referenced_at: new Float64Array(room),
  prior_referenced_at: new Float64Array(room),
  ordinal: new Float64Array(room),
  occurred_at: new Float64Array(room),
  expires_at: new Float64Array(room),
  asks: new Uint8Array(room),
});

const NO_TAGS: readonly string[] = [];

/** Nothing is told by not a number, which no column holds. */
const numberOf = (value: number | null): number => value ?? Number.NaN;
const orNull = (value: number): number | null => (Number.isNaN(value) ? null : value);

const hasRest = (row: ReadRow): boolean =>
  row.type !== "episode" ||
  row.confidence !== 1 ||
  row.decay_rate !== 0 ||
  row.last_confirmed_at !== row.created_at ||
  (row.corroborated_at ?? null) !== null;

const restOf = (row: ReadRow, texts: Texts): Rest => ({
  confidence: row.confidence,
  decay_rate: row.decay_rate,
  last_confirmed_at: row.last_confirmed_at,
  subject_key: texts.take(row.subject_key ?? null),
  predicate_key: texts.take(row.predicate_key ?? null),
  subject: texts.take(row.subject ?? null),
  predicate: texts.take(row.predicate ?? null),
  permanence: texts.take(row.permanence ?? null),
  maturity: texts.take(row.maturity ?? null),
  valid_from: row.valid_from,
  valid_to: row.valid_to,
  waits_until: row.waits_until,
  effectiveness: row.effectiveness,
  corroborated_at: row.corroborated_at,
});

const textAt = ({ texts }: Columns, code: number | undefined): string | null =>
  code === undefined ? null : texts.at(code);

/** One kind of object for all rows, made where one is looked at. Its fields are plain ones: private ones take longer to make. */
class RowView implements ReadRow {
  readonly of: Columns;
  readonly slot: number;

  constructor(of: Columns, slot: number) {
    this.of = of;
    this.slot = slot;
  }

  get id(): string {
    return this.of.idOf(this.slot);
  }
  get type(): ReadRow["type"] {
    return textAt(this.of, this.of.type[this.slot]) as ReadRow["type"];
  }
  get tenant_id(): string {
    return textAt(this.of, this.of.tenant_id[this.slot]) as string;
  }
  get scope(): string {
    return textAt(this.of, this.of.scope[this.slot]) as string;
  }
  get state(): ReadRow["state"] {
    return textAt(this.of, this.of.state[this.slot]) as ReadRow["state"];
  }
  get trust(): ReadRow["trust"] {
    return textAt(this.of, this.of.trust[this.slot]) as ReadRow["trust"];
  }
  get tier(): ReadRow["tier"] {
    return textAt(this.of, this.of.tier[this.slot]) as ReadRow["tier"];
  }
  get session_id(): string | null {
    return textAt(this.of, this.of.session_id[this.slot]);
  }
  get speaker(): string | null {
    return textAt(this.of, this.of.speaker[this.slot]);
  }
  get content(): string {
    return this.of.content[this.slot] as string;
  }
  get tags(): readonly string[] {
    return this.of.tags.get(this.slot) ?? NO_TAGS;
  }
  get importance(): number {
    return this.of.importance[this.slot] as number;
  }
  get reference_count(): number {
    return this.of.reference_count[this.slot] as number;
  }
  get created_at(): number {
    return this.of.created_at[this.slot] as number;
  }
  get last_referenced_at(): number | null {
    return orNull(this.of.last_referenced_at[this.slot] as number);
  }
  get prior_referenced_at(): number | null {
    return orNull(this.of.prior_referenced_at[this.slot] as number);
  }
  get ordinal(): number | null {
    return orNull(this.of.ordinal[this.slot] as number);
  }
  get occurred_at(): number | null {
    return orNull(this.of.occurred_at[this.slot] as number);
  }
  get expires_at(): number | null {
    return orNull(this.of.expires_at[this.slot] as number);
  }
  get asks(): boolean {
    return this.of.asks[this.slot] === 1;
  }
  get confidence(): number {
    return this.of.rest[this.slot]?.confidence ?? 1;
  }
  get decay_rate(): number {
    return this.of.rest[this.slot]?.decay_rate ?? 0;
  }
  get last_confirmed_at(): number {
    return this.of.rest[this.slot]?.last_confirmed_at ?? this.created_at;
  }
  get subject_key(): string | null {
    return textAt(this.of, this.of.rest[this.slot]?.subject_key);
  }
  get predicate_key(): string | null {
    return textAt(this.of, this.of.rest[this.slot]?.predicate_key);
  }
  get subject(): string | null {
    return textAt(this.of, this.of.rest[this.slot]?.subject);
  }
  get predicate(): string | null {
    return textAt(this.of, this.of.rest[this.slot]?.predicate);
  }
  get permanence(): ReadRow["permanence"] {
    return textAt(this.of, this.of.rest[this.slot]?.permanence) as ReadRow["permanence"];
  }
  get maturity(): ReadRow["maturity"] {
    return textAt(this.of, this.of.rest[this.slot]?.maturity) as ReadRow["maturity"];
  }
  get valid_from(): number | null {
    return this.of.rest[this.slot]?.valid_from ?? null;
  }
  get valid_to(): number | null {
    return this.of.rest[this.slot]?.valid_to ?? null;
  }
  get waits_until(): number | null {
    return this.of.rest[this.slot]?.waits_until ?? null;
  }
  get effectiveness(): number | null {
    return this.of.rest[this.slot]?.effectiveness ?? null;
  }
  get corroborated_at(): number | null {
    return this.of.rest[this.slot]?.corroborated_at ?? null;
  }
}
