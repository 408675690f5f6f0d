/** Where a call searches: in memory if that is in step with the store, else in the store. */
import { isSealed } from "../../domain/sealed.ts";
import type { Call } from "../memory.ts";
import { type SearchIndex, sqlIndex } from "../recall/search-index.ts";
import { openerFor } from "../sealing.ts";
import { modelIndex } from "./model-index.ts";

export async function indexFor({ memory, caller }: Call): Promise<SearchIndex> {
  const model = await memory.readModel.caughtUp(memory.versions.serving?.version);
  if (model === undefined) return sqlIndex(memory.db, caller.tenant);
  const index = modelIndex(model, caller.tenant);
  return model.holdsSealed() ? unsealedIndex(index, openerFor(memory, caller.tenant)) : index;
}

/** The model holds what is stored: an encrypted fact is decrypted for each answer. */
const unsealedIndex = (index: SearchIndex, open: (text: string) => string): SearchIndex => ({
  ...index,
  async candidates(...asked) {
    const { candidates, evidence } = await index.candidates(...asked);
    return { candidates: openContents(candidates, open), evidence };
  },
  profile: async (...asked) => openContents(await index.profile(...asked), open),
});

const openContents = <T extends { readonly content: string }>(items: readonly T[], open: (text: string) => string) =>
  items.map((item) => (isSealed(item.content) ? { ...item, content: open(item.content) } : item));
