/** Tokens on the pages: for whoever runs the home, shown once, and ended at once. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Home, homeAt, prepareHome } from "../../../src/daemon/home.ts";
import { tokenChecker } from "../../../src/daemon/tokens/check-token.ts";
import { createToken, ensureHomeToken } from "../../../src/daemon/tokens/tokens.ts";
import { type HomeReads, TENANT_OF_BUTLER } from "../../../src/doors/backend.ts";
import { homeTokens } from "../../../src/main/owner/home-tokens.ts";
import { apiOver } from "../../support/api-rig.ts";
import type { Rig } from "../../support/stores.ts";

const now = new Date("2026-01-02T03:04:05Z");
let home: Home;
let own: string;

beforeEach(async () => {
  home = homeAt(mkdtempSync(join(tmpdir(), "home-")));
  prepareHome(home);
  own = await ensureHomeToken(home, now);
});
afterEach(() => rmSync(home.root, { recursive: true }));

/** No memory is asked for here. */
function api() {
  const check = tokenChecker(home);
  const tokens = homeTokens(home, { roster: () => [] }, { now: () => now, fixed: true });
  const reads = { tokens } as unknown as HomeReads;
  return apiOver({} as Rig, { authenticate: async (token) => check(token) }, { home: reads });
}

test("a token is made, listed without its secret, opens its butler alone, and is refused once it is revoked", async () => {
  const pages = api();
  const made = await pages.post("tokens", { name: "laptop", reader: true }, { as: own });
  expect(made).toMatchObject({ name: "laptop", butler: "general", admin: false, reader: true });
  expect(tokenChecker(home)(made.token)).toMatchObject({ butler: "general", readOnly: true, admin: false });
  const { tokens } = await pages.get("tokens", { as: own });
  expect(tokens.map(({ name }: { name: string }) => name)).toEqual(["home", "laptop"]);
  expect(JSON.stringify(tokens)).not.toContain(made.token);
  expect(readFileSync(home.tokensFile, "utf8")).not.toContain(made.token);
  expect(await pages.post("tokens/laptop/revoke", {}, { as: own })).toEqual({ revoked: "laptop" });
  expect((await pages.ask("GET", "tokens", { as: made.token })).status).toBe(401);
});

test("nobody else reads or changes them", async () => {
  const pages = api();
  const strangers = {
    agent: { butler: "general", tenant: "default", role: "writer" },
    tenant: { butler: "*", tenant: "others", role: "admin" },
    butler: { butler: "general", tenant: TENANT_OF_BUTLER, role: "admin" },
    scoped: { butler: "*", tenant: TENANT_OF_BUTLER, role: "admin", scopes: ["general"] },
    reader: { butler: "*", tenant: TENANT_OF_BUTLER, role: "reader", scopes: ["*"] },
  } as const;
  for (const [name, asked] of Object.entries(strangers)) {
    const { token } = await createToken(home, { name, ...asked }, now);
    for (const [path, body] of [
      ["tokens", { name: "mine" }],
      ["tokens/agent/revoke", {}],
      ["tokens/agent/rotate", {}],
    ] as const)
      expect(await pages.refused(path, { method: "POST", as: token, body }), `${name} ${path}`).toMatchObject({
        status: 403,
      });
    if (name !== "reader") expect(await pages.refused("tokens", { as: token })).toMatchObject({ status: 403 });
  }
  expect((await pages.get("tokens", { as: own })).tokens).toHaveLength(1 + Object.keys(strangers).length);
});

test("a token with a role, scopes and a last day; a new one in its place ends it", async () => {
  const pages = api();
  const asked = { name: "ci", role: "writer", scopes: ["general/app"], expires_in_days: 30 };
  const made = await pages.post("tokens", asked, { as: own });
  expect(made).toMatchObject({ role: "writer", scopes: ["general/app"], expires: "2026-02-01T03:04:05.000Z" });
  const turned = await pages.post("tokens/ci/rotate", {}, { as: own });
  expect(turned).toMatchObject({ name: "ci", scopes: ["general/app"], expires: made.expires });
  const check = tokenChecker(home, { clock: { now: () => now, fixed: true } });
  expect(check(turned.token)).toMatchObject({ name: "ci", scopes: ["general/app"] });
  expect(check(made.token)).toBeUndefined();
});

test("what cannot be done is refused with its reason", async () => {
  const pages = api();
  expect(await pages.refused("tokens", { method: "POST", as: own, body: { name: "a b" } })).toMatchObject({
    status: 400,
    field: "name",
  });
  await pages.post("tokens", { name: "laptop" }, { as: own });
  expect(await pages.refused("tokens", { method: "POST", as: own, body: { name: "laptop" } })).toMatchObject({
    code: "conflict",
  });
  expect(await pages.refused("tokens/home/revoke", { method: "POST", as: own, body: {} })).toMatchObject({
    code: "conflict",
  });
  expect(await pages.refused("tokens/nobody/revoke", { method: "POST", as: own, body: {} })).toMatchObject({
    code: "not_found",
  });
});
