/** Checks tokens of the configured issuer (RFC 9068, as an OAuth 2.1 resource server): signature, issuer, audience and time. */
import type { Principal } from "../../doors/backend.ts";
import type { Clock } from "../../engine/adapters/clock.ts";
import type { Log } from "../../engine/adapters/log.ts";
import { errorCode, MemoryError } from "../../engine/domain/errors.ts";
import type { Failure } from "../../engine/tools/outcome.ts";
import type { OAuthSettings } from "../config/daemon-schema.ts";
import { principalIn } from "./claims.ts";
import { issuerKeys } from "./issuer-keys.ts";

export interface JwtParts {
  readonly settings: OAuthSettings;
  readonly clock: Clock;
  readonly log: Log;
  /** Between two requests for the issuer's keys. */
  readonly pauseMs?: number;
}

export type JwtChecker = (token: string) => Promise<Principal | Failure>;

export const isJwt = (token: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]*$/.test(token);

export function jwtChecker({ settings, clock, log, pauseMs }: JwtParts): JwtChecker {
  // Loaded by the first such token: most homes have no issuer.
  const load = async () => {
    const jose = await import("jose");
    const now = () => clock.now().getTime();
    const parts = { url: settings.jwks_url, local: jose.createLocalJWKSet, log, now };
    return { verify: jose.jwtVerify, keys: issuerKeys(pauseMs === undefined ? parts : { ...parts, pauseMs }) };
  };
  let loaded: ReturnType<typeof load> | undefined;
  return async (token) => {
    loaded ??= load();
    const { verify, keys } = await loaded;
    try {
      const { payload } = await verify(token, keys, {
        issuer: settings.issuer,
        audience: settings.audience,
        algorithms: [...settings.algorithms],
        clockTolerance: settings.clock_tolerance_seconds,
        currentDate: clock.now(),
        requiredClaims: ["exp", "sub"],
      });
      return principalIn(payload, settings);
    } catch (error) {
      return failureOf(error, settings);
    }
  };
}

function failureOf(error: unknown, settings: OAuthSettings): Failure {
  if (error instanceof MemoryError) {
    const { code, message, field } = error;
    return field === undefined ? { code, message } : { code, message, field };
  }
  return { code: "unauthorized", message: reasonFor(error, settings) };
}

const REASONS: Readonly<Record<string, string>> = {
  ERR_JWT_EXPIRED: "This token has expired; ask its issuer for a new one.",
  ERR_JWKS_NO_MATCHING_KEY: "This token is signed with a key that its issuer does not publish.",
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: "This token does not say with which of its issuer's keys it is signed.",
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: "The signature of this token is not that of its issuer.",
  ERR_JOSE_ALG_NOT_ALLOWED: "This token is signed in a way that is not accepted here.",
};

function reasonFor(error: unknown, { issuer, audience }: OAuthSettings): string {
  const claim = error instanceof Error && "claim" in error ? error.claim : undefined;
  if (errorCode(error) === "ERR_JWT_CLAIM_VALIDATION_FAILED") {
    if (claim === "aud") return `This token is for another audience than ${[audience].flat().join(" or ")}.`;
    if (claim === "iss") return `This token comes from another issuer than ${issuer}.`;
    if (claim === "nbf") return "This token is not valid yet; look at the clocks of its issuer and of this server.";
    return `The claim "${String(claim)}" of this token is missing or wrong.`;
  }
  return REASONS[errorCode(error) ?? ""] ?? "This token cannot be read.";
}
