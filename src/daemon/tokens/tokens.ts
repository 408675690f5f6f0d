/** Tokens for HTTP. Only hashes are kept; the one token in clear text is that of the person who owns the home, in `token` (0600). */
import { createHash, randomBytes } from "node:crypto";
import { TENANT_OF_BUTLER } from "../../doors/backend.ts";
import { conflict, invalid, notFound } from "../../engine/domain/errors.ts";
import { butlerOf, EVERY_SCOPE, GLOBAL_SCOPE } from "../../engine/domain/scope.ts";
import { tenantFault } from "../../engine/domain/tenant.ts";
import { BUTLER_NAME } from "../config/config.ts";
import { type Home, readIfThere, writePrivate } from "../home.ts";
import { changeTokens, readTokens, type TokenEntry, type TokenRole } from "./token-file.ts";

export interface TokenInfo extends Omit<TokenEntry, "sha256" | "previous"> {
  /** Until then the token before the last rotation works too. */
  readonly previous_until?: string;
}

export interface TokenRequest {
  readonly name: string;
  readonly butler: string;
  readonly tenant: string;
  readonly role: TokenRole;
  readonly scopes?: readonly string[] | undefined;
  /** ISO time. */
  readonly expires?: string | undefined;
}

/** The name of the token in the file `token`. It may do everything: who can read that file can read the data too. */
export const HOME_TOKEN = "home";

const TOKEN_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const MOST_SCOPES = 50;

export async function createToken(
  home: Home,
  asked: TokenRequest,
  now: Date,
): Promise<{ token: string; entry: TokenInfo }> {
  checkRequest(asked, now);
  const { name, butler, tenant, role, scopes, expires } = asked;
  const token = freshToken();
  return changeTokens(home, (tokens) => {
    if (tokens.some((entry) => entry.name === name)) {
      throw conflict(`A token named "${name}" exists; revoke it first or choose another name.`);
    }
    const made: TokenEntry = {
      ...{ name, butler, tenant, role },
      ...(scopes === undefined || scopes.length === 0 ? {} : { scopes: [...new Set(scopes)] }),
      ...(expires === undefined ? {} : { expires }),
      created: now.toISOString(),
      sha256: hashOf(token),
    };
    return { tokens: [...tokens, made], result: { token, entry: infoOf(made) } };
  });
}

function checkRequest({ name, butler, tenant, role, scopes = [], expires }: TokenRequest, now: Date): void {
  if (!TOKEN_NAME.test(name)) throw invalid("name", "A token's name has letters, digits, '.', '_' or '-', at most 64.");
  if (butler !== "*" && !BUTLER_NAME.test(butler))
    throw invalid("butler", `"${butler}" is not a butler's name, nor "*".`);
  const fault = tenantFault(tenant);
  if (fault !== undefined) throw invalid("tenant", `A tenant's name ${fault}.`);
  if (scopes.length > MOST_SCOPES) throw invalid("scope", `A token has at most ${MOST_SCOPES} scopes.`);
  if (expires !== undefined && expires <= now.toISOString())
    throw invalid("expires", "The token would be refused from the start; give a time that lies ahead.");
  for (const scope of scopes) checkScope(scope, butler, role, scopes.length);
}

function checkScope(scope: string, butler: string, role: TokenRole, count: number): void {
  if (scope === EVERY_SCOPE) {
    if (role === "reader" && count === 1) return;
    throw invalid("scope", 'Scope "*" is for a reader that sees every scope; admins do without it.');
  }
  if (scope === GLOBAL_SCOPE) return;
  const of = butlerOf(scope);
  if (!BUTLER_NAME.test(of) || scope.length > 265 || scope.endsWith("/"))
    throw invalid("scope", `"${scope}" is no scope; write global, <butler> or <butler>/<project>.`);
  if (butler !== "*" && of !== butler && role !== "admin" && role !== "cross-tenant")
    throw invalid("scope", `"${scope}" is a scope of "${of}", which a token for "${butler}" never reaches.`);
}

export const listTokens = (home: Home): TokenInfo[] => readTokens(home).map(infoOf);

function infoOf({ sha256: _, previous, ...entry }: TokenEntry): TokenInfo {
  return previous === undefined ? entry : { ...entry, previous_until: previous.until };
}

const noSuchToken = (name: string) => notFound(`There is no token named "${name}"; "butler token list" shows them.`);

export async function revokeToken(home: Home, name: string): Promise<void> {
  await changeTokens(home, (tokens) => {
    const kept = tokens.filter((entry) => entry.name !== name);
    if (kept.length === tokens.length) throw noSuchToken(name);
    return { tokens: kept, result: undefined };
  });
}

export interface Rotation {
  readonly now: Date;
  /** How long the former token still works. */
  readonly graceMs: number;
  /** ISO time; without it the expiry stays. */
  readonly expires?: string | undefined;
}

/** A new token of the same name and rights in the place of the old one. */
export async function rotateToken(
  home: Home,
  name: string,
  { now, graceMs, expires }: Rotation,
): Promise<{ token: string; entry: TokenInfo }> {
  const token = freshToken();
  return changeTokens(home, (tokens) => {
    const old = tokens.find((entry) => entry.name === name);
    if (old === undefined) throw noSuchToken(name);
    const { previous: _, ...kept } = old;
    const made: TokenEntry = {
      ...kept,
      sha256: hashOf(token),
      rotated: now.toISOString(),
      ...(expires === undefined ? {} : { expires }),
      ...(graceMs > 0
        ? { previous: { sha256: old.sha256, until: new Date(now.getTime() + graceMs).toISOString() } }
        : {}),
    };
    if (made.expires !== undefined && made.expires <= now.toISOString())
      throw invalid("expires", `The token "${name}" has expired; give it a new time: --expires 90d.`);
    if (name === HOME_TOKEN) writePrivate(home.tokenFile, `${token}\n`);
    return { tokens: tokens.map((entry) => (entry === old ? made : entry)), result: { token, entry: infoOf(made) } };
  });
}

/** Makes the token of the home on the first start, and again when its file was removed. */
export async function ensureHomeToken(home: Home, now: Date): Promise<string> {
  return changeTokens(home, (tokens) => {
    const known = readIfThere(home.tokenFile)?.trim();
    const kept = known && tokens.find((entry) => entry.sha256 === hashOf(known));
    if (kept && kept.tenant === TENANT_OF_BUTLER) return { tokens, result: known };
    // Earlier versions wrote one tenant for all butlers. The token itself stays the same: programs have it in their settings.
    const token = kept ? known : freshToken();
    if (!kept) writePrivate(home.tokenFile, `${token}\n`);
    const entry: TokenEntry = {
      ...{ name: HOME_TOKEN, butler: "*", tenant: TENANT_OF_BUTLER, role: "admin" },
      created: now.toISOString(),
      sha256: hashOf(token),
    };
    return { tokens: [...tokens.filter((other) => other.name !== HOME_TOKEN), entry], result: token };
  });
}

const freshToken = () => `bm_${randomBytes(32).toString("base64url")}`;
export const hashOf = (token: string) => createHash("sha256").update(token).digest("hex");
