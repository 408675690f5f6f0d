/** Openings of real owners: ready when nobody is running, and true whatever happens to the owner. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test, vi } from "vitest";
import { homeAt } from "../../src/daemon/home.ts";
import { openingFile } from "../../src/hosts/openings/opening-file.ts";
import { projectOf } from "../../src/hosts/projects/project.ts";
import { type AgentHooks, contextIn, installHooks } from "../support/agent-hooks.ts";
import { agent, butler, cleanUp, ownerNote, processesOf, seededHome } from "../support/owner-processes.ts";
import { PATIENCE } from "../support/patience.ts";

afterAll(cleanUp);

/** Everything that lies ready in a home, as one text. */
function openingsOf(home: string): string {
  const folder = homeAt(home).openings;
  if (!existsSync(folder)) return "";
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
    .join("\n");
}

const holds = (home: string, words: string) => vi.waitFor(() => expect(openingsOf(home)).toContain(words), PATIENCE);

async function remember(home: string, project: string, subject: string, content: string): Promise<string> {
  const memory = await agent(home, {}, ["--butler", "general", "--project", projectOf(project).key]);
  const { id } = await memory.call("memory_store_fact", { subject, predicate: "is", content });
  await memory.close();
  return id as string;
}

const start = (hooks: AgentHooks, session: string, folder = hooks.project) =>
  hooks.fire("SessionStart", { session_id: session, source: "startup", cwd: folder });

/** The first session has the opening kept; then nobody runs any more. */
async function asleep(home: string, hooks: AgentHooks, words: string): Promise<void> {
  await start(hooks, "first");
  await holds(home, words);
  expect((await butler(home, ["stop"])).code).toBe(0);
  await vi.waitFor(() => expect(processesOf(home)).toEqual([]), PATIENCE);
}

describe("openings", () => {
  test("with nobody running the first hook has the block, an owner comes by itself, and nothing is told twice", async () => {
    const home = await seededHome();
    const hooks = await installHooks(home);
    await remember(home, hooks.project, "staging port", "5433");
    await asleep(home, hooks, "5433");

    const first = await start(hooks, "two");
    expect(contextIn(first)).toMatch(/^<butler-memory>[\s\S]*5433[\s\S]*<\/butler-memory>\n$/);
    await vi.waitFor(() => expect(ownerNote(home)?.pid).toBeDefined(), PATIENCE);
    const log = async () => (await butler(home, ["sessions", "--json"])).stdout;
    await vi.waitFor(async () => expect(await log()).toMatch(/"id":\s*"two"/), { ...PATIENCE, interval: 500 });
    const { sessions } = JSON.parse(await log()) as { sessions: { id: string; memory: string }[] };
    expect(sessions.find(({ id }) => id === "two")?.memory).toBe("used");
    const asked = { session_id: "two", prompt: "Which staging port do we use here again?" };
    expect(contextIn(await hooks.fire("UserPromptSubmit", asked))).not.toContain("5433");
    const found = await butler(home, ["doctor"]);
    expect(found.stdout).toMatch(/openings +ready for 1 project of general/);
    expect(found.stdout).not.toMatch(/others have rights/);
  });

  test("another project's memories are in no opening of this one, nor in the butler's own", async () => {
    const home = await seededHome();
    const hooks = await installHooks(home);
    const other = join(home, "other");
    mkdirSync(other);
    await remember(home, hooks.project, "staging port", "5433");
    await remember(home, other, "release day", "Thursday");
    await start(hooks, "first");
    await start(hooks, "second", other);
    await holds(home, "Thursday");
    await holds(home, "5433");
    const at = (folder?: string) => readFileSync(openingFile(homeAt(home), "general", folder)!, "utf8");
    expect([at(hooks.project).includes("Thursday"), at(other).includes("5433")]).toEqual([false, false]);
    expect(at()).not.toMatch(/5433|Thursday/);
    expect((await butler(home, ["stop"])).code).toBe(0);
    expect(contextIn(await start(hooks, "third", other))).toContain("Thursday");
  });

  test("what was forgotten is in no file when it is forgotten, also when the owner is killed that moment", async () => {
    const home = await seededHome();
    const hooks = await installHooks(home);
    const id = await remember(home, hooks.project, "staging port", "5433");
    await start(hooks, "first");
    await holds(home, "5433");
    const forgot = await butler(home, ["call", "memory_forget", "--json", JSON.stringify({ type: "fact", id })]);
    expect(forgot.code).toBe(0);
    expect(openingsOf(home)).not.toContain("5433");
    process.kill(ownerNote(home)!.pid, "SIGKILL");
    await vi.waitFor(() => expect(processesOf(home)).toEqual([]), PATIENCE);
    expect(contextIn(await start(hooks, "two"))).not.toContain("5433");
  });

  test("what was superseded is replaced, and what is new comes in; a stop leaves the latest", async () => {
    const home = await seededHome();
    const hooks = await installHooks(home);
    await remember(home, hooks.project, "staging port", "5433");
    await start(hooks, "first");
    await holds(home, "5433");
    await remember(home, hooks.project, "staging port", "6544");
    // While it is being written down, the owner is asked.
    expect(contextIn(await start(hooks, "two"))).toContain("6544");
    expect((await butler(home, ["stop"])).code).toBe(0);
    expect(openingsOf(home)).toContain("6544");
    expect(openingsOf(home)).not.toContain("5433");
  });

  test("an owner on fixed time keeps none, and removes those that lie there; so does an uninstall", async () => {
    const home = await seededHome();
    const hooks = await installHooks(home);
    await remember(home, hooks.project, "staging port", "5433");
    await asleep(home, hooks, "5433");
    expect(statSync(homeAt(home).openings).mode & 0o777).toBe(0o700);
    await butler(home, ["stats"], { BUTLER_NOW: "2030-01-01T00:00:00Z" });
    expect(existsSync(homeAt(home).openings)).toBe(false);
    await butler(home, ["stop"]);
    mkdirSync(homeAt(home).openings);
    writeFileSync(join(homeAt(home).openings, "x"), "");
    const gone = await butler(home, ["uninstall", "claude-code"], { CLAUDE_CONFIG_DIR: join(home, "claude") });
    expect(gone.code, gone.stderr).toBe(0);
    expect(existsSync(homeAt(home).openings)).toBe(false);
  });
});
