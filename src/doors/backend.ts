/** What the doors call: `daemon/owner/owner.ts` in the owner itself, elsewhere a proxy to a running owner. */

import type { Door } from "../engine/adapters/meter.ts";
import type { Condition } from "../engine/domain/health/conditions.ts";
import type { Measurements, StoreSizes } from "../engine/domain/health/measurements.ts";
import type { Trust } from "../engine/domain/learning/trust.ts";
import type { Following } from "../engine/memory/following.ts";
import type { Failure, Outcome, ToolRequest } from "../engine/tools/outcome.ts";

/** In the place of a principal's tenant: the tenant of the butler it calls, as `butler.toml` names it. */
export const TENANT_OF_BUTLER = "*";

/** Who is calling. `butler: "*"` may call every butler. */
export interface Principal {
  readonly name: string;
  /** `TENANT_OF_BUTLER` until the butler is known; `inTenant` replaces it. */
  readonly tenant: string;
  readonly butler: string;
  readonly admin: boolean;
  /** The highest trust that words over this connection can have; what a caller says of itself can only lower it. */
  readonly voice: Trust;
  /** Somebody who may look at everything that they could otherwise change. */
  readonly readOnly?: boolean;
  /** The only scopes that it reads and writes. Absent: those of its butler, or of its tenant for an admin. */
  readonly scopes?: readonly string[] | undefined;
  /** May look at the memories of other tenants (`X-Butler-Tenant`), each time with an event in their stream. */
  readonly crossTenant?: boolean;
}

/** The principal in a call to a butler of this tenant. */
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
  invoke(principal: Principal, butler: string, request: ToolRequest, following?: Following): Promise<Outcome>;
  /**
   * Truthful health. Of each butler: `open` (and it answers), `closed` (opens on first use), `off` (no memory), `failed` (could not
   * be opened) or `unknown` (its database or service does not answer), the last two with a reason.
   */
  health(): Promise<Health>;
  /** An event of an agent's session, sent by its hook. Absent: hooks are not served. Never throws. */
  hook?(principal: Principal, request: HookRequest): Promise<HookAnswer>;
  /** Absent where only memories are served. */
  readonly home?: HomeReads;
}

/** The backend as it is called through one door. */
export const through = (backend: Backend, door: Door, limited = false): Backend => ({
  ...backend,
  invoke: (principal, butler, request, following) =>
    backend.invoke(principal, butler, { ...request, door, ...(limited ? { limited } : {}) }, following),
});

/** What the home of the butlers knows besides their memories. Each refuses a principal of another tenant; none throws. */
export interface HomeReads {
  /** Sessions of agents with a butler, the newest first. */
  sessions(principal: Principal, butler: string): Promise<Outcome<{ readonly sessions: readonly SeenSession[] }>>;
  /** The settings in force and where each came from. */
  settings(principal: Principal, butler: string): Promise<Outcome<{ readonly values: readonly SeenSetting[] }>>;
  /** Answers a question about jobs; `request` is one of `butler job`. */
  jobs(principal: Principal, butler: string, request: Readonly<Record<string, unknown>>): Promise<Outcome>;
  /** What is measured of the butler, and what follows from it. */
  standing(principal: Principal, butler: string): Promise<Outcome<Standing>>;
  readonly tokens: HomeTokens;
  /** Calls `changed` whenever a memory of the butler was written to; the returned function ends that. */
  follow(butler: string, changed: () => void): () => void;
}

/** For whoever runs the home. What cannot be made or ended is thrown with its reason. */
export interface HomeTokens {
  list(principal: Principal, butler: string): Promise<Outcome>;
  create(principal: Principal, butler: string, asked: AskedToken): Promise<Outcome>;
  /** A new one in its place; the old one works on for `graceMs`. */
  rotate(principal: Principal, butler: string, name: string, graceMs: number): Promise<Outcome>;
  revoke(principal: Principal, butler: string, name: string): Promise<Outcome>;
}

export interface AskedToken {
  readonly name: string;
  readonly role: "reader" | "writer" | "admin";
  readonly scopes?: readonly string[] | undefined;
  readonly expiresInDays?: number | undefined;
}

export interface SeenSession {
  readonly id: string;
  readonly key?: string;
  /** As episodes and events name it. */
  readonly session_id: string;
  readonly agent: string;
  readonly kind: string;
  readonly project?: string;
  readonly folder: string;
  readonly prompt?: string;
  readonly at: string;
  readonly ended_at?: string;
  readonly state: "running" | "done" | "failed" | "lost";
  readonly memory: string;
  readonly episodes?: number;
  readonly duration_ms?: number;
  readonly cost_usd?: number;
  readonly told: readonly { readonly at: string; readonly tokens: number; readonly ids: readonly string[] }[];
}

export interface SeenSetting {
  readonly key: string;
  readonly value?: unknown;
  readonly source: string;
  readonly differs: boolean;
}

export interface HookRequest {
  readonly agent: string;
  readonly event: string;
  readonly butler: string;
  /** The JSON that the agent gave its hook. */
  readonly input: unknown;
  /** An explicit key; without one it is found from the session's folder. */
  readonly project?: string | undefined;
  /** The opening that the session was given without asking, as the hook read it from its file. */
  readonly given?: string | undefined;
  /** When the agent went on without waiting, in milliseconds since 1970: an answer would reach nobody. */
  readonly gone?: number | undefined;
}

/** `answer` is in the agent's own format; absent when there is nothing to say. */
export type HookAnswer =
  | {
      readonly ok: true;
      readonly answer?: Record<string, unknown> | undefined;
      /** To be called once: true when the answer was sent, false when the hook did not wait for it. */
      readonly settled?: ((delivered: boolean) => void) | undefined;
    }
  | { readonly ok: false; readonly error: Failure };

export interface Health {
  readonly ok: boolean;
  readonly version: string;
  readonly model: string;
  /** No store is open and no model is loaded: the next call brings them back. Absent where nobody can say. */
  readonly resting?: boolean;
  readonly butlers: readonly {
    name: string;
    store: "open" | "closed" | "off" | "failed" | "unknown";
    reason?: string;
  }[];
  /** Why a changed roster is not in force; the former one is used. */
  readonly roster?: string;
}

/** How a butler stands: the measurements are of its whole store, for those who run it. */
export interface Standing {
  readonly name: string;
  readonly at: Date;
  readonly measured: Measurements;
  readonly sizes: StoreSizes | undefined;
  readonly conditions: readonly Condition[];
}
