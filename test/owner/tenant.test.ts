/** `tenant` in butler.toml is whose memories they are, whichever door they come in by. */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, expect, test, vi } from "vitest";
import { homeAt } from "../../src/daemon/home.ts";
import { requestOwner as ask } from "../../src/daemon/line/request.ts";
import { openPglite } from "../../src/engine/adapters/db/pglite.ts";
import { openMemory } from "../../src/main/library.ts";
import { TEST_MODEL_CACHE } from "../support/model.ts";
import { butler, cleanUp, emptyHome, up } from "../support/owner-processes.ts";
import { PATIENCE } from "../support/patience.ts";
import { PatientClient } from "../support/patient-client.ts";
import { transcript } from "../support/transcript.ts";

const TENANTS = { ada: "family", bob: "work" } as const;
type Name = keyof typeof TENANTS;
const NAMES = Object.keys(TENANTS) as Name[];

afterAll(cleanUp);

const toml = (name: Name) => `[butler]\nname = "${name}"\ntenant = "${TENANTS[name]}"\n\n[modules.memory]\n`;

test("every door speaks for the tenant of the butler it addresses", async () => {
  const home = emptyHome();
  const roster = join(home, "roster");
  for (const name of NAMES) {
    mkdirSync(join(roster, name), { recursive: true });
    writeFileSync(join(roster, name, "butler.toml"), toml(name));
  }
  const variables = { BUTLER_ROSTER: roster };
  const rig = await up(home, [], variables);
  const homeToken = readFileSync(join(home, "token"), "utf8").trim();
  const made = async (args: readonly string[]) => {
    const { stdout, stderr } = await butler(home, ["token", "create", ...args, "--json"], variables);
    expect(stderr).toBe("");
    return JSON.parse(stdout) as { token: string; tenant: string };
  };
  const post = async (path: string, token: string, body: object) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const response = await fetch(`${rig.address}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    return { status: response.status, text: await response.text() };
  };
  const store = async (name: Name, token: string, content: string) => {
    const told = await post(`/api/butlers/${name}/tools/memory_store_episode`, token, { content });
    expect(told.status, told.text).toBe(200);
  };

  const every = await made(["--name", "every"]);
  for (const name of NAMES) {
    const own = await made(["--name", `own-${name}`, "--butler", name]);
    expect(own.tenant).toBe(TENANTS[name]);
    await store(name, own.token, `told with the token of ${name}`);
    await store(name, homeToken, `told ${name} with the token of the home`);
    await store(name, every.token, `told ${name} with a token for every butler`);
    await overMcp(`${rig.address}/butlers/${name}/mcp`, homeToken, `told ${name} over MCP`);
    const cli = await butler(home, ["remember", `told ${name} on the command line`, "--butler", name], variables);
    expect(cli.code, cli.stderr).toBe(0);
    const said = transcript(join(home, `${name}.jsonl`), `session-${name}`, join(home, "project"));
    said.user(`Please note what ${name} was told in a transcript`);
    said.agent("Noted.");
    const input = { session_id: `session-${name}`, cwd: join(home, "project"), transcript_path: said.path };
    await overSocket(homeAt(home).socket, `/hooks/claude-code/SessionEnd?butler=${name}`, input);
    const words = {
      session_id: `words-${name}`,
      prompt: `Note what ${name} was told in words`,
      prompt_response: "Yes.",
    };
    const told = await post(`/hooks/gemini/AfterAgent?butler=${name}`, homeToken, {
      ...words,
      cwd: join(home, "project"),
    });
    expect(told.status, told.text).toBeLessThan(300);
    for (const heard of ["in a transcript", "in words"])
      await vi.waitFor(
        async () => {
          const { stdout } = await butler(home, ["search", heard, "--butler", name, "--scope", "*"], variables);
          expect(stdout).toContain(`${name} was told ${heard}`);
        },
        { ...PATIENCE, interval: 500 },
      );
  }
  const other = await made(["--name", "named", "--butler", "ada", "--tenant", "guests"]);
  expect(other.tenant).toBe("guests");
  const { text } = await post("/api/butlers/ada/tools/memory_search", other.token, { query: "told" });
  expect(JSON.parse(text).results).toEqual([]);

  expect((await butler(home, ["stop"], variables)).code).toBe(0);
  for (const name of NAMES) {
    const db = await openPglite({ dir: join(home, "butlers", name, "store") });
    const rows = await db.query<{ tenant_id: string }>("select tenant_id from episodes");
    await db.close();
    expect(rows.map(({ tenant_id }) => tenant_id)).toEqual(Array.from({ length: 7 }, () => TENANTS[name]));
  }

  const folder = join(home, "library");
  const library = await openMemory({ folder, toml: toml("ada"), modelDir: TEST_MODEL_CACHE, fetchModel: false });
  expect(await library.call("memory_store_episode", { content: "told the library" })).toMatchObject({ ok: true });
  await library.close();
  const db = await openPglite({ dir: join(folder, "store") });
  expect(await db.query("select tenant_id from episodes")).toEqual([{ tenant_id: "family" }]);
  await db.close();
});

async function overMcp(url: string, token: string, content: string): Promise<void> {
  const client = new PatientClient({ name: "test", version: "1" });
  const headers = { Authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  const { isError } = await client.callTool({ name: "memory_store_episode", arguments: { content } });
  await client.close();
  expect(isError ?? false).toBe(false);
}

async function overSocket(socket: string, path: string, body: object): Promise<void> {
  const { status } = await ask({ socket, method: "POST", path, body, timeoutMs: PATIENCE.timeout });
  expect(status).toBeLessThan(300);
}
