/** Where a call searches: in memory if that is in step with the store, else in the store. */

import type { ReadModel } from "../../domain/read-model/model.ts";
import { isSealed } from "../../domain/sealed.ts";
import type { Call } from "../memory.ts";
import { type SearchIndex, sqlIndex } from "../recall/search-index.ts";
import { openerFor } from "../sealing.ts";
import { modelIndex } from "./model-index.ts";

/** What a call has searched last: what it reads besides is of the same moment, and takes no second question to the store. */
const searched = new WeakMap<Call, SearchIndex>();

/** As it is now. */
export async function indexFor(call: Call): Promise<SearchIndex> {
  const { memory, caller } = call;
  const version = memory.versions.serving?.version;
  const before = memory.readModel.asKnown?.(version, caller.tenant);
  const now = memory.readModel
    .caughtUp(version, caller.tenant)
    .then((model) => (model === undefined ? sqlIndex(memory.db, caller.tenant) : inMemory(call, model)));
  if (before === undefined) return now;
  const index = laterIndex(before, caller.tenant, now);
  searched.set(call, index);
  return index;
}

/** Of the moment of the search that this call has made, where it has. */
export const indexOf = async (call: Call): Promise<SearchIndex> => searched.get(call) ?? indexFor(call);

function inMemory({ memory, caller }: Call, model: ReadModel): SearchIndex {
  const index = modelIndex(model, caller.tenant);
  return model.holdsSealed() ? unsealedIndex(index, openerFor(memory, caller.tenant)) : index;
}

/** The question can be embedded while the store says what was changed: of what was known before only names are taken, and looked at again. */
function laterIndex(before: ReadModel, tenant: string, now: Promise<SearchIndex>): SearchIndex {
  // Whoever waits for it hears of a failure.
  now.catch(() => undefined);
  return {
    inMemory: true,
    guessSpeakers: (scopes, words) => words.filter((name) => before.lookups.isSpeaker(tenant, scopes, name)).sort(),
    revision: async () => (await now).revision?.(),
    rank: async (...asked) => (await now).rank(...asked),
    speakers: async (...asked) => (await now).speakers(...asked),
    saidBy: async (...asked) => (await now).saidBy(...asked),
    lookAhead: async (...asked) => (await now).lookAhead?.(...asked) ?? [],
    candidates: async (...asked) => (await now).candidates(...asked),
    profile: async (...asked) => (await now).profile(...asked),
    wordsOf: async (...asked) => (await now).wordsOf(...asked),
    placeByMeaning: async (...asked) => (await now).placeByMeaning(...asked),
    origins: async (...asked) => (await now).origins(...asked),
  };
}

/** The model holds what is stored: an encrypted fact is decrypted for each answer. */
const unsealedIndex = (index: SearchIndex, open: (text: string) => string): SearchIndex => ({
  ...index,
  lookAhead: async (...asked) => openContents((await index.lookAhead?.(...asked)) ?? [], open),
  async candidates(...asked) {
    const { candidates, evidence } = await index.candidates(...asked);
    return { candidates: openContents(candidates, open), evidence };
  },
  profile: async (...asked) => openContents(await index.profile(...asked), open),
});

const openContents = <T extends { readonly content: string }>(items: readonly T[], open: (text: string) => string) =>
  items.map((item) => (isSealed(item.content) ? { ...item, content: open(item.content) } : item));
