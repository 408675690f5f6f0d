/**
 * Promotes episodes that keep being referenced: eden → mid → long.
 *
 * The row stays the same and so do its id, links, references and history. Search and context show its summary instead of its
 * text, which stays in the row. It is still found by all words of the text: an episode that was promoted because of a detail
 * must be found by that detail.
 */
import { distil } from "../../domain/learning/distil.ts";
import { EXCHANGE_FORMAT, withoutToolWords } from "../../domain/learning/exchange.ts";
import { isAboutPerson, isPerson } from "../../domain/learning/person.ts";
import { MOST_CONFIDENT } from "../../domain/learning/trust.ts";
import { inTierSince, promotedTo } from "../../domain/lifecycle/promotion.ts";
import { expiryOf, seenUntil, type Tier } from "../../domain/lifecycle/tiers.ts";
import { learnedScope } from "../../domain/scope.ts";
import { SUMMARY_SIZE, summarise } from "../../domain/text/summary.ts";
import { normaliseKey } from "../../domain/text/text.ts";
import { appendForTenants } from "../../store/history/events.ts";
import {
  type Candidate,
  derivedFrom,
  factKnown,
  findRising,
  type Raised,
  raiseEpisodes,
  readCandidates,
  ruleKnown,
} from "../../store/jobs/promotion.ts";
import { FIRST_ID } from "../../store/jobs/sweep.ts";
import { nextBeginning } from "../../store/memories/facts.ts";
import type { Reference } from "../../store/memories/references.ts";
import type { Call } from "../memory.ts";
import { rememberFact } from "../remember/store-fact.ts";
import { rememberRule, ruleKey } from "../remember/store-rule.ts";
import { promotionBar, tierPolicy } from "../settings.ts";
import { eventOf } from "../write.ts";
import { beginFacts } from "./begin-facts.ts";
import { defineJob, type JobContext } from "./job.ts";
import { type JobTally, jobCall, newTally } from "./job-call.ts";

const NAME = "promote";
const BATCH = 50;

export const promote = defineJob({
  name: NAME,
  about:
    "Episodes that are referenced from several sessions and days rise to the next tier, summarised on the way; facts whose day has come take their place.",
  cron: "0 * * * *",
  dueAt: ({ db }) => nextBeginning(db),
  async run(context) {
    const tally = newTally();
    if (!(await beginFacts(context, NAME, tally))) return tally.report(false);
    // Eden first, so that one run promotes as far as two would.
    const complete = (await raise(context, "eden", tally)) && (await raise(context, "mid", tally));
    return tally.report(complete);
  },
});

async function raise(context: JobContext, from: "eden" | "mid", tally: JobTally): Promise<boolean> {
  const { memory, now } = context;
  const bar = promotionBar(memory.settings, from);
  for (let after: string | undefined = FIRST_ID; after !== undefined; ) {
    if (context.interrupted()) return false;
    const ids: string[] = await findRising(memory.db, from, bar, now, after, BATCH);
    const risen = ids.length === 0 ? [] : await raiseBatch(context, from, ids);
    for (const { id, to, told } of risen) {
      tally.count(`promoted_to_${to}`);
      tally.note(`episode ${id}: ${from} → ${to}${told === "" ? "" : `, with ${told}`}`);
    }
    after = ids.length < BATCH ? undefined : ids.at(-1);
  }
  return true;
}

interface Risen {
  readonly id: string;
  readonly to: Tier;
  readonly told: string;
}

async function raiseBatch(context: JobContext, from: "eden" | "mid", ids: readonly string[]): Promise<Risen[]> {
  const { memory } = context;
  const distilled = new Map<string, readonly Reference[]>();
  // Before the promotion, in a transaction of their own: a run that was cut off in between finds them again by their link.
  if (from === "mid" && !context.dryRun)
    for (const episode of await readCandidates(memory.db, ids, false))
      if (toTier(context, from, episode) === "long") distilled.set(episode.id, await distilFrom(context, episode));

  return memory.db.tx(async (sql) => {
    const rising = (await readCandidates(sql, ids, !context.dryRun)).flatMap((episode) => {
      const to = toTier(context, from, episode);
      return to === undefined ? [] : [{ episode, to, raised: raisedOf(context, episode, to) }];
    });
    const told = rising.map(({ episode: { id }, to }) => ({ id, to, told: wordsOf(distilled.get(id) ?? []) }));
    if (context.dryRun || rising.length === 0) return told;
    await raiseEpisodes(
      sql,
      rising.map(({ raised }) => raised),
    );
    await appendForTenants(
      sql,
      rising.map(({ episode, raised }) => eventFor(context, episode, raised, distilled.get(episode.id) ?? [])),
    );
    return told;
  });
}

