/**
 * The weekly check. It reports what a person should look at (near-duplicates, junk, dead links) and repairs only what can be
 * made again from the memories themselves: indexes, vectors, leftovers. It never changes memories and links: whether to merge is
 * a judgement, and a deleted link would come back when the stream is replayed.
 */
import { junkReasons } from "../../domain/lifecycle/junk.ts";
import { areNearDuplicates, NEAR_COSINE } from "../../domain/lifecycle/near-duplicates.ts";
import { MEMORY_TYPES, type MemoryType } from "../../domain/memory-types.ts";
import { foldShelf } from "../../store/index/fold.ts";
import {
  dropBrokenRows,
  dropStrayBlocks,
  strayBlocks,
  unfoldShelf,
  verifyShelf,
} from "../../store/index/lexical-check.ts";
import { countLeftovers, countUnvectored, FIRST_ID } from "../../store/index/reembed.ts";
import { indexState } from "../../store/index/vector-index.ts";
import { nearestTo, probesOf } from "../../store/index/vector-recall.ts";
import { comparedAs } from "../../store/index/vectors.ts";
import {
  allShelves,
  checkLinks,
  countOldRuns,
  dropOldRunsBeyond,
  dropStrayVectors,
  dropStrayWords,
  type Entry,
  fileUnfiled,
  type LinkKey,
  type LiveMemory,
  liveMemories,
  newestOnShelf,
  textsOf,
  vectorEntries,
  wordEntries,
} from "../../store/jobs/hygiene.ts";
import { countStaleKeys, dropStaleKeys } from "../../store/jobs/upkeep.ts";
import { CALL_KEY_PREFIX } from "../call-key.ts";
import { defineJob, type JobContext } from "./job.ts";
import { type JobTally, newTally } from "./job-call.ts";
import { KEPT_KEYS_MS } from "./maintain.ts";
import { neighboursOf } from "./near-neighbours.ts";
import { rebuildVectors } from "./reembed.ts";
import { fitIndex, unfitIndex } from "./vector-index.ts";

interface Round {
  readonly context: JobContext;
  readonly tally: JobTally;
  /** Something for a person to look at: counted, and the first few noted by id. Never by content: a report covers all tenants. */
  found(kind: string, words: string): void;
  /** Something that was repaired, or would be in a dry run. */
  repaired(kind: string, by: number): void;
}

/** Notes of each kind, so that many of one do not hide the others. */
const TOLD = 3;

export const hygiene = defineJob({
  name: "hygiene",
  about: "Reports near-duplicates, junk and dead links; repairs indexes, vectors and leftovers.",
  cron: "0 5 * * 0",
  async run(context) {
    const tally = newTally();
    let changed = 0;
    const repaired = (kind: string, by: number) => {
      tally.count(kind, by);
      changed += by;
    };
    const told = new Map<string, number>();
    const found = (kind: string, words: string) => {
      const before = told.get(kind) ?? 0;
      tally.count(kind);
      if (before < TOLD) tally.note(words);
      told.set(kind, before + 1);
    };
    const round: Round = { context, tally, found, repaired };
    // The index must be right before vectors and near-duplicates are looked for in it.
    for (const step of [
      repairPostings,
      checkMemories,
      dropStrays,
      repairVectors,
      measureRecall,
      findNearDuplicates,
      reportDeadLinks,
      dropLeftovers,
    ]) {
      if (context.interrupted() || !(await step(round))) return { ...tally.report(false), changed };
    }
    return { ...tally.report(true), changed };
  },
});

/** Compares posting blocks with forward rows. Searches stay exact while a shelf is folded again. */
async function repairPostings({ context, tally, repaired }: Round): Promise<boolean> {
  const { db } = context.memory;
  for (const { sk } of await allShelves(db)) {
    if (context.interrupted()) return false;
    const wrong = await verifyShelf(db, sk);
    if (wrong.length === 0) continue;
    repaired("shelves_repaired", 1);
    tally.note(`keyword index, shelf ${sk}: ${wrong[0]}${wrong.length > 1 ? ` (and ${wrong.length - 1} more)` : ""}`);
    if (context.dryRun) continue;
    await dropBrokenRows(db, sk);
    await unfoldShelf(db, sk);
    for (;;) {
      if (context.interrupted()) return false;
      const { folded, removed } = await foldShelf(db, sk);
      if (folded + removed === 0) break;
    }
  }
  const stray = (await strayBlocks(db)).reduce((sum, { blocks }) => sum + blocks, 0);
  if (stray > 0) repaired("stray_blocks", context.dryRun ? stray : await dropStrayBlocks(db));
  return true;
}

