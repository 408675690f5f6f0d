import type { JsonValue } from "../text/text.ts";
import { commandFinders } from "./commands.ts";
import { contextFinders } from "./context.ts";
import { languageFinders } from "./language.ts";
import { shapeFinders } from "./patterns.ts";
import { type Policy, SECRETS_ONLY } from "./policy.ts";
import { type Finder, kindOfName, SECRET_KINDS, type SecretKind, type Span, scanOf } from "./scan.ts";
import { classifyName, type NameClass } from "./secret-names.ts";
import { SLICE, slicesOf } from "./slices.ts";
import { tableFinders } from "./tables.ts";
import { isMask, isTypeName, looksRandom } from "./words.ts";

export type { SecretKind };

export interface Found {
  readonly kind: string;
  readonly count: number;
}

const FINDERS = [...shapeFinders, ...contextFinders, ...commandFinders, ...languageFinders, ...tableFinders];
/** Of any kind: what another policy took out stays out. */
const MARKER = /\[redacted:[a-z][a-z0-9_-]{1,39}\]/g;
/** Pieces settle after one or two rounds. A text built to need more loses the piece rather than the secret. */
const MAX_ROUNDS = 12;

/** What stands between the secrets of a list is the same words over and over: `; id=`, `password: `. */
const REPEATED = 100;

type Tally = Map<string, number>;

const marker = (kind: string) => `[redacted:${kind}]`;

function count(tally: Tally, kind: string): void {
  tally.set(kind, (tally.get(kind) ?? 0) + 1);
}

function listed(tally: Tally): Found[] {
  const others = [...tally.keys()].filter((kind) => !SECRET_KINDS.some((known) => known === kind)).sort();
  return [...SECRET_KINDS, ...others].flatMap((kind) => {
    const found = tally.get(kind);
    return found === undefined ? [] : [{ kind, count: found }];
  });
}

/** Overlapping finds become one; the most trusted finder names it. No edge falls inside a surrogate pair. */
function findSpans(text: string, policy: Policy): Span[] {
  const scan = scanOf(text);
  const found: (Span & { rank: number })[] = [];
  const look = (find: Finder, rank: number) => {
    for (const span of find(scan)) if (!policy.keeps.has(span.kind)) found.push({ ...span, rank });
  };
  FINDERS.forEach(look);
  policy.more.forEach((find, at) => {
    look(find, FINDERS.length + at);
  });
  if (found.length === 0) return found;
  found.sort((a, b) => a.start - b.start || b.end - a.end);
  const merged: (Span & { rank: number })[] = [];
  for (const raw of found) {
    const start = splitsPair(text, raw.start) ? raw.start - 1 : raw.start;
    const end = splitsPair(text, raw.end) ? raw.end + 1 : raw.end;
    if (end <= start) continue;
    const last = merged.at(-1);
    if (last === undefined || start >= last.end) {
      merged.push({ ...raw, start, end });
      continue;
    }
    const lead = raw.rank < last.rank ? raw : last;
    merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, end), kind: lead.kind, rank: lead.rank };
  }
  return merged;
}

function splitsPair(text: string, at: number): boolean {
  return /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(Math.max(0, at - 1), at + 1));
}

/**
 * Looks again at what is left between the replacements, until nothing is found: a second call then sees exactly the
 * pieces that were already found clean, which is what makes redaction idempotent.
 */
function redactPiece(piece: string, run: Run, round: number): string {
  const { policy, tally, clean } = run;
  if (piece.length < policy.shortest || clean.has(piece)) return piece;
  const spans = findSpans(piece, policy);
  if (spans.length === 0) {
    if (piece.length <= REPEATED && clean.size < 1_000) clean.add(piece);
    return piece;
  }
  if (round === MAX_ROUNDS) {
    count(tally, "secret");
    return marker("secret");
  }
  let out = "";
  let at = 0;
  for (const span of spans) {
    out += redactPiece(piece.slice(at, span.start), run, round + 1) + marker(span.kind);
    count(tally, span.kind);
    at = span.end;
  }
  return out + redactPiece(piece.slice(at), run, round + 1);
}

interface Run {
  readonly policy: Policy;
  readonly tally: Tally;
  /** Short pieces in which nothing was found. */
  readonly clean: Set<string>;
}

function redactText(text: string, tally: Tally, policy: Policy): string {
  const run = { policy, tally, clean: new Set<string>() };
  let out = "";
  let at = 0;
  for (const earlier of text.matchAll(MARKER)) {
    out += redactPiece(text.slice(at, earlier.index), run, 0) + earlier[0];
    at = earlier.index + earlier[0].length;
  }
  return at === 0 ? redactPiece(text, run, 0) : out + redactPiece(text.slice(at), run, 0);
}

export interface Redacted {
  readonly text: string;
  readonly found: readonly Found[];
}

/** Replaces obvious secrets by `[redacted:<kind>]`; everything around them stays as it was. */
export function redact(text: string, policy = SECRETS_ONLY): Redacted {
  return finished(redactSteps(text, policy));
}

