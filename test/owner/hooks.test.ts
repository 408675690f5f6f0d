/** The installed hooks as an agent runs them: with an owner, with one that has to be started, with none at all, and in the real Claude Code. */

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test, vi } from "vitest";
import { homeAt } from "../../src/daemon/home.ts";
import { contextIn, type HookEnd, installHooks } from "../support/agent-hooks.ts";
import { claudeApi } from "../support/claude-api.ts";
import {
  butler,
  cleanUp,
  emptyHome,
  processesOf,
  seededHome,
  up,
  type Variables,
  variablesFor,
} from "../support/owner-processes.ts";
import { PATIENCE } from "../support/patience.ts";
import { REAL_TIME } from "../support/slow-time.ts";
import { transcript } from "../support/transcript.ts";

afterAll(cleanUp);

const TOLD = "The staging database listens on port 5433.";
const messageIn = ({ stdout }: HookEnd) =>
  stdout === "" ? undefined : (JSON.parse(stdout) as { systemMessage?: string }).systemMessage;

/** A whole session of one prompt; what each hook said. */
async function session(
  home: string,
  id: string,
  hooks: Awaited<ReturnType<typeof installHooks>>,
  more: Variables = {},
) {
  const said = transcript(join(home, `${id}.jsonl`), id, hooks.project);
  const common = { session_id: id, transcript_path: said.path };
  const start = await hooks.fire("SessionStart", { ...common, source: "startup" }, more);
  const prompt = await hooks.fire("UserPromptSubmit", { ...common, prompt: TOLD }, more);
  said.user(TOLD);
  said.agent("I will keep it in mind.");
  const stop = await hooks.fire("Stop", common, more);
  const end = await hooks.fire("SessionEnd", { ...common, reason: "other" }, more);
  expect([start, prompt, stop, end].map(({ code }) => code)).toEqual([0, 0, 0, 0]);
  return { start, prompt, stop, end };
}

describe("hooks", () => {
  test("session 1 tells something, session 2 knows it; nobody has to start anything", async () => {
    const home = await seededHome();
    const hooks = await installHooks(home);
    await session(home, "one", hooks);
    await vi.waitFor(
      async () => expect((await butler(home, ["search", "staging port", "--scope", "*"])).stdout).toContain("5433"),
      { ...PATIENCE, interval: 500 },
    );
    const { start } = await session(home, "two", hooks);
    expect(contextIn(start)).toContain("port 5433");
    const list = await butler(home, ["sessions", "--json"]);
    const { sessions } = JSON.parse(list.stdout) as { sessions: { id: string; agent: string; memory: string }[] };
    expect(sessions.map(({ id, agent }) => `${id} ${agent}`).toSorted()).toEqual([
      "one claude-code",
      "two claude-code",
    ]);
    expect(sessions.find(({ id }) => id === "two")?.memory).toBe("used");
  });

  test("with the daemon stopped both sessions run, say it once, and are remembered when it is back", async () => {
    const home = await seededHome();
    const hooks = await installHooks(home);
    const alone = { BUTLER_AUTOSTART: "0" };
    for (const id of ["one", "two"]) {
      const { start, prompt, stop, end } = await session(home, id, hooks, alone);
      expect(messageIn(start)).toMatch(
        /^Butler Memory is unavailable \(.*butler up.*\); this session runs without it\.$/,
      );
      expect([prompt.stdout, stop.stdout, end.stdout]).toEqual(["", "", ""]);
    }
    expect(processesOf(home)).toEqual([]);
    await up(home);
    await vi.waitFor(
      async () => {
        const { stdout } = await butler(home, [
          "search",
          "staging port",
          "--scope",
          "*",
          "--json",
          "--types",
          "episode",
        ]);
        expect((JSON.parse(stdout) as { results: unknown[] }).results).toHaveLength(2);
      },
      { ...PATIENCE, interval: 500 },
    );
  });

  test("an owner that accepts and stays silent costs its time and no more, and says so once", async () => {
    const home = emptyHome();
    const hooks = await installHooks(home);
    mkdirSync(join(home, "run"), { recursive: true });
    const silent = createServer(() => undefined);
    await new Promise<void>((done) => silent.listen(homeAt(home).socket, done));
    const { start, prompt } = await session(home, "one", hooks, REAL_TIME);
    expect(messageIn(start)).toMatch(/unavailable/);
    expect(prompt.stdout).toBe("");
    expect(readdirSync(join(home, "spool")).some((name) => name.endsWith(".session.json"))).toBe(true);
    silent.close();
  });

  test("sessions that look after themselves, and those that learn, are left alone", async () => {
    const home = emptyHome();
    const hooks = await installHooks(home);
    for (const more of [{ BUTLER_SPAWNED: "1" }, { BUTLER_CONSOLIDATION: "1" }, { BUTLER_HOOKS: "off" }]) {
      const { start, prompt, stop, end } = await session(home, `s${Object.keys(more)}`, hooks, more);
      expect([start, prompt, stop, end].map(({ stdout }) => stdout)).toEqual(["", "", "", ""]);
    }
    expect(processesOf(home)).toEqual([]);
    expect(readdirSync(home)).not.toContain("spool");
  });
});

const claude = process.env.BUTLER_TEST_CLAUDE ?? "";

describe.skipIf(!claude.includes("/"))(
  "the real Claude Code (skipped unless BUTLER_TEST_CLAUDE is the path of a claude)",
  () => {
    test("session 1 tells something, session 2 has it in its prompt, and our own block is not learned", async () => {
      const api = await claudeApi();
      const home = await seededHome();
      const scratch = mkdtempSync(join(tmpdir(), "butler-claude-"));
      const project = join(scratch, "project");
      mkdirSync(project);
      const more = {
        HOME: scratch,
        ANTHROPIC_BASE_URL: api.url,
        ANTHROPIC_API_KEY: "sk-test",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      };
      const run = (...args: string[]) =>
        new Promise<number | null>((done) => {
          const env = variablesFor(home, more);
          spawn(claude, ["-p", ...args], { cwd: project, env, stdio: ["ignore", "ignore", "inherit"] }).once(
            "close",
            done,
          );
        });
      try {
        expect((await butler(home, ["install", "claude-code"], more)).code).toBe(0);
        await up(home);
        await butler(home, ["search", "anything"]);
        api.says("I will keep it in mind.");
        expect(await run(TOLD)).toBe(0);
        await vi.waitFor(
          async () => expect((await butler(home, ["search", "staging port", "--scope", "*"])).stdout).toContain("5433"),
          { ...PATIENCE, interval: 500 },
        );
        api.says("It is 5433.");
        expect(await run("Which port is the staging database on?")).toBe(0);
        const second = api.spoken();
        expect(
          second.some(({ messages }) => messages.includes("<butler-memory>") && messages.includes("port 5433")),
        ).toBe(true);
        expect(second.some(({ tools }) => tools.some((name) => name.endsWith("memory_search")))).toBe(true);
        const contents = async () => {
          const asked = ["search", "staging port", "--scope", "*", "--types", "episode", "--json"];
          const { results } = JSON.parse((await butler(home, asked)).stdout) as { results: { content: string }[] };
          return results.map(({ content }) => content).toSorted();
        };
        await vi.waitFor(
          async () =>
            expect(await contents()).toEqual([
              `User: ${TOLD}\nAgent: I will keep it in mind.`,
              "User: Which port is the staging database on?\nAgent: It is 5433.",
            ]),
          { ...PATIENCE, interval: 500 },
        );
      } finally {
        await api.close();
        rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
      }
    });
  },
);
