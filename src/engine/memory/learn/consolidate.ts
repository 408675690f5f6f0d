/** The job that turns episodes into facts and rules: shard by shard, oldest first, in bounded batches, until nothing waits. */

import type { Extractor, Material } from "../../adapters/extractor/port.ts";
import { ExtractorFailure, NO_USAGE } from "../../adapters/extractor/port.ts";
import { span } from "../../adapters/trace.ts";
import { MemoryError, unavailable } from "../../domain/errors.ts";
import { Answer, NOTHING_LEARNED } from "../../domain/learning/answer.ts";
import type { Bars } from "../../domain/learning/kinds.ts";
import { GLOBAL_SCOPE, ladderOf } from "../../domain/scope.ts";
import { NOT_SHOWN } from "../../domain/sealed.ts";
import { backlogOf, dueEpisodes, type Shard, waitingShards } from "../../store/jobs/consolidation.ts";
import { settledFacts } from "../../store/jobs/consolidation-known.ts";
import { judgingTenants } from "../../store/jobs/judgements.ts";
import { defineJob, type JobContext, type JobReport } from "../keep/job.ts";
import { type JobTally, jobCall, newTally } from "../keep/job-call.ts";
import type { Call } from "../memory.ts";
import { retrieve } from "../recall/retrieve.ts";
import { isSecret } from "../sealing.ts";
import { beginAttempt, type Claimed, claim, materialOf } from "./claim.ts";
import { asFailure, fail, release } from "./end.ts";
import { giveWay } from "./give-way.ts";
import { barsOf, SHIPPED_BARS } from "./judgements.ts";
import type { Shown } from "./known.ts";
import { learn } from "./learn.ts";
import { leaveOut } from "./leave-out.ts";
import { isTrouble, troubleWith } from "./provider-trouble.ts";

const NAME = "consolidate";
/** A backlog of this size or age is consolidated before its next scheduled time. */
const LARGE = 200;
const STALE_MS = 3_600_000;

export const consolidate = defineJob({
  name: NAME,
  about: "Episodes become facts and rules, supersede or confirm what is known, and are linked to what they taught.",
  cron: "0 */6 * * *",
  shared: true,
  async dueAt({ db, extractor }, now) {
    const { waiting, oldest } = await backlogOf(db, now, STALE_MS);
    const wanted = waiting >= LARGE ? now : (oldest ?? undefined);
    const trouble = wanted && extractor && (await troubleWith(db, extractor.provider));
    return trouble && trouble.until > wanted ? trouble.until : wanted;
  },
  async run(context) {
    const tally = newTally();
    const time = timeOf(context);
    const shards = await waitingShards(context.memory.db, context.now);
    if (context.dryRun) {
      for (const { tenant, butler, episodes } of shards) {
        tally.remark("episodes_waiting", episodes);
        tally.note(
          `${episodes} episodes of ${butler} (tenant ${tenant}) wait; what they teach is known when it is run.`,
        );
      }
      return tally.report(true);
    }
    const { extractor } = context.memory;
    if (extractor === undefined)
      throw unavailable("No extractor was opened for this memory: episodes wait until there is one.");
    const inTrouble = await whyNotAsked(context, extractor);
    if (inTrouble !== undefined) return tally.report(true, inTrouble);
    // Most tenants have judged nothing: they are not asked one by one.
    const judging = extractor.provider === "local" ? await judgingTenants(context.memory.db) : new Set<string>();
    for (const shard of shards) {
      const end = await consolidateShard(context, shard, { extractor, judging, time }, tally);
      if (end === "stop") return reported(tally, extractor, !context.interrupted());
    }
    return reported(tally, extractor, true);
  },
});

/** Why the provider is not asked now, if so. One that is not set up is always tried: that costs nothing, and it may be by now. */
async function whyNotAsked({ memory, now }: JobContext, { provider }: Extractor): Promise<string | undefined> {
  const trouble = await troubleWith(memory.db, provider);
  if (trouble === undefined || trouble.kind === "misconfigured" || trouble.until <= now) return undefined;
  if ((await backlogOf(memory.db, now, 0)).oldest === null) return undefined;
  return `${provider} is not asked again before ${trouble.until.toISOString()}: ${trouble.reason}`;
}

function reported(tally: JobTally, { provider }: Extractor, complete: boolean): JobReport {
  const left = tally.report(true).counts.episodes_left_out ?? 0;
  if (left > 0)
    tally.note(
      `${provider} was not asked about ${left} episodes: the reader finds nothing lasting in them (prefilter = false sends all).`,
    );
  return tally.report(complete, failureReason(tally));
}

