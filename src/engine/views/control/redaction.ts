import { z } from "zod";
import { redactStored } from "../../memory/erase/redact-stored.ts";
import * as f from "../../tools/fields.ts";
import { defineControl } from "../define.ts";

export const controlRedaction = defineControl({
  name: "control_redaction",
  title: "Look through what is stored for secrets, and take them out",
  input: f.input({ dry_run: z.boolean().optional().describe("Only counts.") }),
  output: f.output({
    receipt_id: z.string().nullable(),
    dry_run: z.boolean(),
    found: z.array(z.object({ kind: z.string(), where: z.string(), count: z.number() })),
    rows: z.record(z.string(), z.number()).describe("Rows that hold something, by table."),
    memories: z.array(z.object({ type: z.string(), id: z.string() })),
    left: z.array(z.string()).describe("What only somebody else can do."),
  }),
  // The openings that are kept ready may hold it, and are removed before.
  effect: "forget",
  async run(call, input) {
    const { found, memories, left, rows, ...answer } = await redactStored(call, input.dry_run === true);
    return { ...answer, found: [...found], memories: [...memories], left: [...left], rows: { ...rows } };
  },
});
