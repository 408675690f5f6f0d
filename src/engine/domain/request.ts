import { z } from "zod";
import { hasNul, isWellFormed } from "./text/text.ts";

/** It is written into events, so it must be text that PostgreSQL can store. */
const lineage = z
  .string()
  .min(1)
  .max(200)
  .refine((s) => !hasNul(s) && isWellFormed(s), { error: "contains a NUL character or half of a surrogate pair" });

/** Lineage given by a caller; it comes back in the answer and stands on every event the call causes. */
export const RequestContext = z
  .strictObject({ request_id: lineage, subrequest_id: lineage.optional(), segment_id: lineage.optional() })
  .describe("Lineage of this call: request_id comes back in the answer and stands on every event it causes.");

export type RequestContext = z.infer<typeof RequestContext>;
