/** One `butler.toml`, checked. What is wrong is said with its file, its key, what was found and what was expected. */
import { parse, TomlError } from "smol-toml";
import { z } from "zod";
import { MemoryError } from "../domain/errors.ts";
import { JOB_NAMES } from "../memory/job.ts";
import { Settings } from "../memory/settings.ts";
import { cronFault } from "./cron.ts";

export const BUTLER_NAME = /^[a-z][a-z0-9_-]{0,31}$/;

const CRON_FIELDS = /^\s*\S+(\s+\S+){4,5}\s*$/;

const SCHEDULED = new Set<string>(JOB_NAMES);

const Schedule = z.record(
  z.string().refine((name) => SCHEDULED.has(name), `a job, one of ${[...SCHEDULED].join(", ")}`),
  z.strictObject({
    cron: z.string().superRefine((line, context) => {
      const expected = 'a cron line of five fields, such as "0 3 * * *"';
      const fault = CRON_FIELDS.test(line) ? cronFault(line) : undefined;
      if (fault !== undefined) context.addIssue(`${expected} (${fault})`);
      else if (!CRON_FIELDS.test(line)) context.addIssue(expected);
    }),
    prompt: z.string().min(1).optional(),
    enabled: z.boolean().default(true),
  }),
);

const ButlerTable = z.strictObject({
  name: z.string().regex(BUTLER_NAME, "a small letter, then at most 31 small letters, digits, _ or -"),
  role: z.enum(["butler", "memory"]).default("butler"),
  tenant: z.string().min(1).max(64).default("default"),
  description: z.string().max(500).default(""),
  schedule: Schedule.default({}),
  runtime: z
    .strictObject({ command: z.string().min(1).optional(), args: z.array(z.string()).default([]) })
    .prefault({}),
});

const ButlerToml = z.strictObject({
  butler: ButlerTable,
  modules: z.strictObject({ memory: Settings.prefault({}) }).prefault({}),
});

export interface ButlerConfig extends z.infer<typeof ButlerTable> {
  readonly memory: Settings;
}

export function parseButlerToml(text: string, file: string): ButlerConfig {
  const document = readToml(text, file);
  const checked = ButlerToml.safeParse(document);
  if (checked.success) return { ...checked.data.butler, memory: checked.data.modules.memory };
  const lines = checked.error.issues.map((issue) => `${file}: ${explain(issue, document)}`);
  const field = checked.error.issues[0]?.path.join(".") ?? "";
  throw new MemoryError("invalid_input", lines.join("\n"), { field });
}

/** A butler that nobody wrote down: everything at its default. */
export function defaultButler(name: string): ButlerConfig {
  return parseButlerToml(`[butler]\nname = ${JSON.stringify(name)}\n`, `${name}/butler.toml`);
}

function readToml(text: string, file: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const what = error.message.split("\n", 1)[0] ?? "it is not TOML";
    throw new MemoryError("invalid_input", `${file}: line ${error.line}, column ${error.column}: ${what}`, {
      cause: error,
    });
  }
}

function explain(issue: z.core.$ZodIssue, document: unknown): string {
  const key = issue.path.join(".");
  if (issue.code === "unrecognized_keys") {
    const names = issue.keys.map((name) => [...issue.path, name].join("."));
    return `${names.join(", ")}: found ${names.length > 1 ? "keys that are" : "a key that is"} not known here, expected ${knownKeys(issue.path)}.`;
  }
  const found = valueAt(document, issue.path);
  return `${key}: found ${found === undefined ? "nothing" : JSON.stringify(found)}, expected ${expectation(issue)}.`;
}

function expectation(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return issue.expected === "record" || issue.expected === "object" ? "a table" : `a ${issue.expected}`;
    case "invalid_value":
      return `one of ${issue.values.map((value) => JSON.stringify(value)).join(", ")}`;
    case "too_small":
      return `at least ${issue.minimum}${issue.origin === "string" ? " characters" : ""}`;
    case "too_big":
      return `at most ${issue.maximum}${issue.origin === "string" ? " characters" : ""}`;
    case "invalid_key":
      return issue.issues[0]?.message ?? "another name";
    default:
      return issue.message;
  }
}

function valueAt(document: unknown, path: readonly PropertyKey[]): unknown {
  let here = document;
  for (const step of path) {
    if (typeof here !== "object" || here === null) return undefined;
    here = Reflect.get(here, step);
  }
  return here;
}

function knownKeys(path: readonly PropertyKey[]): string {
  let schema: unknown = ButlerToml;
  for (const step of path) {
    const table = unwrap(schema);
    schema =
      table instanceof z.ZodObject
        ? table.shape[String(step)]
        : table instanceof z.ZodRecord
          ? table.valueType
          : undefined;
  }
  const table = unwrap(schema);
  return table instanceof z.ZodObject ? `one of ${Object.keys(table.shape).join(", ")}` : "none";
}

function unwrap(schema: unknown): unknown {
  let here = schema;
  while (here instanceof z.ZodOptional || here instanceof z.ZodDefault || here instanceof z.ZodPrefault)
    here = here.unwrap();
  return here;
}
