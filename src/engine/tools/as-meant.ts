/**
 * An input as its sender meant it, where a strict reading fails: models write null for an argument they leave out, "5" for a number,
 * and a list or an object as JSON in a string. Only the values that the schema refuses are looked at, so nothing that is valid changes.
 */
import type { z } from "zod";

/** Longer strings are no argument that a model wrote as JSON by mistake. */
const LONGEST_JSON = 65_536;

/** A copy with these issues mended, or undefined when none of them can be. The input itself is not changed. */
export function asMeant(input: unknown, issues: readonly z.core.$ZodIssue[]): unknown {
  let mended: unknown;
  for (const issue of issues) {
    const given = at(input, issue.path);
    const meant = issue.code === "invalid_type" ? readAs(issue.expected, given) : undefined;
    if (issue.path.length === 0 || (given !== null && meant === undefined)) continue;
    mended = replaced(mended ?? input, issue.path, meant);
  }
  return mended;
}

interface Reading {
  readonly expected: readonly string[];
  /** Undefined when the value cannot be read so. */
  readonly read: (given: unknown) => unknown;
}

const READINGS: readonly Reading[] = [
  { expected: ["number", "int"], read: numberIn },
  { expected: ["boolean"], read: (given) => (given === "true" ? true : given === "false" ? false : undefined) },
  { expected: ["array"], read: (given) => jsonIn(given, Array.isArray) },
  { expected: ["object", "record"], read: (given) => jsonIn(given, (value) => !Array.isArray(value)) },
];

const readAs = (type: string, given: unknown): unknown =>
  READINGS.find(({ expected }) => expected.includes(type))?.read(given);

function numberIn(given: unknown): number | undefined {
  return typeof given === "string" && /^\s*-?\d{1,15}(?:\.\d{1,15})?\s*$/.test(given) ? Number(given) : undefined;
}

function jsonIn(given: unknown, fits: (value: object) => boolean): unknown {
  if (typeof given !== "string" || given.length > LONGEST_JSON || !/^\s*[[{]/.test(given)) return undefined;
  try {
    const value: unknown = JSON.parse(given);
    return typeof value === "object" && value !== null && fits(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((inner, key) => (isObject(inner) ? Reflect.get(inner, key) : undefined), value);
}

/** A copy along the path; undefined takes an argument out, while an entry of a list stays where it is. */
function replaced(value: unknown, [key, ...rest]: readonly PropertyKey[], meant: unknown): unknown {
  if (key === undefined) return meant;
  if (!isObject(value)) return value;
  const inner = replaced(Reflect.get(value, key), rest, meant);
  if (Array.isArray(value)) return inner === undefined ? value : value.with(Number(key), inner);
  const others = Object.entries(value).filter(([name]) => name !== key);
  return Object.fromEntries(inner === undefined ? others : [...others, [String(key), inner]]);
}
