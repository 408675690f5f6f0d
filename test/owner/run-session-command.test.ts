import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { homeAt } from "../../src/daemon/home.ts";
import { readSessions } from "../../src/hosts/sessions/read-sessions.ts";
import { butler, canListProcesses, emptyHome, processesOf, seededHome, up } from "../support/owner-processes.ts";
import { BUTLER, stage, TOML } from "../support/run-sessions.ts";
import { gone } from "../support/scripted-agent.ts";

const { agent, helper, variables, run, firstStart, rosterWith, close } = stage();
afterAll(close);

describe.skipIf(!canListProcesses)("an agent that does not end", () => {
  it("is ended when its time is over, and nothing of it is left", async () => {
    const home = emptyHome();
    agent.plan({ hang: "polite" });
    const ran = await run(home, ["general", "Hello", "--timeout", "1"], { BUTLER_AUTOSTART: "0" });
    expect(ran.code).toBe(143);
    expect(ran.stderr).toMatch(/The agent was ended after \d+\.\d s: its time was over\./);
    await gone(firstStart().pid, firstStart().child ?? 0);
    expect(processesOf(home)).toEqual([]);
    expect(readSessions(homeAt(home), 1)[0]).toMatchObject({ state: "failed", exit_code: 143, episodes: 0 });
  });

  it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "hears %s that we hear, and nothing of it is left",
    async (signal) => {
      const home = emptyHome();
      agent.plan({ hang: "polite" });
      const env = { ...variables({ BUTLER_HOME: home, BUTLER_AUTOSTART: "0" }) };
      const child = spawn(process.execPath, [BUTLER, "run", "general", "Hello"], { env, stdio: "ignore" });
      const ended = new Promise((done) => child.once("exit", done));
      const start = await agent.started();
      child.kill(signal);
      expect(await ended).toBe({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }[signal]);
      await gone(start.pid, start.child ?? 0);
    },
  );
});

describe("the command", () => {
  const down = { BUTLER_AUTOSTART: "0" };

  it("hands what follows -- to the agent, also words that would mean something to us", async () => {
    const home = emptyHome();
    agent.plan({ result: "Done." });
    const ran = await run(home, ["general", "Hello", "--", "-h", "--help", "--json"], down);
    expect(ran).toMatchObject({ code: 0, stdout: "Done.\n" });
    expect(firstStart().argv).toEqual(expect.arrayContaining(["-h", "--help", "--json"]));
  });

  it("starts any program that the configuration names, with its arguments, environment and time", async () => {
    const roster = rosterWith(
      `${TOML}[butler.runtime]\ncommand = "helper"\nargs = ["ask", "--id", "{session}"]\ntimeout_seconds = 60\nenv = { TONE = "kind", BUTLER_SPAWNED = "0" }\n`,
      "You are the harbour master.",
    );
    const home = await seededHome();
    await up(home, [], { BUTLER_ROSTER: roster });
    await butler(home, ["remember", "The harbour opens at nine."]);
    helper.plan({ result: "At nine." });
    const ran = await run(home, ["general", "When does the harbour open?"], { BUTLER_ROSTER: roster });
    expect(ran).toMatchObject({ code: 0, stdout: "At nine.\n", stderr: "" });
    const { argv, env, system, mcp, stdin } = firstStart(helper);
    expect(argv).toEqual(["ask", "--id", env.BUTLER_SESSION]);
    expect(env).toMatchObject({ TONE: "kind", BUTLER_SPAWNED: "1" });
    expect(stdin).toBe("When does the harbour open?");
    expect(system).toMatch(/^You are the harbour master\.\n\n<butler-memory>[\s\S]*opens at nine/);
    expect(mcp?.mcpServers.memory?.args).toContain("general");
    expect(readSessions(homeAt(home), 1)[0]).toMatchObject({ agent: "helper", state: "done", episodes: 1 });
  });

  it("reads the prompt from stdin", async () => {
    agent.plan({ result: "read" });
    const env = { ...variables({ BUTLER_HOME: emptyHome(), BUTLER_NOW: "2026-03-02T12:00:00Z", ...down }) };
    const child = spawn(process.execPath, [BUTLER, "run", "general", "-"], {
      env,
      stdio: ["pipe", "ignore", "ignore"],
    });
    child.stdin.end("Several\nlines\n");
    expect(await new Promise((done) => child.once("exit", done))).toBe(0);
    expect(firstStart().stdin).toBe("Several\nlines");
    // A fixed clock is for this call; the agent's own server would be refused by an owner on real time.
    expect(firstStart().env).not.toHaveProperty("BUTLER_NOW");
  });

  it("says what is wrong with a call", async () => {
    const home = emptyHome();
    const [nobody, nothing, blank, odd] = await Promise.all([
      run(home, ["nobody", "Hello"], down),
      run(home, ["general"], down),
      run(home, ["general", "  "], down),
      run(home, ["general", "Hello", "--timeout", "soon"], down),
    ]);
    expect(nobody).toMatchObject({ code: 3, stderr: expect.stringContaining('There is no butler "nobody"') });
    for (const wrong of [nothing, blank, odd]) expect(wrong.code).toBe(2);
    const bare = await run(home, ["general", "Hello"], { ...down, PATH: "/nowhere" });
    expect(bare.code).toBe(1);
    expect(bare.stderr).toMatch(/The agent "claude" cannot be started: there is no such program/);
    expect(readSessions(homeAt(home), 1)[0]).toMatchObject({ state: "failed" });
  });

  it("lists sessions, of one butler too, for people and for programs", async () => {
    const home = emptyHome();
    expect((await butler(home, ["sessions"])).stdout).toBe("No session has run yet.\n");
    agent.plan({ result: "Good." });
    await run(home, ["general", "How are you, with the password=Zk81qLp0-hunter2?"], down);
    const listed = await butler(home, ["sessions"]);
    expect(listed.stdout).toMatch(/^WHEN +SESSION +BUTLER +AGENT +PROJECT +STATE +SECONDS +MEMORY +EPISODES +PROMPT\n/);
    expect(listed.stdout).toMatch(/general +claude-code +- +done +\d+\.\d +No owner of the memory.* How are you, with/);
    expect(listed.stdout).not.toContain("hunter2");
    const json = await butler(home, ["sessions", "--json", "--butler", "general"]);
    expect(JSON.parse(json.stdout)).toMatchObject({ sessions: [{ butler: "general", state: "done", exit_code: 0 }] });
    expect(JSON.parse((await butler(home, ["sessions", "--json", "--butler", "other"])).stdout)).toEqual({
      sessions: [],
    });
    expect((await butler(home, ["sessions", "--limit", "0"])).code).toBe(2);
    expect(
      readFileSync(join(home, "logs", "sessions.jsonl"), "utf8")
        .trim()
        .split("\n"),
    ).toHaveLength(2);
  });
});
