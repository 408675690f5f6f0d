/** Tokens of an issuer: a real one on loopback, the checks of every claim, and a real client over MCP. */

import { createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readDaemonSettings } from "../../src/daemon/config/daemon-config.ts";
import { DaemonToml } from "../../src/daemon/config/daemon-schema.ts";
import { homeAt } from "../../src/daemon/home.ts";
import { jwtChecker } from "../../src/daemon/oauth/check-jwt.ts";
import { silentLog } from "../../src/engine/adapters/log.ts";
import { AUDIENCE, type Issuer, startIssuer } from "../support/issuer.ts";
import { cleanUp, emptyHome, up } from "../support/owner-processes.ts";
import { PatientClient } from "../support/patient-client.ts";

let issuer: Issuer;
let now = new Date();
beforeAll(async () => {
  issuer = await startIssuer(() => now);
});
afterAll(async () => {
  await issuer.stop();
  await cleanUp();
});

function checker(oauth: object = {}) {
  const settings = DaemonToml.parse({
    oauth: { issuer: issuer.issuer, audience: AUDIENCE, jwks_url: issuer.jwksUrl, ...oauth },
  }).oauth;
  if (settings === undefined) throw new Error("no settings");
  return jwtChecker({ settings, clock: { now: () => now, fixed: true }, log: silentLog });
}

const seconds = (offset: number) => Math.floor(now.getTime() / 1_000) + offset;
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

test("claims become a principal; what they may mean is set in daemon.toml", async () => {
  const check = checker();
  const who = { name: "oauth:agent-7", tenant: "acme", butler: "general", voice: "agent", admin: false };
  expect(await check(await issuer.token())).toEqual(who);
  expect(await check(await issuer.token({ butler_role: undefined }))).toEqual({ ...who, readOnly: true });
  const scoped = { butler_role: ["reader", "admin"], butler_scopes: "general general/app" };
  expect(await check(await issuer.token(scoped))).toEqual({ ...who, admin: true, scopes: ["general", "general/app"] });
  const mapped = checker({
    claims: { tenant: "https://example.org/org", role: "realm.roles" },
    fixed: { butler: "*" },
  });
  const token = await issuer.token({ "https://example.org/org": "beta", realm: { roles: ["writer", "guest"] } });
  expect(await mapped(token)).toEqual({ ...who, tenant: "beta", butler: "*" });
  const wrong = [{ tenant: "*" }, { tenant: undefined }, { tenant: 7 }, { butler: "A b" }, { butler: undefined }];
  const more = [{ butler_role: "root" }, { butler_scopes: [] }, { butler_scopes: ["*"] }, { butler_scopes: [1] }];
  for (const claims of [...wrong, ...more])
    expect(await check(await issuer.token(claims)), JSON.stringify(claims)).toMatchObject({
      ...{ code: "forbidden", field: "claims" },
    });
});

describe("a token that is not right is refused, each with its reason", () => {
  const cases: Readonly<Record<string, readonly [() => Promise<string>, RegExp]>> = {
    "another audience": [() => issuer.token({ aud: "https://elsewhere.example" }), /another audience/],
    "no audience": [() => issuer.token({ aud: undefined }), /audience/],
    "another issuer": [() => issuer.token({ iss: "https://elsewhere.example" }), /another issuer/],
    expired: [() => issuer.token({ exp: seconds(-31) }), /has expired/],
    "without an end": [() => issuer.token({ exp: undefined }), /"exp"/],
    "not yet valid": [() => issuer.token({ nbf: seconds(31) }), /not valid yet/],
    nobody: [() => issuer.token({ sub: undefined }), /"sub"/],
    "an unknown key": [() => issuer.token({}, { kid: "other" }), /does not publish/],
    "a changed claim": [
      async () => {
        const [head, , signature] = (await issuer.token()).split(".");
        const claims = { iss: issuer.issuer, aud: AUDIENCE, sub: "x", exp: seconds(600), tenant: "victim" };
        return `${head}.${part(claims)}.${signature}`;
      },
      /signature/,
    ],
    "no signature": [
      async () => `${part({ alg: "none" })}.${(await issuer.token()).split(".")[1]}.`,
      /not accepted here/,
    ],
    "the public key as a shared secret": [
      async () => {
        const text = `${part({ alg: "HS256", kid: "k0" })}.${(await issuer.token()).split(".")[1]}`;
        const secret = JSON.stringify(await issuer.publicKey());
        return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
      },
      /not accepted here/,
    ],
    nonsense: [async () => "a.b.c", /cannot be read/],
  };
  for (const [name, [make, reason]] of Object.entries(cases))
    test(name, async () => {
      expect(await checker()(await make())).toMatchObject({
        code: "unauthorized",
        message: expect.stringMatching(reason),
      });
    });
});

