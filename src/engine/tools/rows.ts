/** Rows of a batch are checked one by one, so that one bad row does not lose the others; the schema is still advertised. */
import { z } from "zod";
import { ERROR_CODES } from "../domain/errors.ts";

/** Accepts anything at run time; TypeScript callers are held to the row's own schema. */
export function lenientRow<S extends z.ZodType>(schema: S): z.ZodType<unknown, z.input<S>> {
  const { $schema: _, ...advertised } = z.toJSONSchema(schema, { io: "input" });
  return z.unknown().meta(advertised) as z.ZodType<unknown, z.input<S>>;
}

export const RowError = z.object({
  ok: z.literal(false),
  error: z.object({ code: z.enum(ERROR_CODES), message: z.string(), field: z.string().optional() }),
});
