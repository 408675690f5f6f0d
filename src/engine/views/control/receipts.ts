import { z } from "zod";
import { verifyReceipts } from "../../memory/erase/receipts.ts";
import * as f from "../../tools/fields.ts";
import { defineView } from "../define.ts";

export const viewReceipts = defineView({
  name: "view_receipts",
  title: "How many erasures there were, and whether their receipts are whole",
  input: f.input({}),
  output: f.output({ receipts: z.number(), faults: z.array(z.string()) }),
  async run({ memory, caller }) {
    const { receipts, faults } = await verifyReceipts(memory.db, [caller.tenant]);
    return { receipts, faults: [...faults] };
  },
});
