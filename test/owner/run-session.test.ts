import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { homeAt } from "../../src/daemon/home.ts";
import { readSessions } from "../../src/hosts/sessions/read-sessions.ts";
import { runSession } from "../../src/main/library.ts";
import { butler, emptyHome, seededHome, up } from "../support/owner-processes.ts";
import { stage, TOML } from "../support/run-sessions.ts";

const { scratch, agent, variables, run, firstStart, rosterWith, close } = stage();
afterAll(close);

describe("with a memory that answers", () => {
  let home: string;
  const roster = rosterWith(TOML, "You are the harbour master.\nSpeak briefly.\n");
  beforeAll(async () => {
    home = await seededHome();
    await up(home, [], { BUTLER_ROSTER: roster });
    // The first call opens the store, which takes longer than a host waits.
    await butler(home, ["search", "anything"]);
  });
  const here = (args: readonly string[], more = {}) => run(home, args, { BUTLER_ROSTER: roster, ...more });

  it("what one session tells, the next one knows", async () => {
    agent.plan({ transcript: [{ tool: "Bash", answer: "Noted: the crane is repaired on Thursday." }] });
    const first = await here(["general", "The crane is repaired on Thursday.", "--json"]);
    const report = JSON.parse(first.stdout) as Record<string, unknown>;
    expect(report).toMatchObject({ result: "Noted: the crane is repaired on Thursday.", exit_code: 0, ok: true });
    expect(report).toMatchObject({ butler: "general", agent: "claude-code", episodes: 1, cost_usd: 0.0125 });
    expect(report).not.toHaveProperty("later");
    expect(first).toMatchObject({ code: 0, stderr: "" });

    agent.plan({ result: "On Thursday." });
    const second = await here(["general", "When is the crane repaired?"]);
    expect(second).toMatchObject({ code: 0, stdout: "On Thursday.\n", stderr: "" });
    const { system } = firstStart();
    expect(system).toContain("The crane is repaired on Thursday.");
    // Its own instructions first, then a blank line, then the block.
    expect(system.indexOf("<butler-memory>")).toBe("You are the harbour master.\nSpeak briefly.\n\n".length);
    expect(system.startsWith("You are the harbour master.")).toBe(true);

    const [, told] = readSessions(homeAt(home), 2);
    expect(told).toMatchObject({
      state: "done",
      kind: "run",
      episodes: 1,
      memory: expect.stringMatching(/empty|used/),
    });
    expect(told?.tools?.join()).toMatch(/bash/i);
  });

  it("the agent gets the prompt, its marks, and nothing of ours that would surprise it", async () => {
    agent.plan({});
    await here(["general", "Hello there", "--", "--model", "haiku"], {
      BUTLER_PROJECT: "",
      CLAUDECODE: "1",
      OWN_WORD: "kept",
    });
    const { argv, env, stdin } = firstStart();
    expect(stdin).toBe("Hello there");
    expect(argv.slice(-2)).toEqual(["--model", "haiku"]);
    expect(env).toMatchObject({ BUTLER_SPAWNED: "1", BUTLER_HOME: home, BUTLER_ROSTER: roster, OWN_WORD: "kept" });
    expect(env.BUTLER_SESSION).toMatch(/^[0-9a-f-]{36}$/);
    expect(env).not.toHaveProperty("CLAUDECODE");
  });

  it("the agent can call the memory it was given", async () => {
    const fact = { subject: "crane", predicate: "colour", content: "yellow" };
    agent.plan({ call: { tool: "memory_store_fact", input: fact } });
    expect((await here(["general", "Which colour is the crane?"])).code).toBe(0);
    const { called, mcp } = firstStart();
    expect(called?.result?.isError).not.toBe(true);
    expect(mcp?.mcpServers.memory?.args.slice(-3)).toEqual(["mcp", "--butler", "general"]);
    expect((await butler(home, ["recall", "crane colour"])).stdout).toContain("yellow");
  });

  it("a session in a folder belongs to that project, and another project does not know it", async () => {
    const [one, two] = ["one", "two"].map((name) => {
      const folder = join(scratch, `project-${name}`);
      mkdirSync(join(folder, ".git"), { recursive: true });
      writeFileSync(join(folder, ".git", "HEAD"), "ref: refs/heads/main\n");
      writeFileSync(
        join(folder, ".git", "config"),
        `[remote "origin"]\n\turl = https://ada:pw@host.example/acme/${name}.git\n`,
      );
      return folder;
    }) as [string, string];
    agent.plan({ result: "The tests need port 5999." });
    const told = await here(["general", "Remember the port of the tests.", "--folder", one, "--json"]);
    expect(JSON.parse(told.stdout)).toMatchObject({ project: "host.example/acme/one", episodes: 1 });
    expect(firstStart()).toMatchObject({ cwd: one });
    expect(firstStart().mcp?.mcpServers.memory?.args.slice(-2)).toEqual(["--project", "host.example/acme/one"]);
    const systemIn = async (args: readonly string[]) => {
      agent.plan({});
      await here(["general", "Which port do the tests need?", ...args]);
      return firstStart().system;
    };
    expect(await systemIn(["--folder", one])).toContain("5999");
    expect(await systemIn(["--project", "host.example/acme/one"])).toContain("5999");
    expect(await systemIn(["--folder", two])).not.toContain("5999");
    expect(await systemIn(["--folder", one, "--project", "none"])).not.toContain("5999");
    expect(await systemIn([])).not.toContain("5999");
  });

  it("a session that failed, or that only learned from memories, is noted and not remembered", async () => {
    agent.plan({ result: "The winch of pier nine is broken", code: 5, stderr: "no power\n" });
    const failed = await here(["general", "Look at the winch of pier nine"]);
    expect(failed).toMatchObject({ code: 5, stdout: "The winch of pier nine is broken\n", stderr: "no power\n" });
    agent.plan({ result: "Credit balance is too low for the winch", isError: true });
    expect(await here(["general", "Look at the winch again"])).toMatchObject({ code: 1 });
    const learning = { BUTLER_CONSOLIDATION: "1" };
    agent.plan({ result: "Learned about the winch." });
    const learned = await here(["general", "Read about the winch", "--json"], learning);
    expect(JSON.parse(learned.stdout)).toMatchObject({ ok: true, episodes: 0 });
    expect(firstStart().env).toMatchObject(learning);
    expect((await butler(home, ["search", "winch"])).stdout).not.toMatch(/winch/);
    const listed = await butler(home, ["sessions", "--limit", "3"]);
    expect(listed.stdout.split("\n").slice(1, 4)).toEqual([
      expect.stringMatching(/done +\d.* 0 +Read about the winch/),
      expect.stringMatching(/general +claude-code +- +failed +\d.* used +0 +Look at the winch again/),
      expect.stringMatching(/failed \(5\)/),
    ]);
  });

  it("the library runs a session as the command does", async () => {
    for (const [name, value] of Object.entries({ ...variables(), BUTLER_HOME: home, BUTLER_AUTOSTART: "0" }))
      vi.stubEnv(name, value);
    try {
      agent.plan({ result: "Yes." });
      const notes: string[] = [];
      const report = await runSession({ prompt: "Is the crane yellow?", note: (line) => notes.push(line) });
      expect(report).toMatchObject({ result: "Yes.", ok: true, butler: "general", memory: "used", episodes: 1 });
      expect(notes).toEqual([]);
      await expect(runSession({ prompt: "x", butler: "nobody" })).rejects.toMatchObject({ code: "not_found" });
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it("a memory that is switched off is not missed", async () => {
    const quiet = rosterWith('[butler]\nname = "general"\n', "Be brief.");
    const other = emptyHome();
    await up(other, [], { BUTLER_ROSTER: quiet });
    agent.plan({ result: "fine" });
    const ran = await run(other, ["general", "Hello", "--json"], { BUTLER_ROSTER: quiet });
    expect(ran.stderr).toBe("");
    expect(JSON.parse(ran.stdout)).toMatchObject({ memory: "off", episodes: 0, result: "fine" });
    expect(firstStart()).toMatchObject({ system: "Be brief.", mcp: { mcpServers: {} } });
  });
});
