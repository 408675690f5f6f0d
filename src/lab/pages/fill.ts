/**
 * Fills the store of `butler bench pages`. Words and vectors are indexed as `butler bench scale` does it; rows, links and events are
 * written in bulk, each in the form that the tools would have given it.
 */

import { type Fact, factText } from "../../engine/domain/fact.ts";
import { DAY_MS, DECAY_PER_DAY, RULE_DECAY_PER_DAY } from "../../engine/domain/lifecycle/decay.ts";
import { normaliseKey } from "../../engine/domain/text/text.ts";
import type { Memory } from "../../engine/memory/memory.ts";
import { asOwner } from "../../engine/memory/tenancy.ts";
import { insertRows } from "../../engine/store/memories/rows.ts";
import type { Progress } from "../build.ts";
import { turnOf } from "../hooks/sessions.ts";
import { fillKinds, type Kind, kindOf } from "../scale/fill.ts";
import { episodeText, type Pick as Picker, picker, ruleText } from "../sentences.ts";
import { planEvents, putEvents, putLinks, putMarks, putRuns, tidyPages } from "../sql/pages.ts";
import { BUTLER, NOW, planFacts, READERS, SCOPES, type Sizes, scopeOf, TAGS, timeOf } from "./plan.ts";

const TENANT = "default";
const OF_A_RUN = 25;
const PENDING = 150;
/** A share of 1 in this many episodes is one that nobody could learn from. */
const DEAD = 167;
/** Events are written for so many parts of the year, one after the other. */
const PARTS = 52;
const TEN_YEARS = 3_650 * DAY_MS;

const born = { tenant_id: TENANT, source_butler: BUTLER };
const ago = (days: number) => new Date(NOW.getTime() - days * DAY_MS);

export async function fillPages(memory: Memory, sizes: Sizes, samples: number, progress: Progress): Promise<void> {
  const told: Told = { runs: runsOf(memory, sizes), episodes: [] };
  const kinds = [episodes(memory, sizes, told), facts(memory, sizes, told), rules(memory, sizes)];
  await fillKinds(memory, kinds, samples, progress);
  progress(0, PARTS, "links, marks and runs");
  await putRuns(asOwner(memory, "lab"), TENANT, BUTLER, told.runs, told.episodes, OF_A_RUN);
  await putMarks(asOwner(memory, "lab"));
  await putLinks(asOwner(memory, "lab"));
  await planEvents(asOwner(memory, "lab"), sizes.events, NOW);
  for (let part = 0; part < PARTS; part++) {
    progress(part, PARTS, "events");
    const end = part === PARTS - 1 ? new Date(NOW.getTime() + 1) : timeOf(part + 0.5, PARTS);
    await putEvents(asOwner(memory, "lab"), TENANT, BUTLER, timeOf(part - 0.5, PARTS), end);
  }
  await tidyPages(asOwner(memory, "lab"));
}

interface Run {
  readonly id: string;
  readonly at: Date;
  readonly from: number;
}

/** What facts are learned from. */
interface Told {
  readonly runs: readonly Run[];
  /** The ids of the episodes, filled in as they are made. */
  readonly episodes: string[];
}

const runsOf = ({ ids }: Memory, { episodes: count }: Sizes): Run[] =>
  Array.from({ length: Math.ceil(Math.max(0, count - PENDING) / OF_A_RUN) }, (_, nth) => {
    const at = timeOf((nth + 1) * OF_A_RUN, count);
    return { id: ids.next(at), at, from: nth * OF_A_RUN };
  });

const EPISODE =
  `id butler session_id ordinal speaker content content_key tier consolidation_status consolidation_attempts
  last_consolidation_error occurred_at expires_at tenant_id source_butler source created_at importance tags trust`.split(
    /\s+/,
  );

function episodes(memory: Memory, sizes: Sizes, told: Told): Kind<unknown> {
  const db = asOwner(memory, "lab");
  const count = sizes.episodes;
  const expires_at = new Date(NOW.getTime() + TEN_YEARS);
  return kindOf({
    type: "episode",
    count,
    scopes: SCOPES,
    at: (index) => timeOf(index, count),
    visibleUntil: expires_at,
    draft: (p, index, id) => {
      told.episodes[index] = id;
      // Some are exchanges of a whole page.
      const content = Array.from({ length: p.chance(0.05) ? 20 : 1 }, () => episodeText(p)).join(" ");
      const turn = turnOf(index);
      const butler = scopeOf(picker(Math.floor(index / 20) + 17));
      const own = butler === "global" ? BUTLER : butler;
      const at = timeOf(index, count);
      const row = {
        ...born,
        ...{ id, butler: own, speaker: null, ...turn, content, content_key: keyOf(index) },
        ...{ tier: p.chance(0.8) ? "eden" : p.chance(0.75) ? "mid" : "long", ...standing(index, count) },
        ...{ occurred_at: at, expires_at, source: `session:${turn.session_id}`, created_at: at },
        ...{ importance: p.number(10), tags: tagsOf(p), trust: p.chance(0.5) ? "user" : "agent" },
      };
      return { row, scope: own, text: content };
    },
    put: async (rows) => void (await insertRows(db, "episodes", EPISODE, rows)),
  });
}

function standing(index: number, count: number) {
  if (index >= count - PENDING) return { consolidation_status: "pending", consolidation_attempts: 0 };
  if (index % DEAD === 0)
    return {
      consolidation_status: index % 2 === 0 ? "dead_letter" : "failed",
      consolidation_attempts: 5,
      last_consolidation_error: "the answer named an episode that it was not given",
    };
  return { consolidation_status: "consolidated", consolidation_attempts: 1 };
}

