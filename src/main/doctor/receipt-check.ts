/** Whether every erasure of a store still has its receipt. */

import type { Home } from "../../daemon/home.ts";
import { requestOwner } from "../../daemon/line/request.ts";
import type { ReceiptsReport } from "../../engine/memory/erase/receipts.ts";
import type { Outcome } from "../../engine/tools/outcome.ts";
import { type Finding, fail, ok } from "./finding.ts";

/** Nothing is said of a store in which nothing was erased. */
export function receiptFindings(butler: string, { receipts, faults }: ReceiptsReport): Finding[] {
  const check = `receipts ${butler}`;
  if (faults.length > 0)
    return [
      fail(
        check,
        faults.join("; "),
        "Somebody has changed the receipts of erasures by hand: restore them from a backup.",
      ),
    ];
  return receipts === 0
    ? []
    : [ok(check, `${receipts} ${receipts === 1 ? "erasure, its receipt is" : "erasures, their receipts are"} whole`)];
}

export async function receiptsOfOwner(home: Home, butler: string, timeoutMs: number): Promise<Finding[]> {
  const body = { butler, request: { tool: "view_receipts", input: {} } };
  const { json } = await requestOwner({ socket: home.socket, method: "POST", path: "/owner/call", timeoutMs, body });
  const outcome = json as Outcome;
  return outcome.ok ? receiptFindings(butler, outcome.answer as unknown as ReceiptsReport) : [];
}
