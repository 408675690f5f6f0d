/** Receipts of erasures: what was erased in numbers, never in words, each bound to the one before it by a hash. */

/** `redaction`: what a policy found was taken out of what stays. */
export type ErasureKind = "subject" | "session" | "id" | "redaction";

export interface NewReceipt {
  readonly id: string;
  readonly tenant_id: string;
  readonly butler: string;
  readonly kind: ErasureKind;
  readonly erased_at: Date;
  readonly actor: string;
  /** Ids of the memories that are gone. */
  readonly memories: readonly string[];
  /** Rows that were deleted or blanked, by table. */
  readonly counts: Readonly<Record<string, number>>;
}

export interface Receipt extends NewReceipt {
  readonly before: Uint8Array;
  readonly hash: Uint8Array;
}

/** An event of the stream that tells of an erasure. */
export interface ErasureTold {
  readonly receipt: string;
  /** In hex. */
  readonly hash: string;
}

/** Stands before the first receipt of a tenant. */
export const FIRST = new Uint8Array(32);

/** What the hash of a receipt is made of. */
export const receiptText = (receipt: NewReceipt, before: Uint8Array): string =>
  JSON.stringify([
    hex(before),
    receipt.id,
    receipt.tenant_id,
    receipt.butler,
    receipt.kind,
    receipt.erased_at.toISOString(),
    receipt.actor,
    [...receipt.memories].toSorted(),
    Object.entries(receipt.counts).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  ]);

export const hex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/**
 * What is wrong with the receipts of a tenant, in order. The chain shows a receipt that was changed or taken out of its middle; that
 * the last one is missing is shown by the event that tells of it, and by the payloads that name it.
 */
export function receiptFaults(
  receipts: readonly Receipt[],
  told: readonly ErasureTold[],
  named: readonly string[],
  hashOf: (text: string) => Uint8Array,
): string[] {
  const faults: string[] = [];
  let before: Uint8Array = FIRST;
  for (const receipt of receipts) {
    if (hex(receipt.before) !== hex(before)) faults.push(`a receipt before ${receipt.id} is missing`);
    if (hex(hashOf(receiptText(receipt, receipt.before))) !== hex(receipt.hash))
      faults.push(`receipt ${receipt.id} was changed`);
    before = receipt.hash;
  }
  const known = new Map(receipts.map((receipt) => [receipt.id, hex(receipt.hash)]));
  const events = new Map(told.map(({ receipt, hash }) => [receipt, hash]));
  for (const [id, hash] of events)
    if (known.get(id) !== hash)
      faults.push(`receipt ${id} is ${known.has(id) ? "not the one that was written" : "missing"}`);
  for (const id of named) if (!known.has(id) && !events.has(id)) faults.push(`receipt ${id} is missing`);
  for (const id of known.keys()) if (!events.has(id)) faults.push(`no event tells of receipt ${id}`);
  return faults;
}
