/**
 * Makes the vectors that are missing, and after a change of model all of them: in small batches, while the old version serves. It
 * can be cut off anywhere: the next run goes on with what has no vector yet.
 */
import { seenUntil } from "../../domain/lifecycle/tiers.ts";
import {
  copyVisibility,
  countLeftovers,
  countUnvectored,
  dropRetired,
  FIRST_ID,
  findLeftovers,
  findUnvectored,
  handOver,
  type Unvectored,
} from "../../store/index/reembed.ts";
import { dropIndex } from "../../store/index/vector-index.ts";
import { addVectors } from "../../store/index/vectors.ts";
import { embedText, spokenText } from "../embed.ts";
import type { Memory } from "../memory.ts";
import type { VersionedEmbedder } from "../recall/versions.ts";
import { visibleUntil } from "../remember/index-memory.ts";
import { defineJob, type JobContext, type JobReport } from "./job.ts";
import { newTally } from "./job-call.ts";
import { fitIndex } from "./vector-index.ts";

export interface RebuildOptions {
  readonly now: Date;
  stop(): boolean;
}

export interface Rebuilt {
  readonly embedded: number;
  /** Vectors of retired versions that were deleted. */
  readonly dropped: number;
  /** The rebuilt version took over in this run. */
  readonly handedOver: boolean;
  readonly complete: boolean;
}

/** Without a schedule: maintenance does the same by itself. */
export const reembed = defineJob({
  name: "reembed",
  about: "Rebuilds embeddings after a change of model, the old ones answering until it is done; fills in missing ones.",
  cron: undefined,
  async run(context) {
    if (context.memory.versions.own === undefined)
      return { changed: 0, counts: {}, notes: ["no embedding model: nothing to embed with."], complete: true };
    return context.dryRun ? countToRebuild(context) : rebuildAndReport(context);
  },
});

async function countToRebuild({ memory, now }: JobContext): Promise<JobReport> {
  await memory.versions.refresh();
  const { written, own, replacing } = memory.versions;
  const tally = newTally();
  for (const model of written)
    tally.count("embedded", await countUnvectored(memory.db, model.version, replacedBy(memory, model), now));
  tally.count("dropped", await countLeftovers(memory.db));
  if (own && replacing !== undefined) tally.note(`${nameOf(own)} would replace embedding version ${replacing}.`);
  return tally.report(true);
}

async function rebuildAndReport({ memory, now, interrupted }: JobContext): Promise<JobReport> {
  const rebuilt = await rebuildVectors(memory, { now, stop: interrupted });
  const { own, degraded } = memory.versions;
  const tally = newTally();
  tally.count("embedded", rebuilt.embedded);
  tally.count("dropped", rebuilt.dropped);
  if (own && rebuilt.handedOver) tally.note(`${nameOf(own)} serves now.`);
  if (degraded !== undefined) tally.note(degraded);
  return tally.report(rebuilt.complete);
}

const nameOf = ({ embedder: { version } }: VersionedEmbedder) => `${version.model} ${version.variant}`;

const replacedBy = ({ versions }: Memory, model: VersionedEmbedder): number | undefined =>
  model.version === versions.own?.version ? versions.replacing : undefined;

/** Passes over all memories before it gives up because writers add memories faster than it embeds; the next run goes on. */
const PASSES = 5;

export async function rebuildVectors(memory: Memory, options: RebuildOptions): Promise<Rebuilt> {
  const { versions } = memory;
  await versions.closeUnused();
  await versions.refresh();
  let embedded = 0;
  let handedOver = false;
  const result = (dropped: number, complete: boolean): Rebuilt => ({ embedded, dropped, handedOver, complete });
  for (let pass = 0; pass < PASSES; pass++) {
    for (const model of versions.written) {
      const filled = await fill(memory, model, options);
      embedded += filled.embedded;
      if (!filled.complete) return result(0, false);
    }
    const { own, replacing } = versions;
    if (!own || replacing === undefined) break;
    // The index is built before the version serves: without it the first search would compare all vectors.
    await copyVisibility(memory.db, replacing, own.version);
    await fitIndex(memory, own);
    if (options.stop()) return result(0, false);
    handedOver = await handOver(memory.db, own.version, replacing, options.now);
    await versions.refresh();
    if (handedOver) memory.log.info({ embedded, version: own.version }, "rebuilt embeddings serve now");
  }
  const cleared = await clearRetired(memory, options);
  return result(cleared.dropped, cleared.complete && versions.replacing === undefined);
}

/** Small, so that a query that comes meanwhile waits for few texts. */
const BATCH = 32;

async function fill(memory: Memory, model: VersionedEmbedder, { now, stop }: RebuildOptions) {
  const replacing = replacedBy(memory, model);
  let embedded = 0;
  for (let after = FIRST_ID; ; ) {
    if (stop()) return { embedded, complete: false };
    const found = await findUnvectored(memory.db, { version: model.version, replacing, now, after, limit: BATCH });
    const rows = found.filter(({ type }) => type !== null);
    const made = await Promise.all(
      rows.map(async (row) => ({
        row,
        ...(await embedText(model, spokenText(row.text, row.speaker, row.names ?? []), "write")),
      })),
    );
    embedded += await addVectors(
      memory.db,
      model.version,
      made.map(({ row, vector, tokens }) => ({
        memoryId: row.id,
        sk: row.sk,
        vector,
        tokens,
        visibleUntil: untilOf(memory, row),
      })),
    );
    const last = found.at(-1);
    if (last === undefined || found.length < BATCH) return { embedded, complete: true };
    after = last.id;
  }
}

function untilOf(memory: Memory, row: Unvectored): Date | undefined {
  if (row.replaces) return row.seen_until ?? undefined;
  if (row.type === "episode") return row.until === null ? undefined : seenUntil(row.until);
  return visibleUntil(memory, row, row.until);
}

/** Small, because the embedded store has one connection and a search waits for the batch at hand. */
const DROP_BATCH = 200;

export async function clearRetired(
  memory: Memory,
  { stop }: Pick<RebuildOptions, "stop">,
): Promise<{ dropped: number; complete: boolean }> {
  const { db } = memory;
  let dropped = 0;
  for (const { version, sk, index } of await findLeftovers(db)) {
    // First the index: without it each deletion is cheaper.
    if (index) await dropIndex(db, version);
    while (sk !== null) {
      if (stop()) return { dropped, complete: false };
      const gone = await dropRetired(db, version, sk, DROP_BATCH);
      dropped += gone;
      if (gone < DROP_BATCH) break;
    }
  }
  return { dropped, complete: true };
}
