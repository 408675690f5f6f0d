/** A new link, told with the call that makes it. */
import type { Link, Relation } from "../../domain/link.ts";
import type { MemoryType } from "../../domain/memory-types.ts";
import type { Call } from "../memory.ts";

type End = readonly [type: MemoryType, id: string];

export const linkOf = (
  call: Call,
  [source_type, source_id]: End,
  relation: Relation,
  [target_type, target_id]: End,
): Link => ({
  tenant_id: call.caller.tenant,
  source_type,
  source_id,
  target_type,
  target_id,
  relation,
  request_id: call.request?.request_id ?? null,
  created_at: call.now,
});
