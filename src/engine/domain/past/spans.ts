/**
 * Since when and until when each line of a timeline was live, for the many that were so once and with the same words: arrays by number of the
 * line, so that all of them are gone through in a fraction of a millisecond. The others are looked at one by one.
 */

import { withRoom } from "../collections/with-room.ts";
import { MEMORY_TYPES, type MemoryType } from "../memory-types.ts";

export interface Span {
  readonly type: MemoryType;
  readonly scope: string;
  /** The place of its words. */
  readonly words: number;
}

/** Memories that were live at a moment. */
export interface Alive {
  /** Numbers of their lines, in the order in which they were stored. */
  readonly lines: Int32Array;
  /** By number of a line: its type, as `kindOf` numbers it, or 0 where it is not among them. */
  readonly kinds: Uint8Array;
  /** By number of a line: the place of its words. */
  readonly places: Int32Array;
}

export interface AliveQuery {
  readonly moment: number;
  readonly types: readonly MemoryType[];
  /** Undefined: every scope. */
  readonly scopes: readonly string[] | undefined;
}

export const KINDS = MEMORY_TYPES.length + 1;
export const kindOf = (type: MemoryType): number => MEMORY_TYPES.indexOf(type) + 1;

/** By number of a kind: 1 where it is one of these types. */
export function askedKinds(types: readonly MemoryType[]): Uint8Array {
  const asked = new Uint8Array(KINDS);
  for (const type of types) asked[kindOf(type)] = 1;
  return asked;
}

export interface Spans {
  begin(nth: number, at: number, span: Span): void;
  /** It was not live from then on. */
  end(nth: number, at: number): void;
  isOpen(nth: number): boolean;
  /** One span does not tell it any more. */
  scatter(nth: number): void;
  /** `lookAt` tells what a scattered line was, if it was live. */
  alive(query: AliveQuery, lookAt: (nth: number) => Span | undefined): Alive;
}

export function openSpans(): Spans {
  let size = 0;
  let from = new Float64Array(0);
  /** Not a number: scattered. */
  let until = new Float64Array(0);
  let kinds = new Uint8Array(0);
  let scopes = new Int32Array(0);
  let places = new Int32Array(0);
  const numbers = new Map<string, number>();

  const reserve = (nth: number) => {
    size = Math.max(size, nth + 1);
    if (nth < from.length) return;
    const room = Math.ceil(Math.max(1024, nth * 1.5));
    from = withRoom(new Float64Array(room), from);
    until = withRoom(new Float64Array(room), until);
    kinds = withRoom(new Uint8Array(room), kinds);
    scopes = withRoom(new Int32Array(room), scopes);
    places = withRoom(new Int32Array(room), places);
  };
  const numberOf = (scope: string): number => {
    const known = numbers.get(scope);
    if (known !== undefined) return known;
    numbers.set(scope, numbers.size);
    return numbers.size - 1;
  };

  return {
    begin(nth, at, { type, scope, words }) {
      reserve(nth);
      from[nth] = at;
      until[nth] = Number.POSITIVE_INFINITY;
      kinds[nth] = kindOf(type);
      scopes[nth] = numberOf(scope);
      places[nth] = words;
    },
    end(nth, at) {
      until[nth] = Math.min(until[nth] as number, Math.max(from[nth] as number, at));
    },
    isOpen: (nth) => until[nth] === Number.POSITIVE_INFINITY,
    scatter(nth) {
      reserve(nth);
      until[nth] = Number.NaN;
    },
    alive({ moment, types, scopes: asked }, lookAt) {
      const isWanted = askedKinds(types);
      const isIn = new Uint8Array(numbers.size).fill(asked === undefined ? 1 : 0);
      for (const scope of asked ?? []) {
        const number = numbers.get(scope);
        if (number !== undefined) isIn[number] = 1;
      }
      const found = { lines: new Int32Array(size), kinds: new Uint8Array(size), places: places.slice(0, size) };
      let n = 0;
      for (let nth = 0; nth < size; nth++) {
        const end = until[nth] as number;
        if (Number.isNaN(end)) {
          const span = lookAt(nth);
          if (span === undefined || !types.includes(span.type) || asked?.includes(span.scope) === false) continue;
          found.places[nth] = span.words;
          found.kinds[nth] = kindOf(span.type);
        } else {
          const kind = kinds[nth] as number;
          if ((from[nth] as number) > moment || end <= moment) continue;
          if (isWanted[kind] === 0 || isIn[scopes[nth] as number] === 0) continue;
          found.kinds[nth] = kind;
        }
        found.lines[n++] = nth;
      }
      return { ...found, lines: found.lines.subarray(0, n) };
    },
  };
}