/** A run in which problems kept everything from being learned has failed; one that learned something tells them in its notes. */
const failureReason = (tally: JobTally): string | undefined =>
  (tally.report(true).counts.episodes_consolidated ?? 0) > 0 ? undefined : tally.lastProblem();

/** What all shards of a job have in common. */
interface Learning {
  readonly extractor: Extractor;
  readonly judging: ReadonlySet<string>;
  readonly time: () => Date;
}

async function consolidateShard(
  context: JobContext,
  { tenant, butler }: Shard,
  { extractor, judging, time }: Learning,
  tally: JobTally,
): Promise<"stop" | "next"> {
  const callNow = () => jobCall({ ...context, now: time() }, NAME, tenant, butler);
  const judged = new Map<string, boolean>();
  // Once for all batches: what is learned now has not been judged yet.
  const own = judging.has(tenant) ? await barsOf(callNow()) : SHIPPED_BARS;
  const bars = extractor.provider === "local" ? own : undefined;
  for (let batches = 0; ; batches++) {
    if (context.interrupted()) return "stop";
    const call = callNow();
    const left = extractor.worthACall === undefined ? 0 : await leaveOut(call, extractor.worthACall, judged);
    tally.count("episodes_left_out", left);
    // Others have moved up in the line, and are looked at before a batch is made of them.
    if (left > 0) continue;
    // A look is cheaper than a run that is opened, finds nothing and is deleted: most shards are done after one batch.
    if (batches > 0 && (await dueEpisodes(call.memory.db, { tenant, butler }, call.now, 1)).length === 0) return "next";
    const claimed = await claim(call, extractor);
    if (claimed === undefined) return "next";
    if (claimed === "busy") {
      tally.note(`${butler} is being consolidated elsewhere.`);
      return "next";
    }
    const { provider } = extractor;
    const [started, { calls }] = [performance.now(), context.memory.traffic];
    const attributes = { "butler.name": context.memory.butler, provider, episodes: claimed.episodes.length };
    const end = await span("consolidation", attributes, () =>
      consolidateBatch(callNow, claimed, { extractor, bars }, tally, context.interrupted),
    );
    if (end !== "next") return end === "shard" ? "next" : "stop";
    const [first] = claimed.episodes;
    const batch = { calls, tookMs: performance.now() - started, oldest: first?.created_at };
    if (context.unhurried) await giveWay(context.memory, batch, context.interrupted);
  }
}

/**
 * The time of the job goes on from its start: leases, pauses and ends count from when they begin. A job may take hours, and a lease that counted from
 * its start would be over before it was taken, so that another daemon took a shard from a run that is alive.
 */
function timeOf({ memory, now }: JobContext): () => Date {
  const ahead = now.getTime() - memory.clock.now().getTime();
  return () => new Date(memory.clock.now().getTime() + ahead);
}

interface Reader {
  readonly extractor: Extractor;
  /** Of the `local` extractor, as this house has moved them. */
  readonly bars: Bars | undefined;
}

async function consolidateBatch(
  callNow: () => Call,
  claimed: Claimed,
  { extractor, bars }: Reader,
  tally: JobTally,
  interrupted: () => boolean,
): Promise<"next" | "shard" | "stop"> {
  const call = callNow();
  const { daily_budget_usd: budget } = call.memory.settings.extractor;
  const bare = { ...materialOf(call, claimed, extractor.maxChars), ...(bars === undefined ? {} : { bars }) };
  const { material, shown } =
    extractor.provider === "local" ? await withSettled(call, bare) : await withKnown(call, bare);
  const ceiling = extractor.ceiling(material);
  if (!(await beginAttempt(call, claimed, ceiling, budget))) {
    await release(call, claimed, `today's budget of $${budget} would not hold`);
    tally.problem(`Today's budget of $${budget} is used up; episodes wait until tomorrow (UTC).`);
    return "stop";
  }
  const startedMs = performance.now();
  try {
    const { usage, ...told } = await extract(
      extractor,
      material,
      call.memory.settings.extractor.timeout_seconds,
      interrupted,
    );
    const learned = await learn(callNow(), claimed, told, shown, { usage, startedMs });
    for (const [name, n] of Object.entries(learned.counts))
      if (name.startsWith("dropped_")) tally.remark(name, n);
      else tally.count(name, n);
    return "next";
  } catch (error) {
    if (error instanceof MemoryError && error.code === "conflict") {
      tally.note(`${call.caller.butler}: ${error.message}`);
      return "shard";
    }
    if (!(error instanceof ExtractorFailure)) throw error;
    const { counts, kind } = await fail(callNow(), claimed, error, { usage: error.usage, startedMs, ceiling });
    for (const [name, n] of Object.entries(counts)) tally.count(name, n);
    tally.problem(`${extractor.provider}: ${error.message}`);
    // The next batch would meet the same trouble.
    return isTrouble(kind) ? "stop" : "next";
  }
}

