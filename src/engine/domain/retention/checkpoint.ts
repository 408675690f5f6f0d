/** Checkpoints: what was folded or removed of the stream, in hashes and numbers, each bound to the one before it. */
import { FIRST, hex } from "../erasure/receipt.ts";

/**
 * `reads`: readings of a day were added up. `memories`: events of memories were folded. `events`: others were removed. `keys`: texts
 * were encrypted anew, and everything is known as before.
 */
export type CheckpointKind = "reads" | "memories" | "events" | "keys";

export interface NewCheckpoint {
  readonly id: string;
  readonly tenant_id: string;
  readonly kind: CheckpointKind;
  /** The last place in the stream that it concerns: a 64-bit number, as text. */
  readonly through: string;
  /** The latest time of an event up to there. */
  readonly until: Date;
  readonly made_at: Date;
  /** By id of an event: the hash of its payload in hex, or null where the event is gone. Salted: nothing can be guessed from it after an erasure. */
  readonly entries: Readonly<Record<string, string | null>>;
  /** Events that were removed, by type. */
  readonly counts: Readonly<Record<string, number>>;
}

export interface Checkpoint extends NewCheckpoint {
  readonly before: Uint8Array;
  readonly hash: Uint8Array;
}

const sorted = (record: Readonly<Record<string, unknown>>) =>
  Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1));

/** What the hash of a checkpoint is made of. */
export const checkpointText = (checkpoint: NewCheckpoint, before: Uint8Array): string =>
  JSON.stringify([
    hex(before),
    checkpoint.id,
    checkpoint.tenant_id,
    checkpoint.kind,
    checkpoint.through,
    checkpoint.until.toISOString(),
    checkpoint.made_at.toISOString(),
    sorted(checkpoint.entries),
    sorted(checkpoint.counts),
  ]);

export interface ChainState {
  readonly hash: Uint8Array;
  /** What the latest checkpoint that names an event says of it. */
  readonly entries: Map<string, string | null>;
  readonly known: Set<string>;
  readonly faults: string[];
}

export const newChain = (): ChainState => ({ hash: FIRST, entries: new Map(), known: new Set(), faults: [] });

/** The next checkpoint of a tenant, in order. */
export function followChain(
  chain: ChainState,
  checkpoint: Checkpoint,
  hashOf: (text: string) => Uint8Array,
): ChainState {
  const { id, before, hash, entries } = checkpoint;
  if (hex(before) !== hex(chain.hash)) chain.faults.push(`a checkpoint before ${id} is missing`);
  if (hex(hashOf(checkpointText(checkpoint, before))) !== hex(hash)) chain.faults.push(`checkpoint ${id} was changed`);
  for (const [event, digest] of Object.entries(entries)) chain.entries.set(event, digest);
  chain.known.add(id);
  return { ...chain, hash };
}

/** An event as it is stored now. */
export interface FoldedEvent {
  readonly id: string;
  readonly digest: string;
  readonly erased: boolean;
}

/** What is wrong with the events of some entries; `stored` has those of them that are there. */
export function entryFaults(
  entries: readonly (readonly [string, string | null])[],
  stored: ReadonlyMap<string, FoldedEvent>,
): string[] {
  return entries.flatMap(([id, digest]) => {
    const event = stored.get(id);
    if (digest === null) return event === undefined ? [] : [`event ${id} was removed, and is there again`];
    if (event === undefined) return [`event ${id}, which stands for older ones, is missing`];
    return event.erased || event.digest === digest ? [] : [`event ${id}, which stands for older ones, was changed`];
  });
}