const PAGE = 500;

/** One pass over all live memories: reports junk, and indexes what is not in the index. */
async function checkMemories(round: Round): Promise<boolean> {
  const { context, found } = round;
  for (const type of MEMORY_TYPES)
    for (let after = FIRST_ID; ; ) {
      if (context.interrupted()) return false;
      const page = await liveMemories(context.memory.db, type, { now: context.now, after, limit: PAGE });
      for (const { id, text } of page) {
        const reasons = junkReasons(text);
        if (reasons.length > 0) found("junk", `${type} ${id} looks like junk: ${reasons.join(", ")}`);
      }
      await reindexLost(
        round,
        type,
        page.filter(({ filed }) => !filed),
      );
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) break;
      after = last.id;
    }
  return true;
}

async function reindexLost({ context, repaired }: Round, type: MemoryType, lost: readonly LiveMemory[]): Promise<void> {
  const { memory, now, dryRun } = context;
  if (lost.length === 0) return;
  if (dryRun) return repaired("refiled", lost.length);
  const rows: { id: string; sk: number }[] = [];
  for (const { id, tenant_id, scope } of lost) {
    const shelf = (await memory.shelves.of(tenant_id, [scope])).find((candidate) => candidate.type === type);
    if (shelf) rows.push({ id, sk: shelf.sk });
  }
  repaired("refiled", await memory.db.tx((sql) => fileUnfiled(sql, type, rows, now)));
}

/** Deletes words and vectors that belong to no memory. */
async function dropStrays({ context, repaired }: Round): Promise<boolean> {
  const { db } = context.memory;
  const walks = [
    { kind: "stray_words", page: wordEntries, drop: (ids: string[]) => db.tx((sql) => dropStrayWords(sql, ids)) },
    { kind: "stray_vectors", page: vectorEntries, drop: (ids: string[]) => dropStrayVectors(db, ids) },
  ];
  for (const { kind, page, drop } of walks)
    for (let after = FIRST_ID; ; ) {
      if (context.interrupted()) return false;
      const entries: Entry[] = await page(db, after, PAGE);
      const ids = entries.filter(({ stray }) => stray).map(({ id }) => id);
      if (ids.length > 0) repaired(kind, context.dryRun ? ids.length : await drop(ids));
      const last = entries.at(-1);
      if (last === undefined || entries.length < PAGE) break;
      after = last.id;
    }
  return true;
}

/** Makes missing vectors, deletes those of retired versions, and fits the vector index. */
async function repairVectors({ context, tally, repaired }: Round): Promise<boolean> {
  const { memory, now, dryRun, interrupted } = context;
  const { versions, db } = memory;
  if (!versions.own) {
    tally.note("no embedding model: vectors were not looked at.");
    return true;
  }
  if (dryRun) {
    for (const { version } of versions.written) {
      const replacing = version === versions.own.version ? versions.replacing : undefined;
      repaired("embedded", await countUnvectored(db, version, replacing, now));
    }
    repaired("retired_vectors", await countLeftovers(db));
    if (versions.serving && (await unfitIndex(memory, versions.serving)).wanted) repaired("vector_index", 1);
    return true;
  }
  const rebuilt = await rebuildVectors(memory, { now, stop: interrupted });
  repaired("embedded", rebuilt.embedded);
  repaired("retired_vectors", rebuilt.dropped);
  if (!rebuilt.complete) return false;
  if (versions.serving && (await fitIndex(memory, versions.serving))) repaired("vector_index", 1);
  return true;
}

/** As many as a search shows, of as many as its vector arm takes. */
const RECALL = { at: 20, taken: 80, questions: 30, least: 0.97 };

/**
 * Comparing with a million vectors takes half a second or more for each question, so there are few. In a good graph, too, a rare question finds
 * nothing (two of 500 in bench/RESULTS.md): of ten questions one such would already count as low recall.
 */
