/** Who a token of the issuer speaks for: its claims, by the names that `daemon.toml` gives them, as a principal. */
import { type Principal, TENANT_OF_BUTLER } from "../../doors/backend.ts";
import { forbidden } from "../../engine/domain/errors.ts";
import { isRecord } from "../../engine/domain/record.ts";
import { EVERY_SCOPE } from "../../engine/domain/scope.ts";
import { isTenantName } from "../../engine/domain/tenant.ts";
import { clip } from "../../engine/domain/text/text.ts";
import { BUTLER_NAME } from "../config/config.ts";
import type { OAuthSettings } from "../config/daemon-schema.ts";
import { rightsOf } from "../tokens/check-token.ts";
import { TOKEN_ROLES, type TokenRole } from "../tokens/token-file.ts";

type Claims = Readonly<Record<string, unknown>>;
type Named = Pick<OAuthSettings, "claims" | "fixed">;

/** Without a role a token may look: what it may do more must be said. */
const USUAL_ROLE: TokenRole = "reader";

export function principalIn(claims: Claims, settings: Named): Principal {
  const { sub } = claims;
  // It becomes the actor of events, which a database keeps as text: NUL and halves of characters have no place there.
  if (typeof sub !== "string" || sub === "" || /\p{C}/u.test(sub)) throw refused("sub", "names nobody");
  return {
    name: `oauth:${clip(sub, 150)}`,
    tenant: tenantIn(claims, settings),
    butler: butlerIn(claims, settings),
    voice: "agent",
    ...rightsOf(roleIn(claims, settings), scopesIn(claims, settings)),
  };
}

/** The wildcard for the tenant of each butler is for whoever runs the home, who may fix it; an issuer cannot claim it. */
function tenantIn(claims: Claims, { claims: named, fixed }: Named): string {
  if (fixed.tenant !== undefined) return fixed.tenant;
  const tenant = claimIn(claims, named.tenant);
  if (typeof tenant === "string" && isTenantName(tenant) && tenant !== TENANT_OF_BUTLER) return tenant;
  throw refused(named.tenant, "must name a tenant");
}

function butlerIn(claims: Claims, { claims: named, fixed }: Named): string {
  const butler = fixed.butler ?? claimIn(claims, named.butler);
  if (typeof butler === "string" && (butler === "*" || BUTLER_NAME.test(butler))) return butler;
  throw refused(named.butler, 'must name a butler, or "*" for every one');
}

/** Of several roles the one with the most rights: a list says what somebody may do, not what they may not. */
function roleIn(claims: Claims, { claims: named, fixed }: Named): TokenRole {
  if (fixed.role !== undefined) return fixed.role;
  const given = claimIn(claims, named.role);
  if (given === undefined) return USUAL_ROLE;
  const all = Array.isArray(given) ? given : [given];
  const role = TOKEN_ROLES.findLast((known) => all.includes(known));
  if (role !== undefined) return role;
  throw refused(named.role, `must be one of ${TOKEN_ROLES.join(", ")}`);
}

/** A list, or one text with spaces between, as the protocol writes scopes. An empty one opens nothing. */
function scopesIn(claims: Claims, { claims: named, fixed }: Named): readonly string[] | undefined {
  if (fixed.scopes !== undefined) return fixed.scopes;
  const given = claimIn(claims, named.scopes);
  if (given === undefined) return undefined;
  const list: unknown = typeof given === "string" ? given.split(/\s+/).filter((part) => part !== "") : given;
  if (Array.isArray(list) && list.length > 0 && list.length <= 50 && list.every(isScope)) return list;
  throw refused(named.scopes, "must list scopes of the butler");
}

const isScope = (scope: unknown): scope is string =>
  typeof scope === "string" && scope !== "" && scope.length <= 265 && scope !== EVERY_SCOPE;

/** A claim whose own name has dots (`https://example.org/tenant`) is found before an object is looked into. */
function claimIn(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let here: unknown = claims;
  for (const step of name.split(".")) here = isRecord(here) && Object.hasOwn(here, step) ? here[step] : undefined;
  return here;
}

const refused = (claim: string, what: string) =>
  forbidden(
    `The claim "${claim}" of this token ${what}; the issuer sets it, and [oauth] in daemon.toml says how it is read.`,
    "claims",
  );
