/** Inputs that nobody has thought of, made from a seed: bytes, texts and values, and objects that nearly fit a schema. */

import { type Dice, dice } from "./hostile/attempts.ts";
import { HOSTILE } from "./hostile-text.ts";

/** Seeds that once found a fault, and stay. A run from another place: `BUTLER_FUZZ_SEED=7`. */
export const SEEDS: readonly number[] = [1, Number(process.env.BUTLER_FUZZ_SEED ?? 20_261_117)];
/** `BUTLER_FUZZ_TIMES=10` makes ten times as many. */
const TIMES = Number(process.env.BUTLER_FUZZ_TIMES ?? 1);

/** Calls `work` for inputs of all seeds, `count` together; each has dice of its own, so that a fault is found again by its two numbers. */
export async function fuzzed(count: number, work: (d: Dice, told: string) => unknown): Promise<void> {
  const each = Math.ceil((count * TIMES) / SEEDS.length);
  for (const seed of SEEDS)
    for (let nth = 0; nth < each; nth++) await work(dice(seed * 7_919 + nth), `seed ${seed}, input ${nth}`);
}

const PIECES = [
  "", " ", "\n", "\r\n", "\t", "\0", "\u2028", "\ufeff", "\ud800", "\udfff", "a", "Z", "0", "-1", "1e309", "NaN", "null", "true", "{", "}", "[", "]",
  '"', "'", "`", "\\", "\\u0000", "/", "..", "%00", "%", "$1", "<", ">", "&", ";", "--", "/*", "=", ":", ",", "#", "[[", "]]", "é", "ß", "中",
  "שלום", "‮", "👩‍👩‍👧‍👦", "__proto__", "constructor", "toString", "tenant_id", "2026-02-30", "0000-01-01", "9999-12-31T23:59:59Z",
]; // biome-ignore format: a list of pieces

export function anyText(d: Dice): string {
  const kind = d.below(20);
  if (kind === 0) return d.one(HOSTILE);
  if (kind === 1) return d.one(PIECES).repeat(d.below(2_000));
  return Array.from({ length: d.below(12) }, () => d.one(PIECES)).join("");
}

export function anyValue(d: Dice, depth = 0): unknown {
  switch (d.below(depth > 3 ? 7 : 9)) {
    case 0:
      return null;
    case 1:
      return d.chance(0.5);
    case 2:
      return d.one([0, -0, -1, 1, 1.5, 2 ** 31, 2 ** 53, -(2 ** 53), 1e308, 5e-324]);
    case 3:
      return d.below(1_000);
    case 7:
      return Array.from({ length: d.below(5) }, () => anyValue(d, depth + 1));
    case 8:
      return Object.fromEntries(Array.from({ length: d.below(5) }, () => [anyText(d), anyValue(d, depth + 1)]));
    default:
      return anyText(d);
  }
}

/** One to four places of a text cut out, doubled or replaced. */
export function spoiled(d: Dice, text: string): string {
  let made = text;
  for (let n = 1 + d.below(4); n > 0; n--) {
    const at = d.below(made.length + 1);
    const end = Math.min(made.length, at + d.below(d.chance(0.2) ? 200 : 8));
    const put = [d.one(PIECES), anyText(d), made.slice(at, end).repeat(2), ""][d.below(4)] ?? "";
    made = `${made.slice(0, at)}${put}${made.slice(end)}`;
  }
  return made;
}

export interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

const WORDS = [
  "tea",
  "The office is in Graz.",
  "user",
  "likes",
  "We always run the tests first.",
  "global",
  "general",
  "s1",
];

/** A value of the schema's type, most of the time; `ids` are of memories that there are. */
export function fitting(d: Dice, schema: Schema, ids: readonly string[]): unknown {
  if (d.chance(0.04)) return anyValue(d);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return d.one(schema.enum);
  if (schema.anyOf !== undefined) return fitting(d, d.one(schema.anyOf), ids);
  const type = Array.isArray(schema.type) ? d.one(schema.type as readonly string[]) : schema.type;
  if (type === "object" || schema.properties !== undefined) {
    const { properties = {}, required = [] } = schema;
    const names = Object.keys(properties).filter((name) => required.includes(name) || d.chance(0.35));
    const extra = d.chance(0.03) ? [[anyText(d), anyValue(d)]] : [];
    return Object.fromEntries([...names.map((name) => [name, fitting(d, properties[name] ?? {}, ids)]), ...extra]);
  }
  if (type === "array") return Array.from({ length: d.below(4) }, () => fitting(d, schema.items ?? {}, ids));
  if (type === "boolean") return d.chance(0.5);
  if (type === "null") return null;
  if (type === "integer" || type === "number") {
    const { minimum = 0, maximum = 100 } = schema;
    return Math.round(minimum + d.below(101) * ((Math.min(maximum, 200) - minimum) / 100));
  }
  if (d.chance(0.3)) return d.one(ids);
  if (d.chance(0.15)) return d.one(["2026-05-01T10:00:00Z", "2026-05-01", "2020-01-01T00:00:00Z"]);
  return d.chance(0.2) ? anyText(d) : `${d.one(WORDS)}${d.chance(0.5) ? ` ${d.below(50)}` : ""}`;
}
