/** The tokens of a home, as its pages ask for them. */
import type { Home } from "../../daemon/home.ts";
import type { Owner } from "../../daemon/owner/owner.ts";
import { tenantOf } from "../../daemon/roster/roster.ts";
import { createToken, HOME_TOKEN, listTokens, revokeToken, type TokenInfo } from "../../daemon/tokens/tokens.ts";
import { type HomeTokens, type Principal, TENANT_OF_BUTLER } from "../../doors/backend.ts";
import type { Clock } from "../../engine/adapters/clock.ts";
import type { Outcome } from "../../engine/tools/outcome.ts";

/** Whoever runs the home, and nobody who came with a token of one butler or one tenant. */
const mayManage = ({ admin, butler, tenant }: Principal): boolean =>
  admin && butler === "*" && tenant === TENANT_OF_BUTLER;

const refused: Extract<Outcome, { ok: false }> = {
  ok: false,
  error: { code: "forbidden", message: "Tokens are for those who run the butler: butler open signs them in." },
};

const shown = ({ name, butler, admin, reader = false, created }: TokenInfo) => ({
  name,
  butler,
  admin,
  reader,
  created,
});

export function homeTokens(home: Home, owner: Pick<Owner, "roster">, clock: Clock): HomeTokens {
  const own = (butler: string) => listTokens(home).filter((token) => token.butler === butler || token.butler === "*");
  return {
    list: async (principal, butler) =>
      mayManage(principal) ? { ok: true, answer: { tokens: own(butler).map(shown) } } : refused,
    async create(principal, butler, { name, reader }) {
      if (!mayManage(principal)) return refused;
      const asked = { name, butler, tenant: tenantOf(owner.roster(), butler), admin: false };
      const { token, entry } = await createToken(home, { ...asked, ...(reader ? { reader } : {}) }, clock.now());
      return { ok: true, answer: { token, ...shown(entry) } };
    },
    async revoke(principal, butler, name) {
      if (!mayManage(principal)) return refused;
      if (name === HOME_TOKEN)
        return {
          ok: false,
          error: {
            code: "conflict",
            message: `The token "${HOME_TOKEN}" is the home's own: butler token revoke ends it.`,
          },
        };
      if (!own(butler).some((token) => token.name === name))
        return { ok: false, error: { code: "not_found", message: `There is no token named "${name}" here.` } };
      await revokeToken(home, name);
      return { ok: true, answer: { revoked: name } };
    },
  };
}
