/** Gathers what a decision needs: the vectors of what was learned, and the memories near it with their evidence. */

import type { Sql } from "../../adapters/db/port.ts";
import { mapAhead } from "../../adapters/turns.ts";
import type { Answer } from "../../domain/learning/answer.ts";
import type { Known } from "../../domain/learning/change.ts";
import { subjectOf } from "../../domain/learning/person.ts";
import { standingOf } from "../../domain/lifecycle/quarantine.ts";
import { ladderOf } from "../../domain/scope.ts";
import { normaliseKey } from "../../domain/text/text.ts";
import { comparedAs } from "../../store/index/vectors.ts";
import {
  type Evidence,
  evidenceOf,
  knownFacts,
  knownRules,
  type Near,
  type NearQuery,
  nearest,
} from "../../store/jobs/consolidation-known.ts";
import { dueKeys } from "../../store/memories/facts.ts";
import { type Vectors, vectorsOf } from "../embed.ts";
import { stopIfCancelled, tellShare } from "../following.ts";
import type { Call } from "../memory.ts";
import { nearKnown } from "../read-model/near-known.ts";
import { holdersOf } from "../remember/fact-key.ts";
import { indexedFact } from "../sealing.ts";
import type { Writing } from "../write.ts";

/** More than the keys of one answer. */
const MOST_DUE = 1_000;

/** Ids of the memories that the extractor was shown, by label. */
export type Shown = ReadonlyMap<string, string>;

export interface Embeddings {
  readonly facts: readonly (Vectors | undefined)[];
  readonly rules: readonly (Vectors | undefined)[];
}

/** Called before the transaction: the model needs milliseconds for each text, and no lock should be held meanwhile. */
export async function embedLearned(call: Call, answer: Answer): Promise<Embeddings> {
  const facts = answer.facts.map((fact) =>
    indexedFact(call.memory, { subject_text: fact.subject, predicate_text: fact.predicate, content: fact.content }),
  );
  const total = facts.length + answer.rules.length;
  let done = 0;
  const embed = async (text: string) => {
    stopIfCancelled(call);
    const vectors = await vectorsOf(call.memory, text);
    done += 1;
    tellShare(call, done, total, "read and embedded");
    return vectors;
  };
  return {
    facts: await mapAhead(facts, embed),
    rules: await mapAhead(
      answer.rules.map(({ content }) => content),
      embed,
    ),
  };
}

/** Called inside the transaction, and locks what it reads: nothing changes between the decision and its writing. */
export async function gatherKnown(
  call: Call,
  writing: Writing,
  answer: Answer,
  embeddings: Embeddings,
  shown: Shown,
): Promise<Known> {
  const { sql } = writing;
  const { tenant, butler } = call.caller;
  const scopes = ladderOf(butler);
  const near = {
    fact: await nearestKnown(call, sql, "fact", scopes, embeddings.facts),
    rule: await nearestKnown(call, sql, "rule", scopes, embeddings.rules),
  };
  const keys = answer.facts.map((fact) => ({
    subject: subjectOf(fact.subject),
    predicate: normaliseKey(fact.predicate),
  }));
  for (const due of await dueKeys(sql, call.now, MOST_DUE, { tenant, scopes, keys }))
    await holdersOf(call, writing, due);
  const labels = new Map([...shown].map(([label, id]) => [id, label]));
  const facts = await knownFacts(sql, tenant, scopes, keys, [...near.fact.map(({ id }) => id), ...labels.keys()]);
  const rules =
    answer.rules.length === 0 && answer.confirmations.length === 0
      ? []
      : await knownRules(sql, tenant, scopes, [...near.rule.map(({ id }) => id), ...labels.keys()]);
  const evidence = byMemory(
    await evidenceOf(
      sql,
      [...facts, ...rules].map(({ id }) => id),
    ),
  );
  const cosines = {
    fact: new Map(near.fact.map(({ nth, id, cosine }) => [`${nth} ${id}`, cosine])),
    rule: new Map(near.rule.map(({ nth, id, cosine }) => [`${nth} ${id}`, cosine])),
  };
  return {
    facts: facts.map(({ corroborated_at, ...fact }) => {
      const all = evidence.get(fact.id) ?? [];
      const witnesses = all.filter(({ against }) => !against);
      return {
        ...fact,
        trust: standingOf({ ...fact, corroborated_at }),
        label: labels.get(fact.id),
        observed_at: lastSeen(witnesses) ?? fact.observed_at,
        witnesses: new Set(witnesses.map(({ episode }) => episode)),
        disputers: new Set(all.filter(({ against }) => against).map(({ episode }) => episode)),
      };
    }),
    rules: rules.map(({ corroborated_at, ...rule }) => ({
      ...rule,
      trust: standingOf({ ...rule, corroborated_at }),
      label: labels.get(rule.id),
      witnesses: new Set((evidence.get(rule.id) ?? []).map(({ episode }) => episode)),
    })),
    likeness: (kind, nth, id) => cosines[kind].get(`${nth} ${id}`) ?? 0,
  };
}

async function nearestKnown(
  { memory, caller, now }: Call,
  sql: Sql,
  type: "fact" | "rule",
  scopes: readonly string[],
  embedded: readonly (Vectors | undefined)[],
): Promise<Near[]> {
  const version = memory.versions.serving?.version;
  if (version === undefined) return [];
  const given = embedded.flatMap((vectors, nth) => {
    const vector = vectors?.find((made) => made.version === version)?.vector;
    return vector === undefined ? [] : [{ nth, vector }];
  });
  const first = given[0]?.vector;
  if (first === undefined) return [];
  const shelves = await memory.shelves.of(caller.tenant, scopes, sql);
  const asked: NearQuery = {
    version,
    as: comparedAs(memory.db.kind, first.length),
    type,
    sks: shelves.filter((shelf) => shelf.type === type).map(({ sk }) => sk),
    vectors: given.map(({ vector }) => vector),
    now,
  };
  const model = memory.readModel.inStep?.(version);
  const found = await (model === undefined ? nearest(sql, asked) : nearKnown(model, sql, asked));
  return found.map((one) => ({ ...one, nth: given[one.nth]?.nth ?? 0 }));
}

function byMemory(evidence: readonly Evidence[]): Map<string, Evidence[]> {
  const grouped = new Map<string, Evidence[]>();
  for (const one of evidence) grouped.set(one.id, [...(grouped.get(one.id) ?? []), one]);
  return grouped;
}

function lastSeen(witnesses: readonly Evidence[]): Date | undefined {
  const times = witnesses.flatMap(({ occurred_at }) => (occurred_at === null ? [] : [occurred_at.getTime()]));
  return times.length === 0 ? undefined : new Date(Math.max(...times));
}
