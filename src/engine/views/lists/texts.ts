import { z } from "zod";
import { shownMemories } from "../../store/history/shown-memories.ts";
import * as f from "../../tools/fields.ts";
import * as v from "../common.ts";
import { defineView } from "../define.ts";

export const Text = z.object({
  id: z.string(),
  type: f.type,
  state: f.state,
  text: z.string().nullable().describe("Null when it was forgotten."),
});

export const viewTexts = defineView({
  name: "view_texts",
  title: "The texts of some memories as they are now",
  input: f.input({ ids: z.array(f.id).max(1_000) }),
  output: f.output({ memories: z.array(Text).describe("Those that are gone are left out.") }),
  async run(call, { ids }) {
    const found = await shownMemories(call.memory.db, v.seenBy(call), ids);
    return {
      memories: [...found.values()].map(({ id, type, state, text }) => ({
        id,
        type,
        text,
        state: f.state.parse(state),
      })),
    };
  },
});
