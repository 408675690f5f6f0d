/** Butlers of one home whose memory is kept by a shared Memory Butler in another: own facts stay apart, global ones are seen, tenants never. */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { agent, butler, cleanUp, emptyHome, type Up, up, type Variables } from "../support/owner-processes.ts";
import { PATIENCE } from "../support/patience.ts";

afterAll(cleanUp);

const NAMES = ["ada", "bob", "eve"] as const;
let serviceHome = "";
let home = "";
let service: Up;
let rig: Up;
let variables: Variables = {};
let port = "";

function roster(name: string, butlers: Readonly<Record<string, string>>): string {
  const folder = join(emptyHome(), name);
  for (const [butlerName, toml] of Object.entries(butlers)) {
    mkdirSync(join(folder, butlerName), { recursive: true });
    writeFileSync(join(folder, butlerName, "butler.toml"), `[butler]\nname = "${butlerName}"\n${toml}`);
  }
  return folder;
}

const serviceRoster = () => roster("service", { memory: 'role = "memory"\n\n[modules.memory]\n' });
let served = "";

beforeAll(async () => {
  serviceHome = emptyHome();
  served = serviceRoster();
  service = await up(serviceHome, ["--roster", served]);
  port = new URL(service.address).port;
  // Making its store may take a busy machine longer than a call to a service is waited for.
  expect((await butler(serviceHome, ["stats", "--butler", "memory"], { BUTLER_ROSTER: served })).code).toBe(0);
  const tokens: Record<string, string> = {};
  for (const name of NAMES) {
    const tenant = name === "eve" ? "elsewhere" : "family";
    const made = await butler(serviceHome, ["token", "create", "--name", name, "--butler", name, "--tenant", tenant]);
    tokens[`${name.toUpperCase()}_TOKEN`] = made.stdout.trim();
  }
  home = emptyHome();
  const toml = (name: string) =>
    `[modules.memory]\nservice = "${service.address}/butlers/memory"\nservice_token_env = "${name.toUpperCase()}_TOKEN"\n`;
  const remote = Object.fromEntries(NAMES.map((name) => [name, toml(name)]));
  variables = { ...tokens, BUTLER_ROSTER: roster("clients", { ...remote, own: "[modules.memory]\n" }) };
  rig = await up(home, [], variables);
});

interface Said {
  readonly code: number | null;
  readonly answer: Record<string, unknown> & { error?: { code: string; message: string } };
}

async function call(name: string, tool: string, input: object, more: Variables = {}): Promise<Said> {
  const args = ["call", tool, "--butler", name, "--json", JSON.stringify(input)];
  const { code, stdout, stderr } = await butler(home, args, { ...variables, ...more });
  return { code, answer: JSON.parse(stdout || `{"error":${JSON.stringify({ code: "?", message: stderr })}}`) };
}

const found = async (name: string, query: string) => {
  const { answer } = await call(name, "memory_search", { query });
  return ((answer.results ?? []) as { content: string }[]).map(({ content }) => content).toSorted();
};

test("own facts stay apart, global ones are seen, tenants never", async () => {
  const fact = (predicate: string, content: string, scope: string) => ({ subject: "user", predicate, content, scope });
  expect(await call("ada", "memory_store_fact", fact("tea", "likes green tea", "ada"))).toMatchObject({ code: 0 });
  expect(await call("bob", "memory_store_fact", fact("tea", "likes black tea", "bob"))).toMatchObject({ code: 0 });
  expect(await call("ada", "memory_store_fact", fact("kettle", "has a tea kettle", "global"))).toMatchObject({
    code: 0,
  });
  expect(await call("eve", "memory_store_fact", fact("tea", "likes no tea", "global"))).toMatchObject({ code: 0 });
  expect(await found("ada", "tea")).toEqual(["has a tea kettle", "likes green tea"]);
  expect(await found("bob", "tea")).toEqual(["has a tea kettle", "likes black tea"]);
  expect(await found("eve", "tea")).toEqual(["likes no tea"]);
  const token = readFileSync(join(home, "token"), "utf8").trim();
  const asked = await fetch(`${rig.address}/api/butlers/ada/tools/memory_stats`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: "{}",
  });
  expect(asked.status, await asked.text()).toBe(200);
  // A butler of the same home with a store of its own knows nothing of it.
  expect(await found("own", "tea")).toEqual([]);
});

