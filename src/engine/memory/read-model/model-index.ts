/** The index of a search from memory: for one tenant, whose shelves the caller names. */

import { isLive } from "../../domain/lifecycle/lifecycle.ts";
import { isKeptOut } from "../../domain/lifecycle/quarantine.ts";
import type { Look } from "../../domain/present.ts";
import { readWhole } from "../../domain/ranking/words/best-first.ts";
import { dateOf, type ReadModel } from "../../domain/read-model/model.ts";
import type { ReadRow } from "../../domain/read-model/rows.ts";
import { MOST_SAID } from "../../store/memories/names.ts";
import type { Origin } from "../../store/memories/origins.ts";
import type { ProfileItem } from "../../store/memories/profile.ts";
import type { SearchIndex } from "../recall/search-index.ts";
import { type Ahead, gather, isTheValue, lookAhead } from "./gather.ts";
import { placeByMeaning } from "./nearest.ts";

export function modelIndex(model: ReadModel, tenant: string): SearchIndex {
  const { words, lookups } = model;
  let ahead: { readonly revision: object; readonly seen: Ahead } | undefined;
  return {
    inMemory: true,
    revision: async () => model.revision(),
    async rank(asked, groups, depth) {
      const { rankings, statistics } = words.rank(asked, groups, depth);
      // While the model has the question: a ranking remembers its best.
      for (const ranking of rankings) ranking.top(depth(statistics.n));
      return { rankings: rankings.map(readWhole), statistics };
    },
    speakers: async (scopes, asked) => asked.filter((name) => lookups.isSpeaker(tenant, scopes, name)).sort(),
    async saidBy(names, sks) {
      const said = lookups.saidBy(tenant, names);
      if (said.length > MOST_SAID) return undefined;
      const wanted = new Set(sks);
      const ids = said.filter((slot) => wanted.has(words.shelfOf(slot) ?? -1)).map(model.idOf);
      return ids.length === 0 ? undefined : { slots: new Map(), ids: new Set(ids) };
    },
    async lookAhead(hits, filters, around) {
      const found = await hits();
      const seen = lookAhead({ model, tenant, filters, around }, found);
      ahead = { revision: model.revision(), seen };
      return [...seen.candidates.values()];
    },
    async candidates(hits, arm, filters, around) {
      const seen = ahead?.revision === model.revision() ? ahead.seen : undefined;
      return gather({ model, tenant, filters, around }, hits, arm, seen);
    },
    profile: async (look, limit) => [
      ...first(model, tenant, "fact", look, limit),
      ...first(model, tenant, "rule", look, limit),
    ],
    async wordsOf(id) {
      const slot = model.slotOf(id);
      const sk = slot === undefined ? undefined : words.shelfOf(slot);
      const filed = slot === undefined ? undefined : words.forwardOf(slot);
      return sk === undefined || filed === undefined ? undefined : { sk, slot: null, words: filed };
    },
    placeByMeaning: async (id, arm, sks, filters) => placeByMeaning(model, tenant, id, arm, sks, filters),
    origins: async (ids, until) => ids.flatMap((id) => originsOf(model, tenant, id, until)),
  };
}

const isInProfile = (model: ReadModel, slot: number, row: ReadRow, look: Look): boolean =>
  row.type === "rule" ||
  ((row.valid_to === null || row.valid_to > look.now.getTime()) && isTheValue(model, slot, row, look));

/** The most important of what lasts. A row is looked at closely only where it would be among them. */
function first(model: ReadModel, tenant: string, type: "fact" | "rule", look: Look, limit: number): ProfileItem[] {
  const best: ReadRow[] = [];
  for (const scope of look.ladder ?? [])
    for (const slot of model.lookups.lasting(tenant, scope, type)) {
      const row = model.rowAt(slot);
      const last = best.length < limit ? undefined : best.at(-1);
      if (row === undefined || (last !== undefined && byImportance(row, last) > 0)) continue;
      if (!isLive(row.state) || isUntold(row) || !isInProfile(model, slot, row, look)) continue;
      const at = best.findIndex((other) => byImportance(row, other) < 0);
      best.splice(at === -1 ? best.length : at, 0, row);
      if (best.length > limit) best.pop();
    }
  return best.map(profileItem);
}

const byImportance = (a: ReadRow, b: ReadRow) =>
  b.importance - a.importance || b.created_at - a.created_at || (a.id < b.id ? -1 : 1);

const isUntold = ({ trust, corroborated_at }: ReadRow): boolean =>
  isKeptOut({ trust, corroborated_at: dateOf(corroborated_at) });

const profileItem = (row: ReadRow): ProfileItem => ({
  type: row.type === "fact" ? "fact" : "rule",
  id: row.id,
  content: row.content,
  importance: row.importance,
  subject_text: row.subject ?? "",
  predicate_text: row.predicate ?? "",
  permanence: row.permanence ?? "",
  confidence: row.confidence,
  decay_rate: row.decay_rate,
  last_confirmed_at: new Date(row.last_confirmed_at),
});

function originsOf(model: ReadModel, tenant: string, id: string, until: Date): Origin[] {
  const slot = model.slotOf(id);
  const links = slot === undefined ? [] : model.linksOf(slot);
  // What was stored by hand was learned nowhere.
  if (slot === undefined || links.length === 0 || model.rowAt(slot)?.tenant_id !== tenant) return [];
  const known = links.filter(({ at }) => at <= until.getTime());
  return [...new Set(known.map(({ episode }) => episode))].map((episode) => {
    const at = model.slotOf(episode);
    return { id, episode, session: (at === undefined ? undefined : model.rowAt(at)?.session_id) ?? null };
  });
}
