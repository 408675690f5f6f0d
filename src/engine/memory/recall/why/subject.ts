/** The memory that is asked about, in whatever state it is, and the facts that are told instead of it. */
import { notFound } from "../../../domain/errors.ts";
import { isLive } from "../../../domain/lifecycle/lifecycle.ts";
import { canSee } from "../../../domain/scope.ts";
import { findEpisode } from "../../../store/memories/episodes.ts";
import { findFact } from "../../../store/memories/facts.ts";
import { linksOf } from "../../../store/memories/links.ts";
import { type Rival, rivalsOf } from "../../../store/memories/present.ts";
import { findRule } from "../../../store/memories/rules.ts";
import type { Found } from "../../find.ts";
import type { Call } from "../../memory.ts";
import { lookOf, type RetrieveQuery } from "../retrieve.ts";

/** Unlike every other read it also finds an expired episode: that it has expired is the answer. */
export async function findAnyState({ memory: { db }, caller }: Call, id: string): Promise<Found> {
  const { tenant } = caller;
  const [episode, fact, rule] = await Promise.all([
    findEpisode(db, tenant, id),
    findFact(db, tenant, id),
    findRule(db, tenant, id),
  ]);
  const found: Found | undefined =
    (episode && { type: "episode", scope: episode.butler, row: episode }) ??
    (fact && { type: "fact", scope: fact.scope, row: fact }) ??
    (rule && { type: "rule", scope: rule.scope, row: rule });
  if (found === undefined || !canSee(caller, found.scope))
    throw notFound(`no memory with the id ${id}; search for it first.`);
  return found;
}

export async function successorOf({ memory, caller }: Call, { type, row }: Found): Promise<string | undefined> {
  if (type !== "fact" || row.validity !== "superseded") return undefined;
  const links = await linksOf(memory.db, caller.tenant, row.id, undefined);
  return links.find((link) => link.relation === "supersedes" && link.target_id === row.id)?.source_id;
}

export async function rivalsFor(call: Call, { type, row }: Found, { ladder }: RetrieveQuery): Promise<Rival[]> {
  if (type !== "fact" || !isLive(row.validity)) return [];
  return rivalsOf(call.memory.db, call.caller.tenant, row.id, lookOf(call, ladder));
}