async function measureRecall({ context, tally, found }: Round): Promise<boolean> {
  const { memory, now, interrupted } = context;
  const { db, versions } = memory;
  if (!versions.serving) return true;
  const { version, embedder } = versions.serving;
  const { kind } = await indexState(db, version);
  if (kind === "none") return true;
  const query = { version, as: comparedAs(db.kind, embedder.version.dimensions), now };
  const shares: number[] = [];
  for (const probe of await probesOf(db, version, RECALL.questions)) {
    if (interrupted()) return false;
    const truth = await nearestTo(db, probe, { ...query, exact: true, limit: RECALL.at });
    const near = await nearestTo(db, probe, { ...query, exact: false, limit: RECALL.taken });
    const best = new Set(near.slice(0, RECALL.at));
    if (truth.length > 0) shares.push(truth.filter((id) => best.has(id)).length / truth.length);
  }
  if (shares.length === 0) return true;
  const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
  const words = `the vector index (${kind}) finds ${(100 * mean).toFixed(1)} % of the ${RECALL.at} nearest, over ${shares.length} questions`;
  tally.remark("vector_recall_percent", Math.round(100 * mean));
  if (mean < RECALL.least) found("low_recall", `${words}; at least ${100 * RECALL.least} % are wanted`);
  else tally.note(`${words}.`);
  return true;
}

/**
 * Without an index each memory is compared with its whole shelf, so the number is limited. Shelves are taken in order, on each the
 * newest memories first, until this many have been compared.
 */
const LOOKED_AT = 5_000;
const COMPARED = 4;

async function findNearDuplicates({ context, tally, found }: Round): Promise<boolean> {
  const { memory, now } = context;
  const { serving } = memory.versions;
  if (!serving) return true;
  let left = LOOKED_AT;
  for (const { sk, type } of await allShelves(memory.db)) {
    const told = new Set<string>();
    const ids = await newestOnShelf(memory.db, serving.version, sk, now, left);
    left -= ids.length;
    for (let from = 0; from < ids.length; from += COMPARED) {
      if (context.interrupted()) return false;
      const some = ids.slice(from, from + COMPARED);
      const near = await neighboursOf(memory, serving, { sk, ids: some, now, cosine: NEAR_COSINE });
      const texts = await textsOf(memory.db, type, [...new Set(near.flatMap(({ a, b }) => [a, b]))], now);
      for (const { a, b, cosine } of near) {
        const pair = a < b ? `${a} and ${b}` : `${b} and ${a}`;
        const [one, other] = [texts.get(a), texts.get(b)];
        if (told.has(pair) || one === undefined || other === undefined) continue;
        if (!areNearDuplicates(one, other, cosine)) continue;
        told.add(pair);
        found("near_duplicates", `${type}s ${pair} say nearly the same (${cosine.toFixed(3)})`);
      }
    }
  }
  if (left === 0)
    tally.note(`near-duplicates were looked for among ${LOOKED_AT} memories only, the newest of each shelf first.`);
  return true;
}

async function reportDeadLinks({ context, tally, found }: Round): Promise<boolean> {
  let after: LinkKey = { source_id: FIRST_ID, target_id: FIRST_ID, relation: "" };
  for (;;) {
    if (context.interrupted()) return false;
    const page = await checkLinks(context.memory.db, after, PAGE);
    for (const { source_id, target_id, relation, state } of page) {
      if (state === "history") tally.count("links_to_deleted_episodes");
      if (state === "dead")
        found("dead_links", `link ${source_id} ${relation} ${target_id}: an end is missing, and no event tells why`);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return true;
    after = last;
  }
}

/** An hourly job makes as many in six weeks. */
const KEPT_RUNS = 1000;

async function dropLeftovers({ context, repaired }: Round): Promise<boolean> {
  const { memory, now, dryRun } = context;
  const before = new Date(now.getTime() - KEPT_KEYS_MS);
  repaired("stale_keys", await (dryRun ? countStaleKeys : dropStaleKeys)(memory.db, before, CALL_KEY_PREFIX));
  repaired("old_runs", await (dryRun ? countOldRuns : dropOldRunsBeyond)(memory.db, KEPT_RUNS));
  return true;
}
