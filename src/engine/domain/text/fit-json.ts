/** JSON of a limited length: what comes first is kept, what does not fit is left out or clipped. Numbers are rounded, null is left out. */
import { isRecord } from "../record.ts";
import { clip } from "./text.ts";

/** Fewer characters of a text tell nothing. */
const LEAST_TEXT = 24;

export type Json = string | number | boolean | Json[] | { [key: string]: Json };

/** As much of an object as so many characters of JSON hold. */
export function fitJson(value: Readonly<Record<string, unknown>>, chars: number): Record<string, Json> {
  return (fitted(value, chars) ?? {}) as Record<string, Json>;
}

const sizeOf = (value: Json): number => (typeof value === "string" ? textSize(value) : JSON.stringify(value).length);

const SHORT_ESCAPES = new Set('"\\\b\t\n\f\r');
/** Of `\u0000` and its like. */
const LONG_ESCAPE = 6;

/** The length of a text as JSON, without making it: a block is asked for the length of each of its lines. */
export function textSize(text: string): number {
  let size = text.length + 2;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > 92 && code < 0xd800) continue;
    if (code < 32 || code === 34 || code === 92) size += SHORT_ESCAPES.has(text.charAt(at)) ? 1 : LONG_ESCAPE - 1;
    else if (code >= 0xd800 && code < 0xe000) {
      const isPair = code < 0xdc00 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
      if (isPair) at += 1;
      else size += LONG_ESCAPE - 1;
    }
  }
  return size;
}

function fitted(value: unknown, room: number): Json | undefined {
  if (typeof value === "string") return fitText(value, room);
  if (Array.isArray(value)) return fitList(value, room);
  if (isRecord(value)) return fitRecord(value, room);
  const plain = typeof value === "number" ? rounded(value) : typeof value === "boolean" ? value : undefined;
  return plain === undefined || sizeOf(plain) > room ? undefined : plain;
}

/** Three digits say as much as sixteen. */
function rounded(value: number): number | undefined {
  if (!Number.isFinite(value)) return undefined;
  return Number.isInteger(value) ? value : Number(value.toPrecision(3));
}

function fitText(text: string, room: number): string | undefined {
  if (text.length + 2 <= room && sizeOf(text) <= room) return text;
  let [fits, over] = [0, Math.min(text.length, room)];
  while (over - fits > 1) {
    const middle = (fits + over) >> 1;
    if (sizeOf(clip(text, middle)) <= room) fits = middle;
    else over = middle;
  }
  return fits < LEAST_TEXT ? undefined : clip(text, fits);
}

/** In order, until one does not fit. */
function fitList(list: readonly unknown[], room: number): Json[] | undefined {
  const kept: Json[] = [];
  let used = 2;
  if (used > room) return undefined;
  for (const item of list) {
    const comma = kept.length === 0 ? 0 : 1;
    const one = fitted(item, room - used - comma);
    if (one === undefined) break;
    kept.push(one);
    used += sizeOf(one) + comma;
  }
  return kept.length === 0 && list.length > 0 ? undefined : kept;
}

function fitRecord(record: Readonly<Record<string, unknown>>, room: number): Record<string, Json> | undefined {
  const kept: [string, Json][] = [];
  let used = 2;
  if (used > room) return undefined;
  for (const [name, value] of Object.entries(record)) {
    const around = sizeOf(name) + (kept.length === 0 ? 1 : 2);
    const one = fitted(value, room - used - around);
    if (one === undefined) continue;
    kept.push([name, one]);
    used += sizeOf(one) + around;
  }
  return kept.length === 0 && Object.keys(record).length > 0 ? undefined : Object.fromEntries(kept);
}