const keyOf = (index: number) => `\\x${index.toString(16).padStart(16, "0")}`;
const tagsOf = (p: Picker): string[] => (p.chance(0.3) ? [p.of(TAGS)] : []);

const FACT =
  `id subject predicate subject_text predicate_text content scope validity permanence supersedes_id superseded_at
  forgotten_at forget_reason confidence decay_rate last_confirmed_at tenant_id source_butler source source_episode_id created_at
  importance tags metadata trust`.split(/\s+/);

function facts(memory: Memory, sizes: Sizes, told: Told): Kind<unknown> {
  const db = asOwner(memory, "lab");
  const planned = planFacts(sizes.facts);
  const count = planned.length;
  const made: string[] = [];
  return kindOf({
    type: "fact",
    count,
    scopes: SCOPES,
    at: (index) => timeOf(index, count),
    visibleUntil: undefined,
    draft: (p, index, id) => {
      const { scope, subject, predicate, content, before, after } = planned[index] as (typeof planned)[number];
      made[index] = id;
      const at = timeOf(index, count);
      const nth = Math.floor((index / count) * told.runs.length);
      const run = p.chance(0.7) ? told.runs[nth] : undefined;
      const from = told.episodes[nth * OF_A_RUN + (index % OF_A_RUN)];
      const state = lifeOf(p, at, after === undefined ? undefined : timeOf(after, count));
      const row = {
        ...born,
        ...{ id, scope, subject: normaliseKey(subject), predicate: normaliseKey(predicate) },
        ...{ subject_text: subject, predicate_text: predicate, content, confidence: 1, created_at: at, ...state },
        ...{ supersedes_id: before === undefined ? null : made[before], importance: p.number(7), tags: tagsOf(p) },
        source_episode_id: run === undefined ? null : (from ?? null),
        source: run === undefined ? "manual" : `consolidation:${run.id}`,
        metadata: run === undefined ? {} : { learned: { by: p.of(READERS) } },
        trust: p.chance(0.6) ? "user" : p.chance(0.8) ? "agent" : "imported",
      };
      return { row, scope, text: factText(row), hidden: state.validity !== "active" && state.validity !== "fading" };
    },
    put: async (rows) => void (await insertRows(db, "facts", FACT, rows)),
  });
}

type Life = Pick<Fact, "validity" | "permanence" | "decay_rate" | "last_confirmed_at"> &
  Partial<Pick<Fact, "superseded_at" | "forgotten_at" | "forget_reason">>;

/** What has become of a fact: states that fit the times and rates of its decay. */
function lifeOf(p: Picker, at: Date, replaced: Date | undefined): Life {
  const standard = { permanence: "standard", decay_rate: DECAY_PER_DAY.standard } as const;
  const volatile = { permanence: "volatile", decay_rate: DECAY_PER_DAY.volatile } as const;
  const luck = p.number(100);
  if (replaced !== undefined)
    return { validity: "superseded", ...standard, last_confirmed_at: at, superseded_at: replaced };
  if (luck < 8 && at < ago(70)) return { validity: "fading", ...volatile, last_confirmed_at: ago(70) };
  if (luck >= 8 && luck < 11 && at < ago(150)) return { validity: "expired", ...volatile, last_confirmed_at: at };
  if (luck >= 11 && luck < 14 && at < ago(1))
    return {
      ...{ validity: "retracted", ...standard, last_confirmed_at: at, forget_reason: "no longer true" },
      forgotten_at: new Date((at.getTime() + NOW.getTime()) / 2),
    };
  return { validity: "active", ...standard, last_confirmed_at: at < ago(90) ? ago(90) : at };
}

const RULE =
  `id content content_key original_content scope maturity validity effectiveness_score applied_count success_count
  harmful_count last_applied_at confidence decay_rate last_confirmed_at tenant_id source_butler source created_at importance tags
  metadata trust`.split(/\s+/);

function rules(memory: Memory, sizes: Sizes): Kind<unknown> {
  const db = asOwner(memory, "lab");
  const count = sizes.rules;
  return kindOf({
    type: "rule",
    count,
    scopes: SCOPES,
    at: (index) => timeOf(index, count),
    visibleUntil: undefined,
    draft: (p, index, id) => {
      const scope = scopeOf(p);
      const text = ruleText(p);
      const at = timeOf(index, count);
      const helpful = p.number(17);
      const harmful = p.chance(0.15) ? 1 + p.number(5) : 0;
      const effectiveness = helpful / (helpful + 4 * harmful + 0.01);
      const warns = harmful >= 3 && effectiveness < 0.3;
      const content = warns ? `Do not: ${text}` : text;
      const maturity =
        effectiveness >= 0.8 && helpful >= 15
          ? "proven"
          : effectiveness >= 0.6 && helpful >= 5
            ? "established"
            : "candidate";
      const row = {
        ...born,
        ...{ id, content, content_key: keyOf(index), original_content: warns ? text : null, scope, validity: "active" },
        ...{ maturity: warns ? "anti_pattern" : maturity, effectiveness_score: effectiveness, success_count: helpful },
        ...{
          harmful_count: harmful,
          applied_count: helpful + harmful,
          last_applied_at: helpful + harmful > 0 ? NOW : null,
        },
        ...{
          confidence: 0.5,
          decay_rate: RULE_DECAY_PER_DAY,
          last_confirmed_at: new Date(Math.max(at.getTime(), ago(90).getTime())),
          source: "manual",
        },
        ...{
          created_at: at,
          importance: p.number(10),
          tags: tagsOf(p),
          metadata: {},
          trust: p.chance(0.6) ? "user" : "agent",
        },
      };
      return { row, scope, text: content };
    },
    put: async (rows) => void (await insertRows(db, "rules", RULE, rows)),
  });
}