const POLL_MS = 250;
/** An extractor watches its own timeout and says so; one that does not is aborted this much later. */
const GRACE_MS = 2_000;

/** Throws nothing but `ExtractorFailure`. */
async function extract(extractor: Extractor, material: Material, seconds: number, interrupted: () => boolean) {
  if (material.episodes.length === 0) return { answer: NOTHING_LEARNED, usage: NO_USAGE, found: undefined };
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(new Error(`no answer within ${seconds} s`)), seconds * 1_000 + GRACE_MS);
  const closing = setInterval(() => interrupted() && abort.abort(new Error("the memory is being closed")), POLL_MS);
  try {
    const { answer, usage, found } = await extractor.extract(material, abort.signal).catch((error) => {
      throw asFailure(error, abort.signal.aborted);
    });
    const checked = Answer.safeParse(answer);
    if (checked.success) return { answer: checked.data, usage, found };
    const [problem] = checked.error.issues;
    const words = `the answer is not what was asked for: ${problem?.path.join(".")}: ${problem?.message}`;
    throw new ExtractorFailure("invalid_answer", words, usage);
  } finally {
    clearTimeout(timer);
    clearInterval(closing);
  }
}

/** Adds what is known of the project under one name each (a port, a host): a reader of single sentences finds what a new word changes there. */
async function withSettled(call: Call, bare: Material): Promise<{ material: Material; shown: Shown }> {
  const { tenant, butler } = call.caller;
  const facts = await settledFacts(call.memory.db, tenant, ladderOf(butler), SETTLED);
  return {
    material: {
      ...bare,
      facts: facts.map(({ subject, predicate, content, scope }, at) => ({
        ...{ label: `f${at + 1}`, subject, predicate, content, scope: scopeShown(scope) },
      })),
    },
    shown: new Map(facts.map(({ id }, at) => [`f${at + 1}`, id])),
  };
}

const SETTLED = 200;
const scopeShown = (scope: string) => (scope === GLOBAL_SCOPE ? ("global" as const) : ("own" as const));

const KNOWN = 40;

/** Adds the facts and rules near the material, so that a model can confirm and supersede instead of repeating them. */
export async function withKnown(call: Call, bare: Material): Promise<{ material: Material; shown: Shown }> {
  const { butler } = call.caller;
  const { results } = await retrieve(call, {
    text: bare.episodes.map(({ text }) => text).join("\n"),
    mode: "hybrid",
    types: ["fact", "rule"],
    scopes: ladderOf(butler),
    minConfidence: call.memory.settings.facts.retrieval_confidence_threshold,
    wanted: KNOWN,
    perType: true,
  });
  const best = results
    .toSorted((a, b) => b.relevance - a.relevance || (a.candidate.id < b.candidate.id ? -1 : 1))
    .map(({ candidate }) => candidate);
  const facts = best.filter(({ type }) => type === "fact").slice(0, KNOWN);
  const rules = best.filter(({ type }) => type === "rule").slice(0, KNOWN);
  return {
    material: {
      ...bare,
      facts: facts.map((fact, at) => ({
        label: `f${at + 1}`,
        subject: fact.subject ?? "",
        predicate: fact.predicate ?? "",
        // A model outside is not told what is encrypted.
        content: isSecret(call.memory, fact.predicate ?? "") ? NOT_SHOWN : fact.content,
        scope: scopeShown(fact.scope),
      })),
      rules: rules.map((rule, at) => ({ label: `r${at + 1}`, content: rule.content, scope: scopeShown(rule.scope) })),
    },
    shown: new Map([
      ...facts.map(({ id }, at) => [`f${at + 1}`, id] as const),
      ...rules.map(({ id }, at) => [`r${at + 1}`, id] as const),
    ]),
  };
}
