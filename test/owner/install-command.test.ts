import { existsSync, mkdirSync, readFileSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { readEnvironment } from "../../src/main/environment.ts";
import type { World } from "../pure/install-world.ts";
import { atInstallWorld } from "../support/install-session.ts";

const start = process.cwd();
const current = atInstallWorld();
let world: World;
beforeEach(() => {
  world = current();
});

async function butler(command: "install" | "uninstall", ...args: string[]): Promise<string> {
  const { run } = await (command === "install"
    ? import("../../src/main/commands/install.ts")
    : import("../../src/main/commands/uninstall.ts"));
  const said: string[] = [];
  const say = (line: string) => void said.push(line);
  expect(await run(args, { environment: readEnvironment(), say, note: say })).toBe(0);
  return said.join("\n");
}

describe("butler install", () => {
  test("lists what is here and what has memory", async () => {
    mkdirSync(join(world.user, ".codex"));
    await butler("install", "cursor");
    const list = await butler("install");
    expect(list).toContain("butler install codex gives it memory");
    expect(list).toContain('has the memory of "general" for you');
    const { agents } = JSON.parse(await butler("install", "--json")) as {
      agents: { agent: string; installed: unknown[] }[];
    };
    expect(agents.map(({ agent, installed }) => [agent, installed.length])).toEqual([
      ["claude-code", 0],
      ["codex", 0],
      ["cursor", 1],
      ["gemini", 0],
      ["opencode", 0],
    ]);
  });

  test("says what it did, how to see it and how to undo it; and the second time that there is nothing to do", async () => {
    const said = await butler("install", "claude-code");
    expect(said).toContain("wrote    ~/.claude/settings.json");
    expect(said).toContain("backup   ~/.butler/installs/claude-code/user");
    expect(said).toContain("butler sessions shows it");
    expect(said).toContain("butler uninstall claude-code");
    const read = (...path: string[]) => JSON.parse(readFileSync(join(world.user, ...path), "utf8")) as object;
    const script = join(realpathSync(world.user), ".butler", "plugins", "claude-code", "hook.sh");
    const hook = (event: string) => [
      { hooks: [{ type: "command", command: `sh '${script}' claude-code ${event}`, timeout: 5 }] },
    ];
    const events = ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"];
    expect(read(".claude", "settings.json")).toEqual({
      hooks: Object.fromEntries(events.map((event) => [event, hook(event)])),
    });
    expect(read(".claude.json")).toMatchObject({ mcpServers: { "butler-memory": { type: "stdio" } } });
    expect(await butler("install", "claude-code")).toContain("already; nothing was changed");
    expect(await butler("uninstall", "claude-code")).toContain("removed  ~/.claude/settings.json");
    expect(Object.keys(world.snapshot())).toEqual(["/", "person/", "project/"]);
  });

  test("a dry run shows the lines that would come, and does nothing", async () => {
    world.write(join(world.user, ".claude", "settings.json"), '{\n  "model": "opus"\n}\n');
    const disk = world.snapshot();
    const said = await butler("install", "claude-code", "--dry-run");
    expect(said).toContain("would change  ~/.claude/settings.json");
    expect(said).toContain('      -   "model": "opus"\n      +   "model": "opus",');
    expect(said).toContain("claude-code SessionStart");
    expect(world.snapshot()).toEqual(disk);
    const { dry_run, files } = JSON.parse(await butler("install", "codex", "--dry-run", "--json")) as {
      dry_run: boolean;
      files: { action: string; diff: string[] }[];
    };
    expect(dry_run).toBe(true);
    expect(files.every(({ action, diff }) => action === "create" && diff.length > 0)).toBe(true);
    expect(world.snapshot()).toEqual(disk);
  });

  test("for a project, wherever in it one stands", async () => {
    world.write(join(world.project, ".git", "HEAD"), "ref: refs/heads/main\n");
    mkdirSync(join(world.project, "deep", "er"), { recursive: true });
    process.chdir(join(world.project, "deep", "er"));
    await butler("install", "claude-code", "--scope", "project");
    const settings = readFileSync(join(world.project, ".claude", "settings.json"), "utf8");
    expect(settings).toContain("$CLAUDE_PROJECT_DIR/.claude/butler-memory/hook.sh");
    expect(readFileSync(join(world.project, ".mcp.json"), "utf8")).toContain('"butler-memory"');
    expect(existsSync(join(world.project, ".claude", "butler-memory", "hook.sh"))).toBe(true);
    await butler("uninstall", "claude-code", "--scope", "project");
    for (const path of [".claude", ".mcp.json"]) expect(existsSync(join(world.project, path))).toBe(false);
  });

  test.each([
    [["emacs"], "known are claude-code, codex, cursor, gemini, opencode"],
    [["codex", "cursor"], "one agent at a time"],
    [["codex", "--scope", "world"], "it must be user or project"],
    [["codex", "--butler", "nobody"], 'There is no butler "nobody". Say --butler with one of: general.'],
  ])("%j is wrong usage", async (args, words) => {
    await expect(butler("install", ...args)).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining(words),
    });
    expect(Object.keys(world.snapshot())).toEqual(["/", "person/", "project/"]);
  });

  test("the home of a person is no project", async () => {
    process.chdir(world.user);
    await expect(butler("install", "codex", "--scope", "project")).rejects.toThrow("is your home, not a project");
  });

  test("of several butlers one must be named", async () => {
    process.env.BUTLER_ROSTER = resolve(start, "roster");
    await expect(butler("install", "codex")).rejects.toThrow("Which butler?");
    await butler("install", "codex", "--butler", "health");
    expect(readFileSync(join(world.user, ".codex", "config.toml"), "utf8")).toContain("BUTLER_ROSTER");
  });
});
