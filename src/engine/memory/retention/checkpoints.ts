/** Writes checkpoints, and tells whether what was folded is still what was written. */
import { createHash, randomBytes } from "node:crypto";
import type { Sql } from "../../adapters/db/port.ts";
import { FIRST } from "../../domain/erasure/receipt.ts";
import type { RowJson } from "../../domain/replay.ts";
import {
  type CheckpointKind,
  checkpointText,
  entryFaults,
  followChain,
  newChain,
} from "../../domain/retention/checkpoint.ts";
import {
  checkpointsNamed,
  digestsOf,
  foldedEvents,
  insertCheckpoint,
  lastHash,
  nextCheckpoint,
  type Payloads,
  removeEvents,
  tenantsWithCheckpoints,
  writePayloads,
} from "../../store/history/checkpoints.ts";

const sha256 = (text: string): Uint8Array => createHash("sha256").update(text).digest();

export interface Folding {
  readonly id: string;
  readonly tenant: string;
  readonly kind: CheckpointKind;
  readonly through: string;
  readonly until: Date;
  readonly now: Date;
}

/** The mark of an event that stands for others. The salt goes with the payload when that is erased, and the hash then tells nothing. */
export const markOf = ({ id, through }: Folding, events: number): RowJson => ({
  ...{ checkpoint: id, through, events },
  salt: randomBytes(16).toString("hex"),
});

export interface Removal {
  readonly id: string;
  readonly event_type: string;
  /** It stood for others, or was blanked: an earlier checkpoint may name it. */
  readonly marked: boolean;
}

/** Within a transaction that has called `holdCheckpoints`. */
export async function fold(
  sql: Sql,
  folding: Folding,
  before: Uint8Array,
  kept: Payloads,
  removed: readonly Removal[],
): Promise<void> {
  const { id, tenant, kind, through, until, now } = folding;
  const counts: Record<string, number> = {};
  for (const { event_type } of removed) counts[event_type] = (counts[event_type] ?? 0) + 1;
  const gone = removed.filter(({ marked }) => marked).map((event) => [event.id, null] as const);
  const checkpoint = {
    ...{ id, tenant_id: tenant, kind, through, until, made_at: now, counts },
    entries: { ...(await digestsOf(sql, kept)), ...Object.fromEntries(gone) },
  };
  await insertCheckpoint(sql, { ...checkpoint, before, hash: sha256(checkpointText(checkpoint, before)) });
  await writePayloads(sql, kept);
  await removeEvents(
    sql,
    removed.map((event) => event.id),
  );
}

/** First in a transaction that folds: what it reads then stays as it is. */
export const holdCheckpoints = async (sql: Sql, tenant: string): Promise<Uint8Array> =>
  (await lastHash(sql, tenant)) ?? FIRST;

export interface CheckpointsReport {
  readonly checkpoints: number;
  readonly faults: readonly string[];
}

const PAGE = 1_000;
/** More faults say no more. */
const TOLD = 20;

export async function verifyCheckpoints(sql: Sql): Promise<CheckpointsReport> {
  const faults: string[] = [];
  const known = new Set<string>();
  for (const tenant of await tenantsWithCheckpoints(sql)) {
    let chain = newChain();
    for (let next = await nextCheckpoint(sql, tenant, "0"); next; next = await nextCheckpoint(sql, tenant, next.seq))
      chain = followChain(chain, next, sha256);
    for (const id of chain.known) known.add(id);
    faults.push(...chain.faults);
    const entries = [...chain.entries];
    for (let from = 0; from < entries.length; from += PAGE) {
      const page = entries.slice(from, from + PAGE);
      const stored = await foldedEvents(
        sql,
        tenant,
        page.map(([id]) => id),
      );
      faults.push(...entryFaults(page, stored));
    }
  }
  for (const { id } of await checkpointsNamed(sql)) if (!known.has(id)) faults.push(`checkpoint ${id} is missing`);
  return { checkpoints: known.size, faults: faults.slice(0, TOLD) };
}