test("the same tools over the agent's own door, in its project, and the same refusals", async () => {
  const one = await agent(home, { ...variables, BUTLER_PROJECT: "acme/app" }, ["--butler", "ada", "--project", "auto"]);
  await one.call("memory_store_episode", { butler: "ada", content: "The harbour crane was painted yellow" });
  const { results } = await one.call("memory_search", { query: "harbour crane", types: ["episode"] });
  expect(results).toMatchObject([{ type: "episode", content: "The harbour crane was painted yellow" }]);
  await expect(one.call("memory_store_episode", { butler: "bob", content: "not mine" })).rejects.toThrow(/not yours/);
  await expect(one.call("memory_search", { query: "x", wrong: 1 })).rejects.toThrow(/wrong/);
  await one.close();
  expect(await found("ada", "harbour crane")).not.toContain("The harbour crane was painted yellow");
  const inProject = await call(
    "ada",
    "memory_search",
    { query: "harbour crane", types: ["episode"] },
    { BUTLER_PROJECT: "acme/app" },
  );
  expect(inProject.answer.results).toHaveLength(1);
});

test("the token that the example roster tells people to make opens the shared memory", async () => {
  const example = readFileSync(new URL("../../roster/general/butler.toml", import.meta.url), "utf8");
  const [, args = ""] = /butler token create ([^)]+)\)/.exec(example) ?? [];
  const made = await butler(serviceHome, ["token", "create", ...args.split(" ")]);
  expect(made.code, made.stderr).toBe(0);
  const answer = await fetch(`${service.address}/api/butlers/memory/tools/memory_store_episode`, {
    method: "POST",
    headers: { authorization: `Bearer ${made.stdout.trim()}`, "content-type": "application/json" },
    body: JSON.stringify({ butler: "general", content: "The example was followed word by word" }),
  });
  expect(answer.status, await answer.text()).toBe(200);
});

test("while the service is down everybody is told, and afterwards it goes on", async () => {
  expect(await call("ada", "memory_stats", {})).toMatchObject({ code: 0 });
  service.child.kill("SIGKILL");
  await service.ended;
  const down = await call("ada", "memory_search", { query: "tea" });
  expect(down).toMatchObject({ code: 1, answer: { error: { code: "unavailable" } } });
  expect(down.answer.error?.message).toContain("cannot be reached");
  const ready = await fetch(`${rig.address}/readyz`);
  expect([ready.status, await ready.json()]).toMatchObject([503, { ok: false }]);
  const token = readFileSync(join(home, "token"), "utf8").trim();
  const health = await fetch(`${rig.address}/readyz`, { headers: { authorization: `Bearer ${token}` } });
  const { butlers } = (await health.json()) as { butlers: { name: string; store: string }[] };
  expect(butlers.map(({ name, store }) => `${name} ${store}`)).toEqual([
    "ada unknown",
    "bob unknown",
    "eve unknown",
    "own open",
  ]);
  service = await up(serviceHome, ["--roster", served, "--port", port]);
  await vi.waitFor(async () => expect(await found("ada", "green tea")).toContain("likes green tea"), {
    ...PATIENCE,
    interval: 500,
  });
});

test("a token that is wrong, and one of another butler, are refused in words", async () => {
  await butler(home, ["stop"], variables);
  const wrong = await call("ada", "memory_stats", {}, { ADA_TOKEN: "bm_wrong" });
  expect(wrong.answer.error).toMatchObject({ code: "unauthorized", message: expect.stringContaining("token") });
  await butler(home, ["stop"], variables);
  const bobs = variables.BOB_TOKEN ?? "";
  const other = await call("ada", "memory_store_episode", { butler: "ada", content: "whose?" }, { ADA_TOKEN: bobs });
  expect(other.answer.error).toMatchObject({ code: "forbidden" });
});
