import { z } from "zod";

const lineage = z.string().min(1).max(200);

/** Lineage given by a caller; it comes back in the answer and stands on every event the call causes. */
export const RequestContext = z
  .strictObject({ request_id: lineage, subrequest_id: lineage.optional(), segment_id: lineage.optional() })
  .describe("Lineage of this call: request_id comes back in the answer and stands on every event it causes.");

export type RequestContext = z.infer<typeof RequestContext>;
