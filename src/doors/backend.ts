/** What the doors need from the house behind them. `daemon/owner/owner.ts` is one; a proxy to a running owner is another. */
import type { Trust } from "../engine/domain/learning/trust.ts";
import type { Failure, Outcome, ToolRequest } from "../engine/tools/outcome.ts";

/** As a principal's tenant: that of the butler it addresses, as `butler.toml` names it. */
export const TENANT_OF_BUTLER = "*";

/** Who stands at the door. `butler: "*"` may speak for every butler of the house. */
export interface Principal {
  readonly name: string;
  /** `TENANT_OF_BUTLER` until the butler is known; `inTenant` settles it. */
  readonly tenant: string;
  readonly butler: string;
  readonly admin: boolean;
  /** The highest trust with which this connection may speak; what it says of itself can only lower it. */
  readonly voice: Trust;
}

/** The principal as it stands before a butler of this tenant. */
export const inTenant = (principal: Principal, tenant: string): Principal =>
  principal.tenant === TENANT_OF_BUTLER ? { ...principal, tenant } : principal;

export interface ButlerInfo {
  readonly name: string;
  readonly role: "butler" | "memory";
  readonly description: string;
}

export interface Backend {
  butlers(): Promise<readonly ButlerInfo[]>;
  /** Never throws: what goes wrong is an outcome. */
  invoke(principal: Principal, butler: string, request: ToolRequest): Promise<Outcome>;
  /**
   * Truthful health. Of each butler: `open` (and it answers), `closed` (opens on first use), `off` (no memory), `failed` (could not
   * be opened) or `unknown` (its database or service does not answer), the last two with a reason.
   */
  health(): Promise<Health>;
  /** A moment in the life of an agent's session, told by its hook. Absent: this host has no hooks. Never throws. */
  hook?(principal: Principal, request: HookRequest): Promise<HookAnswer>;
}

export interface HookRequest {
  readonly agent: string;
  readonly event: string;
  readonly butler: string;
  /** As the agent wrote it. */
  readonly input: unknown;
  /** An explicit key; without one the session's folder tells. */
  readonly project?: string | undefined;
}

/** `answer` is in the agent's own format; none when there is nothing to say. */
export type HookAnswer =
  | {
      readonly ok: true;
      readonly answer?: Record<string, unknown> | undefined;
      /** To be called once: whether the answer has left for the agent, or its hook did not wait for it. */
      readonly settled?: ((delivered: boolean) => void) | undefined;
    }
  | { readonly ok: false; readonly error: Failure };

export interface Health {
  readonly ok: boolean;
  readonly version: string;
  readonly model: string;
  readonly butlers: readonly {
    name: string;
    store: "open" | "closed" | "off" | "failed" | "unknown";
    reason?: string;
  }[];
  /** Why a changed roster is not in force: the former one goes on. */
  readonly roster?: string;
}
