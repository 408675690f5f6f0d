/** The tokens of a home, as its pages ask for them. */
import type { Home } from "../../daemon/home.ts";
import type { Owner } from "../../daemon/owner/owner.ts";
import { tenantOf } from "../../daemon/roster/roster.ts";
import { readLastUses } from "../../daemon/tokens/last-use.ts";
import {
  createToken,
  HOME_TOKEN,
  listTokens,
  revokeToken,
  rotateToken,
  type TokenInfo,
} from "../../daemon/tokens/tokens.ts";
import { type HomeTokens, type Principal, TENANT_OF_BUTLER } from "../../doors/backend.ts";
import type { Clock } from "../../engine/adapters/clock.ts";
import type { Outcome } from "../../engine/tools/outcome.ts";

/** Whoever runs the home, and nobody who came with a token of one butler, one tenant or some scopes. */
const mayManage = ({ admin, butler, tenant, scopes }: Principal): boolean =>
  admin && butler === "*" && tenant === TENANT_OF_BUTLER && scopes === undefined;

const refusal = (code: "forbidden" | "conflict" | "not_found", message: string): Extract<Outcome, { ok: false }> => ({
  ok: false,
  error: { code, message, ...(code === "forbidden" ? { field: "role" } : {}) },
});
const refused = refusal("forbidden", "Tokens are for those who run the butler: butler open signs them in.");

const DAY_MS = 86_400_000;

const shown = (token: TokenInfo, lastUsed?: string) => ({
  name: token.name,
  butler: token.butler,
  role: token.role,
  admin: token.role === "admin" || token.role === "cross-tenant",
  reader: token.role === "reader",
  scopes: token.scopes ?? null,
  created: token.created,
  expires: token.expires ?? null,
  last_used: lastUsed ?? null,
});

export function homeTokens(home: Home, owner: Pick<Owner, "roster">, clock: Clock): HomeTokens {
  const own = (butler: string) => listTokens(home).filter((token) => token.butler === butler || token.butler === "*");
  const notHere = (butler: string, name: string, command: string) => {
    if (name === HOME_TOKEN)
      return refusal("conflict", `The token "${HOME_TOKEN}" is the home's own: butler token ${command} is for it.`);
    if (!own(butler).some((token) => token.name === name))
      return refusal("not_found", `There is no token named "${name}" here.`);
    return undefined;
  };
  return {
    async list(principal, butler) {
      if (!mayManage(principal)) return refused;
      const uses = readLastUses(home);
      return { ok: true, answer: { tokens: own(butler).map((token) => shown(token, uses[token.name])) } };
    },
    async create(principal, butler, { name, role, scopes, expiresInDays }) {
      if (!mayManage(principal)) return refused;
      const now = clock.now();
      const expires =
        expiresInDays === undefined ? undefined : new Date(now.getTime() + expiresInDays * DAY_MS).toISOString();
      const asked = { name, butler, tenant: tenantOf(owner.roster(), butler), role, scopes, expires };
      const { token, entry } = await createToken(home, asked, now);
      return { ok: true, answer: { token, ...shown(entry) } };
    },
    async rotate(principal, butler, name, graceMs) {
      const no = mayManage(principal) ? notHere(butler, name, "rotate") : refused;
      if (no !== undefined) return no;
      const { token, entry } = await rotateToken(home, name, { now: clock.now(), graceMs });
      return { ok: true, answer: { token, ...shown(entry) } };
    },
    async revoke(principal, butler, name) {
      const no = mayManage(principal) ? notHere(butler, name, "revoke") : refused;
      if (no !== undefined) return no;
      await revokeToken(home, name);
      return { ok: true, answer: { revoked: name } };
    },
  };
}
