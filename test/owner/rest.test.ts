/** A real owner that lets go of its store and its model when nobody calls, and answers all the same. */
import { existsSync, rmSync } from "node:fs";
import { afterAll, expect, test, vi } from "vitest";
import { homeAt } from "../../src/daemon/home.ts";
import { requestOwner } from "../../src/daemon/line/request.ts";
import type { Health } from "../../src/doors/backend.ts";
import {
  agent,
  butler,
  canListProcesses,
  childrenOf,
  cleanUp,
  ownerNote,
  processesOf,
  seededHome,
} from "../support/owner-processes.ts";
import { PATIENCE } from "../support/patience.ts";

afterAll(cleanUp);

/** On a fixed clock the schedule is not looked at, so that nobody but the test opens the store. */
const NO_JOBS = { BUTLER_NOW: "2026-03-01T12:00:00Z" };

const asked = async (home: string, method: "GET" | "POST", path: string) =>
  (await requestOwner({ socket: homeAt(home).socket, method, path, timeoutMs: 60_000 })).json as Health;

test("an owner at rest holds neither store nor model, is asked without waking, and remembers when it is called", async () => {
  const home = await seededHome();
  const ada = await agent(home, NO_JOBS);
  await ada.call("memory_store_fact", { subject: "tea", predicate: "kind", content: "Ada drinks smoked tea" });
  const pid = ownerNote(home)?.pid ?? 0;
  for (let round = 0; round < 3; round++) {
    expect(await asked(home, "POST", "/owner/rest")).toMatchObject({ ok: true, resting: true });
    if (canListProcesses) expect(childrenOf(pid)).toEqual([]);
    // Neither a question for health nor the list of butlers opens a store.
    await asked(home, "GET", "/owner/butlers");
    expect(await asked(home, "GET", "/owner/health")).toMatchObject({
      resting: true,
      butlers: [{ name: "general", store: "closed" }],
    });
    const { text } = await ada.call("memory_context", { trigger_prompt: `which tea does Ada drink, round ${round}?` });
    expect(text).toContain("smoked tea");
    if (canListProcesses) expect(childrenOf(pid)).toHaveLength(1);
    expect(await asked(home, "GET", "/owner/health")).toMatchObject({ resting: false });
  }
  expect(ownerNote(home)?.pid).toBe(pid);
});

test("calls that come while an owner goes to rest are all answered", async () => {
  const home = await seededHome();
  const ada = await agent(home);
  const stored = async (n: number) =>
    ada.call("memory_store_fact", { subject: `cup ${n}`, predicate: "colour", content: `blue ${n}` });
  await stored(0);
  const answers = [];
  for (let n = 1; n <= 12; n++) {
    answers.push(stored(n));
    if (n % 3 === 0) answers.push(asked(home, "POST", "/owner/rest"));
    if (n % 4 === 0) await answers.at(-1);
  }
  await Promise.all(answers);
  const listed = await butler(home, ["stats", "--json"]);
  expect(JSON.parse(listed.stdout)).toMatchObject({ facts: { total: 13 } });
});

test.skipIf(!canListProcesses)("an owner whose home is deleted ends, though an agent is attached to it", async () => {
  const home = await seededHome();
  const ada = await agent(home, { BUTLER_IDLE_SECONDS: "2" });
  await ada.call("memory_stats", {});
  const pid = ownerNote(home)?.pid ?? 0;
  expect(processesOf(home)).toContain(pid);
  rmSync(home, { recursive: true, maxRetries: 5 });
  await vi.waitFor(() => expect(processesOf(home)).not.toContain(pid), PATIENCE);
});

test.skipIf(!canListProcesses)(
  "the process of the model is started again when it dies, and ends with its owner",
  async () => {
    const home = await seededHome();
    const ada = await agent(home, NO_JOBS);
    const search = (query: string) => ada.call("memory_search", { query });
    await search("tea");
    const owner = ownerNote(home)?.pid ?? 0;
    await vi.waitFor(() => expect(childrenOf(owner)).toHaveLength(1), PATIENCE);
    const [model = 0] = childrenOf(owner);
    // A terminal's Ctrl-C and a service manager reach it too; only its owner ends it.
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.kill(model, signal);
    expect((await search("coffee")).degraded).toBeUndefined();
    expect(childrenOf(owner)).toEqual([model]);
    process.kill(model, "SIGKILL");
    await vi.waitFor(async () => expect((await search(`cocoa ${Math.random()}`)).degraded).toBeUndefined(), PATIENCE);
    const [next = 0] = childrenOf(owner);
    expect(next).not.toBe(model);
    process.kill(owner, "SIGKILL");
    await vi.waitFor(() => expect(existsSync(`/proc/${next}`)).toBe(false), PATIENCE);
  },
);
