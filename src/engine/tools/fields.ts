/** The fields that tool inputs and outputs are made of, each with the words for a wrong value. */
import { z } from "zod";
import { PERMANENCE } from "../domain/lifecycle/decay.ts";
import { canonicalState, VALIDITY } from "../domain/lifecycle/lifecycle.ts";
import { TIERS } from "../domain/lifecycle/tiers.ts";
import { MEMORY_TYPES } from "../domain/memory-types.ts";
import { RequestContext } from "../domain/request.ts";
import { plainShortId } from "../domain/short-id.ts";
import { hasNul, isBlank, isWellFormed, jsonDepth } from "../domain/text/text.ts";

export const input = <S extends z.ZodRawShape>(shape: S) =>
  z.strictObject({ ...shape, request_context: RequestContext.optional() });

export const output = <S extends z.ZodRawShape>(shape: S) =>
  z.object({ ...shape, request_id: z.string().optional().describe("The request_id that was given.") });

/** Checking stops at the first problem: one clear reason is better than four. */
export const text = (max: number) =>
  z
    .string()
    .max(max, { error: `is longer than ${max.toLocaleString("en")} characters; shorten or split it`, abort: true })
    .refine((s) => !hasNul(s), { error: "contains a NUL character; remove it", abort: true })
    .refine(isWellFormed, { error: "contains half of a surrogate pair; send well-formed Unicode", abort: true })
    .refine((s) => !isBlank(s), { error: "is empty or blank" });

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const id = z
  .string()
  .refine((s) => UUID.test(s), { error: "is not an id; ids look like 0198c0de-1234-7abc-8def-0123456789ab" })
  .transform((s) => s.toLowerCase());

/** Of a memory that may be named by the short id that texts show; `tools/call.ts` puts the whole id in its place. */
export const memoryId = z
  .string()
  .refine((s) => UUID.test(s) || plainShortId(s) !== undefined, {
    error: "is not an id; ids look like 0198c0de-1234-7abc-8def-0123456789ab, or in short like k3v9q2ab",
  })
  .transform((s) => plainShortId(s) ?? s.toLowerCase());

const ISO = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$/;

export const time = z
  .string()
  .refine((s) => instantOf(s) !== undefined, { error: "is not a time; write it like 2026-05-01T09:30:00Z" })
  .transform((s) => instantOf(s) ?? new Date(s));

const FIRST_INSTANT = Date.UTC(1000, 0, 1);
const LAST_INSTANT = Date.UTC(9999, 11, 31);

/** A time without a zone is UTC. `Date` takes 30 February for 2 March and years that PostgreSQL refuses; neither was meant. */
function instantOf(text: string): Date | undefined {
  if (!ISO.test(text)) return undefined;
  const day = new Date(text.slice(0, 10));
  if (Number.isNaN(day.getTime()) || !day.toISOString().startsWith(text.slice(0, 10))) return undefined;
  const at = new Date(/[T ]/.test(text) && !/(Z|[+-]\d{2}:?\d{2})$/.test(text) ? `${text}Z` : text);
  return at.getTime() >= FIRST_INSTANT && at.getTime() <= LAST_INSTANT ? at : undefined;
}

export const asOf = time.describe("A past moment: answers with what was known then; slower.");
export const type = z.enum(MEMORY_TYPES);
/** The state of a memory; `forgotten` is read as `retracted`. */
export const state = z.preprocess(canonicalState, z.enum(VALIDITY));
export const tier = z.enum(TIERS);
export const permanence = z.enum(PERMANENCE);
export const importance = z.number().min(0).max(10);
export const confidence = z.number().min(0).max(1);
export const tags = z.array(text(64)).max(32, { error: "has more than 32 tags" });
export const name = text(200);
export const butler = text(64).describe("The calling butler; must be the one this connection belongs to.");
export const scope = text(280).describe('Leave it out unless told: "global", your own name or "<butler>/<project>".');
/** Printable and without spaces: it is part of scopes, headers and file names. */
export const project = text(200).refine((s) => /^[!-~]+$/.test(s), {
  error: "has spaces or characters outside ASCII; a project is named like github.com/acme/app",
});
export const idempotencyKey = text(200).describe("Makes a retry safe: the same key stores nothing twice.");
export const CONTENT_MAX = 100_000;
export const STATEMENT_MAX = 8_000;

const METADATA_DEPTH = 8;
const METADATA_CHARS = 65_536;

/** Anything PostgreSQL's jsonb takes, within reason. */
export const metadata = z
  .record(z.string(), z.unknown())
  .refine((value) => jsonDepth(value) <= METADATA_DEPTH, {
    error: `is nested more than ${METADATA_DEPTH} deep`,
    abort: true,
  })
  .refine((value) => JSON.stringify(value).length <= METADATA_CHARS, {
    error: `is larger than ${METADATA_CHARS} characters of JSON`,
    abort: true,
  })
  .refine(isCleanJson, { error: "contains a NUL character or half of a surrogate pair" });

function isCleanJson(value: unknown): boolean {
  if (typeof value === "string") return !hasNul(value) && isWellFormed(value);
  if (value === null || typeof value !== "object") return true;
  return Object.entries(value).every(([key, child]) => isCleanJson(key) && isCleanJson(child));
}

export const limit = (max: number) => z.number().int().min(1).max(max);

/** Of a time, for models: the day tells them as much. */
export const day = (time: string): string => time.slice(0, 10);

export const redactions = z
  .array(z.object({ kind: z.string(), count: z.number() }))
  .readonly()
  .describe("Secrets that were taken out before storing.");

export const explain = z.boolean().optional().describe("The whole answer, with the numbers behind it.");

export const degraded = z.string().optional().describe("Why this answer is less than it could be.");
