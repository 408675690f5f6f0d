/** `butler import transcripts` as people meet it. Needs `npm run build`. */
import { spawn } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { claude, codex, jsonl } from "../pure/transcripts-material.ts";
import { TEST_MODEL_CACHE } from "../support/model.ts";
import { cleanUp, butler as command, emptyHome, seededHome } from "../support/owner-processes.ts";

afterAll(cleanUp);

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/transcripts/${name}`, import.meta.url));
const BUTLER = fileURLToPath(new URL("../../dist/main/butler.js", import.meta.url));

/** What agents have left on a machine, all of it invented. */
function agents() {
  const root = emptyHome();
  const project = join(root, "claude", "projects", "-home-dev-shop");
  const day = join(root, "codex", "sessions", "2026", "05", "01");
  mkdirSync(project, { recursive: true });
  mkdirSync(day, { recursive: true });
  copyFileSync(fixture("claude-code-2.1.325-session.jsonl"), join(project, "recorded.jsonl"));
  copyFileSync(fixture("claude-code-2.1.325-subagent.jsonl"), join(project, "agent-a0149170cc920ff9f.jsonl"));
  const rows = [
    claude.user("We ship the shop on Fridays."),
    claude.says("Noted."),
    claude.user("No, on Thursdays."),
    claude.says("Changed."),
  ];
  writeFileSync(join(project, "written.jsonl"), `${jsonl(rows)}{"type":"user","mess`);
  writeFileSync(join(project, "torn.jsonl"), Buffer.from([0, 255, 254, 10, 123, 34]));
  writeFileSync(
    join(day, "rollout-1.jsonl"),
    jsonl([codex.meta(), ...codex.asks("Rename the order service."), ...codex.says("Renamed it.")]),
  );
  return { root, project, variables: { CLAUDE_CONFIG_DIR: join(root, "claude"), CODEX_HOME: join(root, "codex") } };
}

const episodes = async (home: string, project: string) => {
  const { stdout } = await command(home, ["stats", "--json"], { BUTLER_PROJECT: project });
  return (JSON.parse(stdout) as { episodes: { total: number } }).episodes.total;
};

describe("butler import transcripts", () => {
  test("says what it would do, does it once, and leaves out what it cannot read", async () => {
    const home = await seededHome();
    const { variables } = agents();
    const importing = ["import", "transcripts", "--project", "acme/shop"];
    const tried = await command(home, [...importing, "--dry-run", "--json"], variables);
    expect(tried.code).toBe(0);
    expect(JSON.parse(tried.stdout)).toMatchObject({ dry_run: true, files: 4, unfit: 1, episodes: expect.any(Number) });
    expect(await episodes(home, "acme/shop")).toBe(0);

    // Nobody said yes, and there is no terminal to ask at.
    for (const more of [[], ["--json"]]) {
      const unasked = await command(home, [...importing, ...more], variables);
      expect([unasked.code, unasked.stderr]).toEqual([
        2,
        expect.stringMatching(/4 transcripts.*Nothing was taken in.*--yes/s),
      ]);
      expect(unasked.stdout === "" ? {} : JSON.parse(unasked.stdout)).toMatchObject(
        more.length === 0 ? {} : { taken_in: false, files: 4 },
      );
      expect(await episodes(home, "acme/shop")).toBe(0);
    }

    const first = await command(home, [...importing, "--yes", "--json"], variables);
    expect(first.code).toBe(0);
    expect(JSON.parse(first.stdout)).toMatchObject({
      files: 3,
      stored: 4,
      already: 0,
      refused: 0,
      skipped: 2,
      complete: true,
    });
    expect(await episodes(home, "acme/shop")).toBe(4);

    const again = await command(home, [...importing, "--yes"], variables);
    expect(again.code).toBe(0);
    expect(again.stdout).toMatch(/^0 episodes stored from 3 transcripts; 4 there already, 2 files skipped\.$/m);
    expect(again.stdout).toContain("torn.jsonl: is no transcript of claude-code");
    expect(again.stderr).toMatch(/4 transcripts, .* MB, .* to .*; 1 other file left out\./);

    const { stdout } = await command(home, ["search", "Thursdays", "--json"], { BUTLER_PROJECT: "acme/shop" });
    expect(stdout).toContain("No, on Thursdays.");
    expect(stdout).not.toContain("MEMCTX");
    await command(home, ["stop"]);
  });

  test("takes one agent, one file, a time and no nonsense", async () => {
    const home = await seededHome();
    const { root, project, variables } = agents();
    const counts = async (...args: string[]) => {
      const { code, stdout } = await command(
        home,
        ["import", "transcripts", "--dry-run", "--json", ...args],
        variables,
      );
      expect(code).toBe(0);
      return (JSON.parse(stdout) as { files: number }).files;
    };
    expect(await counts("--agent", "codex")).toBe(1);
    expect(await counts("--from", join(project, "written.jsonl"))).toBe(1);
    expect(await counts("--from", root)).toBe(4);
    expect(await counts("--since", "30d")).toBe(4);
    expect(await counts("--since", "2199-01-01")).toBe(0);
    for (const wrong of [["--since", "soon"], ["--agent", "parrot"], ["--colour"], []])
      expect(
        (await command(home, ["import", ...(wrong.length === 0 ? ["diaries"] : ["transcripts"]), ...wrong], variables))
          .code,
      ).toBe(2);
    expect((await command(home, ["import", "transcripts", "--from", join(root, "nowhere")], variables)).code).toBe(3);
    const none = { CLAUDE_CONFIG_DIR: join(root, "x"), CODEX_HOME: join(root, "y") };
    expect(await command(home, ["import", "transcripts"], none)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("--from"),
    });
    await command(home, ["stop"]);
  });

  test.skipIf(process.getuid?.() === 0)("goes on after a file that it may not read", async () => {
    const home = await seededHome();
    const { project, variables } = agents();
    chmodSync(join(project, "written.jsonl"), 0o000);
    const { code, stdout } = await command(home, ["import", "transcripts", "--yes", "--json"], variables);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ stored: 2, complete: true });
    expect(stdout).toContain("EACCES");
    await command(home, ["stop"]);
  });

  test("ends cleanly at Ctrl-C, and goes on when it is run again", async () => {
    const home = await seededHome();
    const { project, variables } = agents();
    const many = Array.from({ length: 400 }, (_, n) => [
      claude.user(`Do number ${n} of the list.`),
      claude.says(`Did ${n}.`),
    ]);
    writeFileSync(join(project, "written.jsonl"), jsonl(many.flat()));
    const args = ["import", "transcripts", "--from", join(project, "written.jsonl"), "--project", "acme/shop"];
    const child = spawn(process.execPath, [BUTLER, ...args, "--yes"], {
      env: {
        PATH: process.env.PATH ?? "",
        HOME: home,
        BUTLER_HOME: home,
        BUTLER_MODEL_DIR: TEST_MODEL_CACHE,
        BUTLER_IDLE_SECONDS: "30",
        BUTLER_PORT: "0",
        ...variables,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    const ended = new Promise<number | null>((done) => child.once("close", done));
    await new Promise((done) => child.stderr.once("data", done));
    child.kill("SIGINT");
    expect(await ended).toBe(1);
    expect(said).toContain("run it again to go on");
    const again = await command(home, [...args, "--yes", "--json"], variables);
    const { stored, already, complete } = JSON.parse(again.stdout) as {
      stored: number;
      already: number;
      complete: boolean;
    };
    expect({ all: stored + already, complete }).toEqual({ all: 400, complete: true });
    expect(await episodes(home, "acme/shop")).toBe(400);
    await command(home, ["stop"]);
  });
});
