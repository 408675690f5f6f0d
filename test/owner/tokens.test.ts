import { mkdtempSync, readFileSync, rmSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Home, homeAt, prepareHome } from "../../src/daemon/home.ts";
import { tokenChecker } from "../../src/daemon/tokens/check-token.ts";
import { noteLastUses, readLastUses } from "../../src/daemon/tokens/last-use.ts";
import { createToken, ensureHomeToken, listTokens, revokeToken, rotateToken } from "../../src/daemon/tokens/tokens.ts";
import { PATIENCE } from "../support/patience.ts";

const now = new Date("2026-01-02T03:04:05Z");
const asked = { name: "laptop", butler: "general", tenant: "acme", role: "writer" } as const;
let home: Home;

beforeEach(() => {
  home = homeAt(mkdtempSync(join(tmpdir(), "home-")));
  prepareHome(home);
});
afterEach(() => rmSync(home.root, { recursive: true }));

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

test("folders and secrets are for their owner only", async () => {
  await ensureHomeToken(home, now);
  for (const folder of [home.root, home.run, home.logs, home.models]) expect(modeOf(folder)).toBe("700");
  for (const file of [home.tokenFile, home.tokensFile]) expect(modeOf(file)).toBe("600");
});

test("a token opens what it was made for, and only its hash is kept", async () => {
  const { token } = await createToken(home, asked, now);
  expect(tokenChecker(home)(token)).toEqual({
    ...{ name: "laptop", butler: "general", tenant: "acme", admin: false },
    voice: "agent",
  });
  expect(readFileSync(home.tokensFile, "utf8")).not.toContain(token);
  expect(listTokens(home)).toEqual([{ ...asked, created: now.toISOString() }]);
});

test("a revoked token is out at once, also for a checker that runs already", async () => {
  const check = tokenChecker(home);
  const { token } = await createToken(home, asked, now);
  expect(check(token)).toBeDefined();
  await revokeToken(home, "laptop");
  expect(check(token)).toBeUndefined();
  await expect(revokeToken(home, "laptop")).rejects.toMatchObject({ code: "not_found" });
});

test("names are unique and checked", async () => {
  await createToken(home, asked, now);
  await expect(createToken(home, asked, now)).rejects.toMatchObject({ code: "conflict" });
  await expect(createToken(home, { ...asked, name: "a b" }, now)).rejects.toMatchObject({ code: "invalid_input" });
  await expect(createToken(home, { ...asked, name: "x", butler: "A" }, now)).rejects.toMatchObject({
    code: "invalid_input",
  });
});

test("tokens made at the same time are all kept", async () => {
  await Promise.all(Array.from({ length: 8 }, (_, n) => createToken(home, { ...asked, name: `t${n}` }, now)));
  expect(listTokens(home)).toHaveLength(8);
});

test("the home token stays the same, and is made anew when its file is gone", async () => {
  const first = await ensureHomeToken(home, now);
  expect(await ensureHomeToken(home, now)).toBe(first);
  expect(tokenChecker(home)(first)).toMatchObject({ butler: "*", admin: true });
  unlinkSync(home.tokenFile);
  const second = await ensureHomeToken(home, now);
  expect(second).not.toBe(first);
  expect(tokenChecker(home)(first)).toBeUndefined();
  expect(listTokens(home)).toHaveLength(1);
});

test("a damaged file is told, not overwritten", async () => {
  writeFileSync(home.tokensFile, "{");
  await expect(createToken(home, asked, now)).rejects.toThrow(/is damaged/);
  expect(readFileSync(home.tokensFile, "utf8")).toBe("{");
});

const at = (time: string) => ({ clock: { now: () => new Date(time), fixed: true } });

test("an expired token is refused with the moment and the remedy; rotating it gives it a new one", async () => {
  const expires = "2026-04-02T00:00:00.000Z";
  const { token } = await createToken(home, { ...asked, expires }, now);
  expect(tokenChecker(home, at("2026-04-01T23:59:59Z"))(token)).toMatchObject({ name: "laptop" });
  const late = tokenChecker(home, at(expires));
  expect(late(token)).toMatchObject({
    code: "unauthorized",
    message: expect.stringMatching(/expired at 2026-04-02.*rotate/),
  });
  const then = new Date("2026-04-03T00:00:00Z");
  await expect(rotateToken(home, "laptop", { now: then, graceMs: 0 })).rejects.toMatchObject({ field: "expires" });
  const made = await rotateToken(home, "laptop", { now: then, graceMs: 0, expires: "2026-07-01T00:00:00.000Z" });
  expect(tokenChecker(home, at("2026-04-04T00:00:00Z"))(made.token)).toMatchObject({ name: "laptop" });
  await expect(
    createToken(home, { ...asked, name: "dead", expires: "2026-01-01T00:00:00.000Z" }, now),
  ).rejects.toMatchObject({
    field: "expires",
  });
});