test("a new key is fetched once; while the issuer is down known keys work for half a day, and unknown ones are refused", async () => {
  const check = checker();
  const first = await issuer.token();
  const other = await issuer.token({ sub: "long", exp: seconds(100_000) });
  expect(await check(first)).toMatchObject({ name: "oauth:agent-7" });
  const asked = issuer.asked();
  await issuer.turnKey();
  const turned = await issuer.token();
  // Within half a minute the issuer is not asked again: a flood of made-up keys must not become one of requests.
  for (let n = 0; n < 5; n++) expect(await check(turned)).toMatchObject({ code: "unauthorized" });
  expect(issuer.asked()).toBe(asked);
  const start = now;
  now = new Date(start.getTime() + 31_000);
  issuer.answer(false);
  const down = { code: "unavailable", message: expect.stringMatching(/keys .* cannot be fetched/) };
  expect(await check(turned)).toMatchObject(down);
  expect(await check(other)).toMatchObject({ name: "oauth:long" });
  now = new Date(start.getTime() + 11 * 60 * 60_000);
  expect(await check(other)).toMatchObject({ name: "oauth:long" });
  now = new Date(start.getTime() + 12.1 * 60 * 60_000);
  expect(await check(other)).toMatchObject(down);
  now = new Date(start.getTime() + 12.2 * 60 * 60_000);
  issuer.answer(true);
  expect(await check(await issuer.token())).toMatchObject({ name: "oauth:agent-7" });
  // The key of before is not published any more.
  expect(await check(other)).toMatchObject({ code: "unauthorized" });
  now = new Date();
});

test("faults of daemon.toml are named with file, line and key, and no start goes past them", async () => {
  const home = emptyHome();
  writeFileSync(
    join(home, "daemon.toml"),
    '[oauth]\nissuer = "http://login.example.org"\naudience = "x"\nalgorithms = ["HS256"]\nfoo = 1\n',
  );
  const faults = expect.stringMatching(
    /daemon\.toml:2: oauth\.issuer: .*https[\s\S]*oauth\.jwks_url[\s\S]*oauth\.algorithms\.0[\s\S]*oauth\.foo: found a key/,
  );
  expect(() => readDaemonSettings(homeAt(home))).toThrow(expect.objectContaining({ message: faults }));
  await expect(up(home)).rejects.toThrow(/oauth\.issuer/);
});

test("a real client over MCP with a token of the issuer; without an issuer there is nothing to discover", async () => {
  const home = emptyHome();
  const plain = await up(home);
  for (const path of ["oauth-protected-resource", "oauth-authorization-server", "openid-configuration"])
    for (const end of ["", "/butlers/general/mcp"])
      expect((await fetch(`${plain.address}/.well-known/${path}${end}`)).status, path).toBe(404);
  expect((await fetch(`${plain.address}/register`, { method: "POST" })).status).toBe(404);
  const without = await fetch(`${plain.address}/butlers/general/mcp`, { method: "POST" });
  expect(without.headers.get("www-authenticate")).not.toContain("resource_metadata");
  await cleanUp();

  const second = emptyHome();
  const toml = `[oauth]\nissuer = "${issuer.issuer}"\naudience = "${AUDIENCE}"\njwks_url = "${issuer.jwksUrl}"\n`;
  writeFileSync(join(second, "daemon.toml"), toml);
  const { address } = await up(second);
  const url = new URL(`${address}/butlers/general/mcp`);
  const refused = await fetch(url, { method: "POST", headers: { authorization: "Bearer a.b.c" } });
  expect(refused.status).toBe(401);
  const where = /resource_metadata="([^"]+)"/.exec(refused.headers.get("www-authenticate") ?? "")?.[1];
  const metadata = await (await fetch(String(where))).json();
  expect(metadata).toMatchObject({ resource: url.href, authorization_servers: [issuer.issuer] });
  expect((await fetch(`${address}/.well-known/oauth-authorization-server`)).status).toBe(404);

  const connected = async (token: string) => {
    const client = new PatientClient({ name: "test", version: "1" });
    const headers = { Authorization: `Bearer ${token}` };
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
    return client;
  };
  const client = await connected(await issuer.token());
  const fact = { subject: "lamp", predicate: "colour", content: "vermilion" };
  const stored = await client.callTool({ name: "memory_store_fact", arguments: fact });
  expect(stored.isError ?? false).toBe(false);
  const found = await client.callTool({ name: "memory_search", arguments: { query: "lamp colour" } });
  expect(JSON.stringify(found)).toContain("vermilion");
  await client.close();

  const reader = await connected(await issuer.token({ butler_role: "reader" }));
  const { tools } = await reader.listTools();
  expect(tools.filter(({ annotations }) => annotations?.readOnlyHint !== true)).toEqual([]);
  expect(reader.getInstructions()).not.toContain("memory_store");
  expect(await reader.callTool({ name: "memory_store_fact", arguments: fact })).toMatchObject({ isError: true });
  await reader.close();

  // The tenant is that of the claim, and nothing that a request says changes it.
  const post = async (token: string, headers: Record<string, string> = {}) => {
    const body = JSON.stringify({ query: "lamp colour" });
    const sent = { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers };
    return fetch(`${address}/api/butlers/general/tools/memory_search`, { method: "POST", headers: sent, body });
  };
  const foreign = await issuer.token({ tenant: "beta" });
  expect(await (await post(foreign)).json()).toMatchObject({ results: [] });
  expect((await post(foreign, { "x-butler-tenant": "acme" })).status).toBe(403);
  const elevated = await post(await issuer.token({ tenant: "beta", butler_role: "cross-tenant" }), {
    "x-butler-tenant": "acme",
  });
  expect(JSON.stringify(await elevated.json())).toContain("vermilion");
});
