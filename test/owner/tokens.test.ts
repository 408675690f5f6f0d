import { mkdtempSync, readFileSync, rmSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Home, homeAt, prepareHome } from "../../src/daemon/home.ts";
import { createToken, ensureHomeToken, listTokens, revokeToken, tokenChecker } from "../../src/daemon/tokens/tokens.ts";

const now = new Date("2026-01-02T03:04:05Z");
const asked = { name: "laptop", butler: "general", tenant: "acme", admin: false };
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
