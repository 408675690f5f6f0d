/** The schema of `daemon.toml`: what holds for the whole home and every butler in it. */
import { z } from "zod";
import { isTenantName } from "../../engine/domain/tenant.ts";
import { TOKEN_ROLES } from "../tokens/token-file.ts";
import { BUTLER_NAME } from "./schema.ts";

/** Signatures that are made with a private key. With a shared secret whoever checks a token could make one. */
const ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"] as const;

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

function isSafeAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === "https:" || (protocol === "http:" && LOOPBACK.has(hostname));
}

const address = z
  .string()
  .refine(isSafeAddress, { error: "an address that begins with https:// (http:// on this machine alone)" });
const claim = z.string().min(1).max(200);
const text = z.string().min(1).max(200);

const OAuth = z.strictObject({
  issuer: address,
  audience: z.union([text, z.array(text).min(1)], { error: "the audience of this server, or a list of them" }),
  jwks_url: address,
  /** The address under which clients know this server; without it that of the request. */
  resource: address.optional(),
  algorithms: z
    .array(z.enum(ALGORITHMS))
    .min(1)
    .default([...ALGORITHMS]),
  clock_tolerance_seconds: z.number().min(0).max(300).default(30),
  /** The names of the claims; a dot leads into an object. */
  claims: z
    .strictObject({
      tenant: claim.default("tenant"),
      butler: claim.default("butler"),
      scopes: claim.default("butler_scopes"),
      role: claim.default("butler_role"),
    })
    .prefault({}),
  /** Values for every token of this issuer, in the place of a claim. */
  fixed: z
    .strictObject({
      tenant: text.refine(isTenantName, { error: "the name of a tenant" }).optional(),
      butler: text
        .refine((name) => name === "*" || BUTLER_NAME.test(name), { error: 'the name of a butler, or "*"' })
        .optional(),
      role: z.enum(TOKEN_ROLES).optional(),
      scopes: z.array(text).min(1).optional(),
    })
    .prefault({}),
});

const above = (least: number, most: number) => z.number().min(least).max(most);
const whole = (least: number, most: number) => z.number().int().min(least).max(most);

/** For callers with a token. The defaults are far above what one person's agents ask for. */
const Limits = z.strictObject({
  /** Of one token, on average; as many seconds' worth may come at once as `burst_seconds` says. */
  calls_per_second: above(0.1, 100_000).default(200),
  /** Of all tokens of one tenant together. */
  tenant_calls_per_second: above(0.1, 100_000).default(400),
  burst_seconds: above(1, 600).default(5),
  bytes_per_second: whole(1_024, 1_000_000_000).default(8_388_608),
  max_body_bytes: whole(1_024, 33_554_432).default(8_388_608),
  timeout_seconds: above(1, 3_600).default(120),
  /** Calls of a tenant at the same time while no other tenant calls, and while others do. */
  calls_at_once: whole(1, 10_000).default(32),
  shared_calls_at_once: whole(1, 10_000).default(1),
  /** Calls of one tenant that wait for their turn. */
  calls_waiting: whole(1, 100_000).default(64),
});

export const DaemonToml = z.strictObject({ oauth: OAuth.optional(), limits: Limits.prefault({}) });

export type DaemonSettings = z.infer<typeof DaemonToml>;
export type LimitSettings = z.infer<typeof Limits>;
export type OAuthSettings = z.infer<typeof OAuth>;
