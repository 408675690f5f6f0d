/** Names of tenants that could be taken for another one, or that some door cannot carry, are refused. */
import { expect, test } from "vitest";
import { DaemonToml } from "../../src/daemon/config/daemon-schema.ts";
import { principalIn } from "../../src/daemon/oauth/claims.ts";
import { isTenantName } from "../../src/engine/domain/tenant.ts";

const GOOD = ["default", "north", "küche", "東京", "Acme & Söhne", "a".repeat(64), "*"];
const BAD = [
  "",
  " north",
  "north ",
  "no\u0000rth",
  "north\n",
  "no\u200brth",
  "\u202enorth",
  "ku\u0308che",
  "\ud800",
  "a".repeat(65),
];

test("what a tenant may be called", () => {
  for (const name of GOOD) expect(isTenantName(name), name).toBe(true);
  for (const name of BAD) expect(isTenantName(name), JSON.stringify(name)).toBe(false);
});

test("an issuer's token that names no such tenant, or nobody, is refused by its claims", () => {
  const oauth = { issuer: "https://id.example", audience: "butler", jwks_url: "https://id.example/keys" };
  const settings = DaemonToml.parse({ oauth }).oauth;
  if (settings === undefined) throw new Error("there is an issuer");
  const claims = { sub: "ann", tenant: "küche", butler: "ada" };
  expect(principalIn(claims, settings)).toMatchObject({ name: "oauth:ann", tenant: "küche", readOnly: true });
  for (const tenant of [...BAD, "*"])
    expect(() => principalIn({ ...claims, tenant }, settings), JSON.stringify(tenant)).toThrow(/must name a tenant/);
  for (const sub of ["", "a\u0000b", "\ud800"])
    expect(() => principalIn({ ...claims, sub }, settings)).toThrow(/names nobody/);
  for (const tenant of BAD)
    expect(DaemonToml.safeParse({ oauth: { ...oauth, fixed: { tenant } } }).success).toBe(false);
});