test("after a rotation the old token works for the grace, and not a moment longer", async () => {
  const { token: old } = await createToken(home, asked, now);
  const { token: fresh, entry } = await rotateToken(home, "laptop", { now, graceMs: 3_600_000 });
  expect(entry).toMatchObject({ name: "laptop", previous_until: "2026-01-02T04:04:05.000Z" });
  const check = (time: string, token: string) => tokenChecker(home, at(time))(token);
  expect(check("2026-01-02T04:04:04Z", old)).toMatchObject({ name: "laptop", tenant: "acme" });
  expect(check("2026-01-02T04:04:05Z", old)).toMatchObject({ code: "unauthorized" });
  expect(check("2026-01-02T04:04:05Z", fresh)).toMatchObject({ name: "laptop", tenant: "acme" });
  expect(readFileSync(home.tokensFile, "utf8")).not.toContain(fresh);
  await revokeToken(home, "laptop");
  for (const token of [old, fresh]) expect(check("2026-01-02T03:10:00Z", token)).toBeUndefined();
});

test("the home's own token is rotated with its file", async () => {
  const first = await ensureHomeToken(home, now);
  const { token } = await rotateToken(home, "home", { now, graceMs: 0 });
  expect(readFileSync(home.tokenFile, "utf8").trim()).toBe(token);
  expect(await ensureHomeToken(home, now)).toBe(token);
  expect(tokenChecker(home)(first)).toBeUndefined();
});

test("roles and scopes become rights; scopes that could never be reached are refused", async () => {
  const rights = async (name: string, more: object) => {
    const { token } = await createToken(home, { ...asked, name, ...more }, now);
    return tokenChecker(home)(token);
  };
  expect(await rights("r", { role: "reader" })).toMatchObject({ admin: false, readOnly: true });
  expect(await rights("every", { role: "reader", scopes: ["*"] })).toMatchObject({ admin: true, readOnly: true });
  expect(await rights("a", { role: "admin", scopes: ["global"] })).toMatchObject({ admin: true, scopes: ["global"] });
  expect(await rights("x", { role: "cross-tenant" })).toMatchObject({ admin: true, crossTenant: true });
  for (const scopes of [["coder"], ["general/"], ["*"], ["Bad Name"], [""]])
    await expect(rights("no", { role: "writer", scopes }), scopes[0]).rejects.toMatchObject({ field: "scope" });
});

test("a file of an earlier version is read as it was meant", async () => {
  const { token } = await createToken(home, asked, now);
  const [{ sha256 }] = JSON.parse(readFileSync(home.tokensFile, "utf8")).tokens;
  const old = (more: object) => ({
    name: "old",
    sha256,
    butler: "*",
    tenant: "*",
    created: now.toISOString(),
    ...more,
  });
  const meant = [
    [{ admin: false }, { admin: false }, "writer"],
    [{ admin: true }, { admin: true }, "admin"],
    [{ admin: false, reader: true }, { admin: false, readOnly: true }, "reader"],
    [{ admin: true, reader: true }, { admin: true, readOnly: true }, "reader"],
  ] as const;
  for (const [written, rights, role] of meant) {
    writeFileSync(home.tokensFile, JSON.stringify({ tokens: [old(written)] }));
    const found = tokenChecker(home)(token);
    expect(found).toEqual({ name: "old", butler: "*", tenant: "*", voice: "agent", ...rights });
    expect(listTokens(home)).toMatchObject([{ role }]);
  }
});

test("the day of the last use is kept, once a day and after the answer", async () => {
  const { token } = await createToken(home, asked, now);
  const failures: unknown[] = [];
  const notes = noteLastUses(home, (error) => failures.push(error));
  const check = tokenChecker(home, { clock: { now: () => now, fixed: true }, used: notes.used });
  check(token);
  expect(readLastUses(home)).toEqual({});
  await vi.waitFor(() => expect(readLastUses(home)).toEqual({ laptop: "2026-01-02" }), PATIENCE);
  const { ino } = statSync(home.tokenUsesFile);
  check(token);
  await new Promise((done) => setTimeout(done, 0));
  expect(statSync(home.tokenUsesFile).ino).toBe(ino);
  expect(failures).toEqual([]);
});
