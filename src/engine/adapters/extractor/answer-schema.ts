/** The schema of an answer as providers take it, and the check of what came back. */

import { z } from "zod";
import { Answer } from "../../domain/learning/answer.ts";
import { isRecord } from "../../domain/record.ts";
import { clip } from "../../domain/text/text.ts";

interface Schema {
  readonly [keyword: string]: unknown;
}

/** Keywords that the strict mode of every provider accepts. Limits and patterns are checked by us: some provider refuses each of them. */
const KEPT = ["type", "enum", "const", "description", "required", "additionalProperties"] as const;

function strict(schema: Schema): Schema {
  const kept: Record<string, unknown> = {};
  for (const keyword of KEPT) if (schema[keyword] !== undefined) kept[keyword] = schema[keyword];
  if (isRecord(schema.properties)) {
    const named = Object.entries(schema.properties).map(([name, inner]) => [
      name,
      isRecord(inner) ? strict(inner) : inner,
    ]);
    kept.properties = Object.fromEntries(named);
    kept.required = Object.keys(schema.properties);
    kept.additionalProperties = false;
  }
  if (isRecord(schema.items)) kept.items = strict(schema.items);
  if (Array.isArray(schema.anyOf)) kept.anyOf = schema.anyOf.map((inner) => (isRecord(inner) ? strict(inner) : inner));
  return kept;
}

/** All properties are required and no others allowed; an absent value is null. */
export const ANSWER_SCHEMA: Schema = strict(z.toJSONSchema(Answer, { io: "output" }) as Schema);

export type Checked =
  | { readonly ok: true; readonly answer: Answer }
  | { readonly ok: false; readonly problems: readonly string[] };

/** A longer list would cost tokens and help no model. */
const MOST_PROBLEMS = 12;
const PROBLEM_CHARS = 200;
/** Opening braces that are tried as the beginning of the answer. */
const MOST_BEGINNINGS = 32;

const isAnswerLike = (value: unknown): value is Schema =>
  isRecord(value) && ("facts" in value || "rules" in value || "confirmations" in value);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Where the object that begins at `from` ends; -1 when it never does. */
function endOfObject(text: string, from: number): number {
  let depth = 0;
  let quoted = false;
  for (let at = from; at < text.length; at++) {
    const sign = text[at];
    if (quoted) {
      if (sign === "\\") at++;
      else if (sign === '"') quoted = false;
    } else if (sign === '"') quoted = true;
    else if (sign === "{") depth++;
    else if (sign === "}" && --depth === 0) return at + 1;
  }
  return -1;
}

/** Models put their JSON into a fence or between sentences. The first object that looks like an answer counts. */
function findJson(text: string): unknown {
  const whole = parsed(text.trim());
  if (whole !== undefined) return whole;
  let from = text.indexOf("{");
  for (let tried = 0; from !== -1 && tried < MOST_BEGINNINGS; tried++) {
    const end = endOfObject(text, from);
    const value = end === -1 ? undefined : parsed(text.slice(from, end));
    if (isAnswerLike(value)) return value;
    from = text.indexOf("{", value === undefined ? from + 1 : end);
  }
  return undefined;
}

function inWords(issue: z.core.$ZodIssue): string {
  const path = issue.path.reduce<string>(
    (all, key) => (typeof key === "number" ? `${all}[${key}]` : all === "" ? String(key) : `${all}.${String(key)}`),
    "",
  );
  const last = issue.path.at(-1);
  let expected = issue.message;
  if (last === "valid_from" || last === "valid_to") expected = "expected a day that exists, as YYYY-MM-DD, or null";
  else if (issue.code === "invalid_format") expected = "expected a label that was shown, such as e1, f2 or r3";
  return clip(`${path === "" ? "the answer" : path}: ${expected}`, PROBLEM_CHARS);
}

/** Lists that are too long come first: they have to be shortened whatever is wrong with their items. */
function problemsOf(error: z.ZodError): readonly string[] {
  const isLength = (issue: z.core.$ZodIssue) => issue.code === "too_big" && issue.path.length === 1;
  const ordered = [...error.issues.filter(isLength), ...error.issues.filter((issue) => !isLength(issue))];
  const told = ordered.slice(0, MOST_PROBLEMS).map(inWords);
  const rest = ordered.length - told.length;
  return rest > 0 ? [...told, `and ${rest} more problems of this kind`] : told;
}

/** `said` is the text of a model, or JSON that was parsed already. */
export function checkAnswer(said: unknown): Checked {
  const json = typeof said === "string" ? findJson(said) : said;
  if (json === undefined) {
    const empty = typeof said !== "string" || said.trim() === "";
    const problem = empty
      ? "the answer was empty"
      : "the answer is not one complete JSON object with facts, rules and confirmations";
    return { ok: false, problems: [problem] };
  }
  const checked = Answer.safeParse(json);
  return checked.success ? { ok: true, answer: checked.data } : { ok: false, problems: problemsOf(checked.error) };
}
