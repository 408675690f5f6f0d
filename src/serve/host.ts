/** What the doors need from the house behind them. `butler/owner.ts` is one; a proxy to a running owner is another. */
import type { Outcome, ToolRequest } from "../tools/outcome.ts";

/** Who stands at the door. `butler: "*"` may speak for every butler of the house. */
export interface Principal {
  readonly name: string;
  readonly tenant: string;
  readonly butler: string;
  readonly admin: boolean;
}

export interface ButlerInfo {
  readonly name: string;
  readonly role: "butler" | "memory";
  readonly description: string;
}

export interface Host {
  butlers(): Promise<readonly ButlerInfo[]>;
  /** Never throws: what goes wrong is an outcome. */
  invoke(principal: Principal, butler: string, request: ToolRequest): Promise<Outcome>;
  /** Truthful health: per butler `open`, `closed` (opens on first use) or `failed` with a reason. */
  health(): Promise<Health>;
}

export interface Health {
  readonly ok: boolean;
  readonly version: string;
  readonly model: string;
  readonly butlers: readonly { name: string; store: "open" | "closed" | "failed"; reason?: string }[];
}
