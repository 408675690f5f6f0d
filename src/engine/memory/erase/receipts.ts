/** Whether every erasure still has its receipt. */
import { createHash } from "node:crypto";
import type { Sql } from "../../adapters/db/port.ts";
import { FIRST, type NewReceipt, type Receipt, receiptFaults, receiptText } from "../../domain/erasure/receipt.ts";
import { erasuresTold, receiptsNamed, receiptsOf, tenantsWithReceipts } from "../../store/erasure/receipts.ts";

const sha256 = (text: string): Uint8Array => createHash("sha256").update(text).digest();

export function chained(receipt: NewReceipt, last: Receipt | undefined): Receipt {
  const before = last?.hash ?? FIRST;
  return { ...receipt, before, hash: sha256(receiptText(receipt, before)) };
}

export interface ReceiptsReport {
  readonly receipts: number;
  readonly faults: readonly string[];
}

/** Of these tenants; of all of a store if they are left out. */
export async function verifyReceipts(sql: Sql, tenants?: readonly string[]): Promise<ReceiptsReport> {
  let count = 0;
  const faults: string[] = [];
  for (const tenant of tenants ?? (await tenantsWithReceipts(sql))) {
    const receipts = await receiptsOf(sql, tenant);
    const [told, named] = [await erasuresTold(sql, tenant), await receiptsNamed(sql, tenant)];
    count += receipts.length;
    faults.push(...receiptFaults(receipts, told, named, sha256));
  }
  return { receipts: count, faults };
}
