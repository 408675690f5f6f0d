/** What is wrong with an input, as one sentence that names the field. The same words at every door. */
import type { z } from "zod";
import { MemoryError } from "../domain/errors.ts";
import { nearest } from "../domain/text/spelling.ts";
import { clip } from "../domain/text/text.ts";
import { sameMeaning } from "./argument-names.ts";
import { asMeant } from "./as-meant.ts";

export type Checked<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: MemoryError };

/** `prefix` is the place of `value` in the whole input, such as `episodes.3`. */
export function checkInput<S extends z.ZodType>(schema: S, value: unknown, prefix = ""): Checked<z.output<S>> {
  const strict = schema.safeParse(value, { error: words });
  if (strict.success) return { ok: true, value: strict.data };
  const meant = asMeant(value, strict.error.issues);
  const mended = meant === undefined ? strict : schema.safeParse(meant, { error: words });
  return mended.success
    ? { ok: true, value: mended.data }
    : { ok: false, error: invalidInput(mended.error, prefix, schema, meant ?? value) };
}

/** The first problem; an unknown argument before all others, because a misspelt one is also why another is missing. */
function invalidInput(error: z.ZodError, prefix: string, schema: z.ZodType, value: unknown): MemoryError {
  const issue = error.issues.find(({ code }) => code === "unrecognized_keys") ?? error.issues[0];
  const path = [prefix, ...(issue?.path ?? []).map(String)].filter((part) => part !== "").join(".");
  if (issue?.code === "unrecognized_keys") {
    const name = clip(issue.keys[0] ?? "", 100);
    const field = clip([path, name].filter((part) => part !== "").join("."), 100);
    const free = namesAt(schema, issue.path).filter((known) => !isGiven(value, [...issue.path, known]));
    const meant = sameMeaning(name, free) ?? nearest(name, free);
    const advice = meant === undefined ? "leave it out." : `did you mean "${meant}"?`;
    return new MemoryError("invalid_input", `unknown argument "${field}"; ${advice}`, { field });
  }
  const field = clip(path, 100);
  const sentence = `${field === "" ? "the input" : `${field}:`} ${issue?.message ?? "is not valid"}.`;
  return new MemoryError("invalid_input", sentence, field === "" ? {} : { field });
}

function isGiven(value: unknown, path: readonly PropertyKey[]): boolean {
  const [next, ...rest] = path;
  if (next === undefined) return value !== undefined;
  return (
    typeof value === "object" && value !== null && Object.hasOwn(value, next) && isGiven(Reflect.get(value, next), rest)
  );
}

/** The arguments that the schema knows at a place of the input. */
function namesAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  const { def } = schema._zod as { def: z.core.$ZodTypeDef & Partial<Inner> };
  const inner = def.innerType ?? def.in;
  if (inner !== undefined) return namesAt(inner, path);
  const [next, ...rest] = path;
  if (next === undefined) return Object.keys(def.shape ?? {});
  const part = def.element ?? def.shape?.[String(next)];
  return part === undefined ? [] : namesAt(part, rest);
}

interface Inner {
  readonly innerType: z.core.$ZodType;
  readonly in: z.core.$ZodType;
  readonly element: z.core.$ZodType;
  readonly shape: Readonly<Record<string, z.core.$ZodType>>;
}

/** Messages for problems that a schema has none for: zod's own name types, not what to write. */
const words: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? "is missing" : `must be ${nameOf(issue.expected)}, not ${shown(issue.input)}`;
    case "invalid_value":
      return issue.input === undefined
        ? "is missing"
        : `${shown(issue.input)} is not one of ${issue.values.map(String).join(", ")}`;
    case "too_small":
      return `must ${measured(issue.origin, "least", Number(issue.minimum))}`;
    case "too_big":
      return `must ${measured(issue.origin, "most", Number(issue.maximum))}`;
    default:
      return "is not valid";
  }
};

const NAMES: Readonly<Record<string, string>> = {
  int: "a whole number",
  number: "a number",
  string: "text",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

const nameOf = (expected: string) => NAMES[expected] ?? expected;

function measured(origin: string, bound: "least" | "most", size: number): string {
  const amount = `at ${bound} ${size.toLocaleString("en")}`;
  if (origin === "array") return `have ${amount} ${size === 1 ? "entry" : "entries"}`;
  return origin === "string" ? `have ${amount} ${size === 1 ? "character" : "characters"}` : `be ${amount}`;
}

function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(clip(value, 40));
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