/** The same in steps of at most some ten milliseconds, for callers on an event loop: they go on to the next when they like. */
export function* redactSteps(text: string, policy = SECRETS_ONLY): Generator<void, Redacted> {
  const tally: Tally = new Map();
  let out = "";
  for (const slice of slicesOf(text)) {
    if (out !== "") yield;
    out += redactText(slice, tally, policy);
  }
  return { text: out, found: listed(tally) };
}

export function finished<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

type Container = JsonValue[] | Record<string, JsonValue>;

interface Task {
  readonly value: JsonValue;
  /** Set when a key above says that whatever stands here is a secret. */
  readonly under: SecretKind | undefined;
  readonly put: (value: JsonValue) => void;
}

function kindOfKey(key: string, value: JsonValue): SecretKind | undefined {
  const cls: NameClass | undefined = classifyName(key);
  if (cls === "weak_key") return typeof value === "string" && looksRandom(value, 16) ? "secret" : undefined;
  if (cls !== undefined) return kindOfName(cls);
  // Not `password`, whose numbers go too: `{ pass: 120, fail: 3 }` is a test report.
  if (/^pass$/i.test(key)) return "secret";
  if (/^(?:set-)?cookies?$/i.test(key)) return "cookie";
  if (/^(?:ssn|social_?security_?(?:number)?)$/i.test(key)) return "ssn";
  if (/^(?:cvv|cvc)2?$/i.test(key)) return "card";
  return /^(?:mnemonic|(?:seed|recovery)[-_]?(?:phrase|words))$/i.test(key) ? "seed_phrase" : undefined;
}

function redactScalar(
  value: string | number | boolean | null,
  under: SecretKind | undefined,
  tally: Tally,
  policy: Policy,
): JsonValue {
  if (typeof value === "number") {
    // `token: 3000` is a count; a numeric password or PIN is not.
    if (under === undefined || under === "secret" || under === "cookie") return value;
    count(tally, under);
    return marker(under);
  }
  if (typeof value !== "string") return value;
  if (under === undefined) return redactText(value, tally, policy);
  if (isMask(value) || isTypeName(value)) return value;
  if (value === value.match(MARKER)?.[0]) return value;
  count(tally, under);
  return marker(under);
}

/** `{ name: "Authorization", value: "…" }`: the name of a header, variable or form field may itself be a value. */
function namedKind(value: { readonly [key: string]: JsonValue }): SecretKind | undefined {
  const name = Object.hasOwn(value, "name") ? value.name : Object.hasOwn(value, "key") ? value.key : undefined;
  return typeof name === "string" ? kindOfKey(name, value.value ?? null) : undefined;
}

function freeKey(key: string, taken: Record<string, JsonValue>): string {
  let free = key;
  for (let n = 2; Object.hasOwn(taken, free); n++) free = `${key}#${n}`;
  return free;
}

/** Defined, not assigned: a key called `__proto__` must stay data. */
function setOwn(target: Container, key: string | number, value: JsonValue): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

/**
 * The same for metadata, and values whose key names a secret go as a whole. Keys are kept, unless they contain a secret.
 * Walks with its own stack: parsed JSON can be deeper than the call stack. The input is not changed.
 */
export function redactDeep<T extends JsonValue>(
  value: T,
  policy = SECRETS_ONLY,
): { value: T; found: readonly Found[] } {
  return finished(redactDeepSteps(value, policy));
}

export function* redactDeepSteps<T extends JsonValue>(
  value: T,
  policy = SECRETS_ONLY,
): Generator<void, { value: T; found: readonly Found[] }> {
  const tally: Tally = new Map();
  let read = 0;
  let result: JsonValue = value;
  const tasks: Task[] = [{ value, under: undefined, put: (done) => (result = done) }];
  for (let task = tasks.pop(); task !== undefined; task = tasks.pop()) {
    const { value: current, under, put } = task;
    if (typeof current !== "object" || current === null) {
      if (typeof current === "string" && current.length > SLICE && under === undefined) {
        const { text, found } = yield* redactSteps(current, policy);
        put(text);
        for (const { kind, count: more } of found) tally.set(kind, (tally.get(kind) ?? 0) + more);
      } else put(redactScalar(current, under, tally, policy));
      read += typeof current === "string" ? current.length : 8;
      if (read > SLICE) {
        read = 0;
        yield;
      }
      continue;
    }
    if (isList(current)) {
      const list: JsonValue[] = new Array(current.length).fill(null);
      put(list);
      for (const [i, item] of current.entries())
        tasks.push({ value: item, under, put: (done) => setOwn(list, i, done) });
      continue;
    }
    const object: Record<string, JsonValue> = {};
    const named = namedKind(current);
    put(object);
    for (const [key, item] of Object.entries(current)) {
      const kept = freeKey(redactText(key, tally, policy), object);
      const own = kindOfKey(key, item) ?? (key === "value" ? named : undefined) ?? under;
      const kind = own !== undefined && policy.keeps.has(own) ? undefined : own;
      setOwn(object, kept, null);
      tasks.push({ value: item, under: kind, put: (done) => setOwn(object, kept, done) });
    }
  }
  // Only strings and numbers were replaced, by strings: the shape is T's wherever T does not name literals.
  return { value: result as T, found: listed(tally) };
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
