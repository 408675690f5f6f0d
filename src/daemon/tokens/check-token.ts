/** Whose token it is. The file's time is looked at with every call, so that a revoked token is out at once and without a signal. */
import { timingSafeEqual } from "node:crypto";
import { statSync } from "node:fs";
import type { Principal } from "../../doors/backend.ts";
import { type Clock, systemClock } from "../../engine/adapters/clock.ts";
import { isMissing } from "../../engine/domain/errors.ts";
import { EVERY_SCOPE } from "../../engine/domain/scope.ts";
import type { Failure } from "../../engine/tools/outcome.ts";
import type { Home } from "../home.ts";
import { readTokens, type TokenEntry, type TokenRole } from "./token-file.ts";
import { hashOf } from "./tokens.ts";

export interface CheckParts {
  /** Real time, also for an owner with BUTLER_NOW: a token must not outlive its expiry because a clock stands still. */
  readonly clock?: Clock;
  /** Told of each use of a valid token. */
  used?(name: string, now: Date): void;
}

/** Undefined: nobody's token. A failure says why a known one is not taken. */
export type TokenChecker = (token: string) => Principal | Failure | undefined;

export function tokenChecker(home: Home, { clock = systemClock, used }: CheckParts = {}): TokenChecker {
  let seen = "";
  let tokens: readonly TokenEntry[] = [];
  return (token) => {
    const stamp = stampOf(home.tokensFile);
    if (stamp !== seen) {
      tokens = readTokens(home);
      seen = stamp;
    }
    const digest = hashOf(token);
    const now = clock.now();
    const at = now.toISOString();
    const entry = tokens.find((candidate) => isOf(candidate, digest));
    if (entry === undefined) return undefined;
    if (entry.expires !== undefined && entry.expires <= at)
      return refused(
        `This token expired at ${entry.expires}; butler token rotate ${entry.name} --expires 90d renews it.`,
      );
    if (!sameHash(entry.sha256, digest) && (entry.previous?.until ?? "") <= at)
      return refused(`This token was replaced at ${entry.rotated}; use the new one, or rotate it again.`);
    used?.(entry.name, now);
    return principalOf(entry);
  };
}

const refused = (message: string): Failure => ({ code: "unauthorized", message });

const isOf = ({ sha256, previous }: TokenEntry, digest: string): boolean =>
  sameHash(sha256, digest) || (previous !== undefined && sameHash(previous.sha256, digest));

/** A token is held by a program: what comes with one never counts as the word of a person. */
function principalOf({ name, tenant, butler, role, scopes }: TokenEntry): Principal {
  return { name, tenant, butler, voice: "agent", ...rightsOf(role, scopes) };
}

type Rights = Pick<Principal, "admin" | "readOnly" | "scopes" | "crossTenant">;

/** What a role and scopes come to, for our tokens and for those of an issuer. */
export function rightsOf(role: TokenRole, scopes: readonly string[] | undefined): Rights {
  const every = scopes?.includes(EVERY_SCOPE) === true;
  return {
    admin: role === "admin" || role === "cross-tenant" || (role === "reader" && every),
    ...(role === "reader" ? { readOnly: true } : {}),
    ...(scopes === undefined || every ? {} : { scopes }),
    ...(role === "cross-tenant" ? { crossTenant: true } : {}),
  };
}

function stampOf(file: string): string {
  try {
    const { mtimeMs, ino, size } = statSync(file);
    return `${mtimeMs}/${ino}/${size}`;
  } catch (error) {
    if (isMissing(error)) return "none";
    throw error;
  }
}

function sameHash(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}
