/** The daily sweep over all tenants: facts and rules fade and expire, and rules get the maturity that their evidence has earned. */
import { dropLexical } from "../../store/index/lexical.ts";
import {
  type Due,
  endReviews,
  FIRST_ID,
  findDue,
  findReviewed,
  findUnsettled,
  foldedOn,
  hideVectors,
  moveDue,
  type Swept,
  showVectors,
  type Thresholds,
  windowEnd,
} from "../../store/jobs/sweep.ts";
import { findRule, tallyRule } from "../../store/memories/rules.ts";
import { applyVerdict, judgeRule, maturityEvent, type Verdict } from "../remember/evaluate-rule.ts";
import { write } from "../write.ts";
import { beginFacts } from "./begin-facts.ts";
import { defineJob, type JobContext } from "./job.ts";
import { type DropFolder, dropFolder, type JobTally, jobCall, newTally } from "./job-call.ts";

const NAME = "decay_sweep";

/**
 * Live rows looked at in one transaction. The embedded store has one connection, and a search waits for the window at
 * hand. One of 250 rows that all expire took 33 ms of its thread, one of which 15 % change 12 ms.
 */
const WINDOW = { pglite: 250, postgres: 5000 } as const;
const RULES = 200;

export const decaySweep = defineJob({
  name: NAME,
  about:
    "Facts and rules fade and expire by their effective confidence; rules rise, fall and are inverted by evidence; what nobody looked at leaves the review list.",
  cron: "0 3 * * *",
  async run(context) {
    const tally = newTally();
    const settled = new Set<string>();
    // Rules are judged before they decay: one that did harm must become a warning before it expires.
    const complete =
      (await beginFacts(context, NAME, tally)) &&
      (await sweep(context, "fact", tally, settled)) &&
      (await evaluateRules(context, tally, settled)) &&
      (await sweep(context, "rule", tally, settled)) &&
      (await endWaiting(context, "fact", tally)) &&
      (await endWaiting(context, "rule", tally));
    return tally.report(complete);
  },
});

async function sweep(
  context: JobContext,
  type: Swept,
  tally: JobTally,
  inverted: ReadonlySet<string>,
): Promise<boolean> {
  const { memory } = context;
  const size = WINDOW[memory.db.kind];
  const folds = dropFolder(memory);
  for (let after: string | undefined = FIRST_ID; after !== undefined; ) {
    if (context.interrupted()) return false;
    const to: string | undefined = await windowEnd(memory.db, type, after, size);
    const found = await sweepWindow(context, type, { after, to }, folds);
    // A real run has renewed inverted rules before this; a dry run has not, so they are left out of its report.
    for (const row of found.filter(({ id }) => !inverted.has(id))) tell(tally, type, row);
    after = to;
  }
  return true;
}

const WORDS = { active: "revived", fading: "faded", expired: "expired" } as const;

function tell(tally: JobTally, type: Swept, row: Due): void {
  tally.count(`${type}s_${WORDS[row.to]}`);
  tally.note(`${type} ${row.id}: ${row.from} → ${row.to}, effective confidence ${row.effective.toFixed(3)}`);
}

async function sweepWindow(
  context: JobContext,
  type: Swept,
  window: { after: string; to: string | undefined },
  folds: DropFolder,
): Promise<Due[]> {
  const { memory, now } = context;
  const thresholds = thresholdsOf(context);
  if (context.dryRun) return findDue(memory.db, type, window, thresholds, now, false);
  const { due, shelves } = await memory.db.tx(async (sql) => {
    const due = await findDue(sql, type, window, thresholds, now, true);
    if (due.length === 0) return { due, shelves: [] };
    // A window lost to a power cut is swept again; an fsync for each window would make other calls wait.
    await sql.query("set local synchronous_commit = off");
    const became = (state: Due["to"]) => due.filter((row) => row.to === state).map((row) => row.id);
    const [gone, back] = [became("expired"), became("active")];
    const shelves = gone.length > 0 ? await foldedOn(sql, gone) : [];
    if (gone.length > 0) {
      await dropLexical(sql, gone);
      await hideVectors(sql, gone, now);
    }
    if (back.length > 0) await showVectors(sql, type, back, thresholds.retrieval);
    const ids = due.map(() => memory.ids.next(now)).toSorted();
    await moveDue(sql, type, due, thresholds, now, { ids, butler: memory.butler, actor: `job:${NAME}` });
    return { due, shelves };
  });
  await folds.dropped(shelves);
  return due;
}

/** What nobody looked at leaves the review list. What was kept out of context blocks stays out. */
async function endWaiting(context: JobContext, type: Swept, tally: JobTally): Promise<boolean> {
  const { memory, now, dryRun } = context;
  const size = WINDOW[memory.db.kind];
  for (;;) {
    if (context.interrupted()) return false;
    const due = await memory.db.tx(async (sql) => {
      const found = await findReviewed(sql, type, now, size, !dryRun);
      const ids = found.map(() => memory.ids.next(now)).toSorted();
      if (found.length > 0 && !dryRun)
        await endReviews(sql, type, found, now, { ids, butler: memory.butler, actor: `job:${NAME}` });
      return found;
    });
    tally.count(`${type}s_review_expired`, due.length);
    for (const { id } of due) tally.note(`${type} ${id}: its time on the review list is over`);
    if (due.length < size || dryRun) return true;
  }
}

const thresholdsOf = ({ memory }: JobContext): Thresholds => ({
  retrieval: memory.settings.facts.retrieval_confidence_threshold,
  expiry: memory.settings.facts.expiry_confidence_threshold,
});

async function evaluateRules(context: JobContext, tally: JobTally, settled: Set<string>): Promise<boolean> {
  const { memory, now } = context;
  for (let after: string | undefined = FIRST_ID; after !== undefined; ) {
    const rules = await findUnsettled(memory.db, memory.settings.rules, now, after, RULES);
    for (const { id, tenant_id } of rules) {
      if (context.interrupted()) return false;
      await evaluateRule(context, tenant_id, id, tally, settled);
    }
    after = rules.length < RULES ? undefined : rules.at(-1)?.id;
  }
  return true;
}

/** Few rules change in a sweep, and an inversion needs the model: each rule has a transaction of its own, which locks it and decides again. */
async function evaluateRule(
  context: JobContext,
  tenant: string,
  id: string,
  tally: JobTally,
  inverted: Set<string>,
): Promise<void> {
  const { memory, now, dryRun } = context;
  const call = jobCall(context, NAME, tenant);
  const { answer } = await write(call, NAME, {}, async (writing): Promise<{ verdict?: Verdict; told?: string }> => {
    const rule = await findRule(writing.sql, tenant, id, !dryRun);
    if (!rule || (rule.validity !== "active" && rule.validity !== "fading")) return {};
    const evidence = await tallyRule(writing.sql, id);
    const verdict = judgeRule(rule, evidence, undefined, memory.settings.rules, now);
    if (verdict.maturity === rule.maturity) return {};
    const { type: told } = maturityEvent(rule, verdict, evidence);
    if (dryRun) return { verdict, told };
    const { set, links } = await applyVerdict(call, writing.sql, rule, evidence, verdict);
    writing.tell(maturityEvent(rule, verdict, evidence, { set, ...(links.length === 0 ? {} : { links }) }));
    return { verdict, told };
  });
  const { verdict, told } = answer;
  if (verdict === undefined || told === undefined) return;
  if (verdict.inverted) inverted.add(id);
  tally.count(told.replace("rule.", "rules_"));
  tally.note(`${told.replace(".", " ")}: ${id} is ${verdict.maturity} now`);
}
