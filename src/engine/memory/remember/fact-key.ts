/** The facts under one key, locked: the one that is true now, and those whose `valid_from` lies ahead. */

import type { Fact, FactKey } from "../../domain/fact.ts";
import { isWeaker } from "../../domain/learning/trust.ts";
import { next } from "../../domain/lifecycle/lifecycle.ts";
import { standingOf } from "../../domain/lifecycle/quarantine.ts";
import type { Link } from "../../domain/link.ts";
import { hasBegun } from "../../domain/present.ts";
import { ownSteps } from "../../domain/scope.ts";
import { changeFact, type FactChange, lockFacts } from "../../store/memories/facts.ts";
import { insertLinks } from "../../store/memories/links.ts";
import type { Call } from "../memory.ts";
import type { Writing } from "../write.ts";
import { doubtFact } from "./contradict-fact.ts";
import { hideFromSearch } from "./index-memory.ts";
import { linkOf } from "./links.ts";

export interface KeyHolders {
  readonly live: Fact | undefined;
  readonly waiting: readonly Fact[];
}

/** Facts that have begun meanwhile become the live one first, so that a writer decides on what every reader sees. */
export async function holdersOf(call: Call, writing: Writing, key: FactKey): Promise<KeyHolders> {
  const all = await lockFacts(writing.sql, key);
  let live = all.find(({ waits_until }) => waits_until === null);
  const waiting = all.filter(({ waits_until }) => waits_until !== null);
  for (const due of waiting.filter((fact) => hasBegun(fact, call.now))) live = await begin(call, writing, due, live);
  return { live, waiting: waiting.filter((fact) => !hasBegun(fact, call.now)) };
}

/**
 * The scope of a fact. Without a given one it goes to the narrowest step that holds a value of its key, if that is narrower than
 * the usual step: stored on the wider one, the correction would lose against the old value.
 */
export async function stepOf(call: Call, writing: Writing, fact: Fact, asked: string | undefined): Promise<string> {
  if (asked !== undefined) return fact.scope;
  const steps = ownSteps(call.caller);
  // The narrowest first, here and everywhere: writers that lock several steps of a key do so in the same order.
  for (const scope of steps.slice(steps.indexOf(fact.scope) + 1).toReversed()) {
    const { live } = await holdersOf(call, writing, { ...fact, scope });
    if (live !== undefined && (live.valid_to === null || live.valid_to > call.now)) return scope;
  }
  return fact.scope;
}

/** A waiting fact begins. It supersedes what was true until then, unless that comes from a better trusted source. */
async function begin(call: Call, writing: Writing, due: Fact, live: Fact | undefined): Promise<Fact> {
  const isOver = live !== undefined && live.valid_to !== null && live.valid_to <= call.now;
  if (live !== undefined && !isOver && isWeaker(due.trust, standingOf(live))) {
    const link = linkOf(call, ["fact", due.id], "contradicts", ["fact", live.id]);
    await change(writing, due, "fact.expired", { validity: next(due.validity, "expire"), waits_until: null }, [link]);
    await hideFromSearch(writing.sql, [due.id], call.now);
    await doubtFact(call, writing, live, { claim: due.content, by: due.id });
    return live;
  }
  if (live !== undefined) await retire(call, writing, live, due.id);
  const set: FactChange = { waits_until: null, supersedes_id: live?.id ?? due.supersedes_id };
  const links = live === undefined ? [] : [linkOf(call, ["fact", due.id], "supersedes", ["fact", live.id])];
  await change(writing, due, "fact.began", set, links);
  return { ...due, ...set };
}

async function change(
  { sql, tell }: Writing,
  fact: Fact,
  type: string,
  set: FactChange,
  links: readonly Link[],
): Promise<void> {
  await changeFact(sql, fact.id, fact.validity, set);
  await insertLinks(sql, links);
  const payload = { set, from: fact.validity, waited_until: fact.waits_until, links };
  tell({ type, entity: { type: "fact", id: fact.id }, scope: fact.scope, payload });
}

export async function retire(call: Call, { sql, tell }: Writing, live: Fact, by: string): Promise<void> {
  const set: FactChange = { validity: next(live.validity, "supersede"), superseded_at: call.now };
  await changeFact(sql, live.id, live.validity, set);
  await hideFromSearch(sql, [live.id], call.now);
  tell({
    type: "fact.superseded",
    entity: { type: "fact", id: live.id },
    scope: live.scope,
    payload: { set, from: live.validity, superseded_by: by },
  });
}