const wordsOf = (derived: readonly Reference[]) => derived.map(({ type, id }) => `${type} ${id}`).join(", ");

function toTier({ memory, now }: JobContext, from: "eden" | "mid", episode: Candidate): "mid" | "long" | undefined {
  if (episode.tier !== from) return undefined;
  const to = promotedTo(episode, episode, promotionBar(memory.settings, from), now);
  return to === "eden" ? undefined : to;
}

function raisedOf({ memory, now }: JobContext, episode: Candidate, to: "mid" | "long"): Raised {
  const expiry = expiryOf(tierPolicy(memory.settings, to), now, episode.references);
  // A promotion never brings the expiry forward, whatever the settings of the tiers are.
  const expires_at = new Date(Math.max(expiry.getTime(), episode.expires_at.getTime()));
  return {
    id: episode.id,
    tier: to,
    // The lines of a summary run together: a tool's words would stand there as the user's.
    summary: summarise(withoutToolWords(episode.content) || episode.content, SUMMARY_SIZE[to]),
    promoted_at: now,
    expires_at,
    seen_until: seenUntil(expires_at),
  };
}

/** With the request id that the episode was stored with. */
function callFor(context: JobContext, { tenant_id, request_id }: Candidate, butler?: string): Call {
  const call = jobCall(context, NAME, tenant_id, butler);
  return request_id === null ? call : { ...call, request: { request_id } };
}

function eventFor(context: JobContext, episode: Candidate, raised: Raised, distilled: readonly Reference[]) {
  const { id, seen_until: _, ...set } = raised;
  return eventOf(callFor(context, episode), {
    type: "episode.promoted",
    entity: { type: "episode", id },
    scope: episode.butler,
    payload: {
      set,
      from: episode.tier,
      references: episode.references,
      sessions: episode.sessions,
      days: episode.days,
      hours_in_tier: (context.now.getTime() - inTierSince(episode).getTime()) / 3_600_000,
      ...(distilled.length === 0 ? {} : { distilled }),
    },
  });
}

/**
 * Stores the fact or rule that the episode plainly states, if nothing was derived from it before, in the scope of what is learned
 * from it. What is or was known under the same key stays as it is: an old episode does not overrule what was said or retracted
 * since.
 */
async function distilFrom(context: JobContext, episode: Candidate): Promise<readonly Reference[]> {
  const { db } = context.memory;
  const { tenant_id: tenant, butler, id } = episode;
  const derived = await derivedFrom(db, tenant, id);
  // The lines of an exchange have different speakers; only consolidation tells them apart.
  const stated = episode.metadata.format === EXCHANGE_FORMAT ? undefined : distil(episode.content);
  if (derived.length > 0 || stated === undefined) return derived;

  const { trust } = episode;
  const call = callFor(context, episode, butler);
  const common = { tags: episode.tags, source_episode_id: id, trust };
  if (stated.type === "rule") {
    if (trust === "tool") return [];
    if (await ruleKnown(db, { tenant, butler, contentKey: ruleKey(stated.content) })) return [];
    const scope = learnedScope(butler, isAboutPerson(stated.content));
    await rememberRule(call, { ...common, scope, content: stated.content });
  } else {
    const [subject, predicate] = [normaliseKey(stated.subject), normaliseKey(stated.predicate)];
    if (await factKnown(db, { tenant, butler, subject, predicate })) return [];
    const { type: _, ...told } = stated;
    const scope = learnedScope(butler, isPerson(subject));
    const confidence = MOST_CONFIDENT[trust];
    await rememberFact(call, { ...common, ...told, scope, importance: episode.importance, confidence });
  }
  return derivedFrom(db, tenant, id);
}
