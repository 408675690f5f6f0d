/** A line for each token in `butler token list`. */
import type { LastUses } from "../../daemon/tokens/last-use.ts";
import type { TokenInfo } from "../../daemon/tokens/tokens.ts";
import { TENANT_OF_BUTLER } from "../../doors/backend.ts";

export function tokenLine(token: TokenInfo, uses: LastUses, now: Date): string {
  const { name, butler, tenant, role, scopes, created } = token;
  const used = uses[name];
  const parts = [
    tenant === TENANT_OF_BUTLER ? "the butler's tenant" : `tenant ${tenant}`,
    scopes === undefined ? "every scope of its role" : `scopes ${scopes.join(" ")}`,
    `since ${day(created)}`,
    expiryWords(token, now),
    ...(token.previous_until !== undefined && token.previous_until > now.toISOString()
      ? [`the former one works until ${minute(token.previous_until)}`]
      : []),
    used === undefined ? "not used yet" : `last used ${used}`,
  ];
  return `${name.padEnd(20)} ${role.padEnd(13)} ${(butler === "*" ? "every butler" : butler).padEnd(16)} ${parts.join(", ")}`;
}

function expiryWords({ expires }: TokenInfo, now: Date): string {
  if (expires === undefined) return "no expiry";
  return expires <= now.toISOString() ? `expired ${day(expires)}` : `expires ${day(expires)}`;
}

const day = (at: string): string => at.slice(0, 10);
const minute = (at: string): string => `${at.slice(0, 16).replace("T", " ")} UTC`;
