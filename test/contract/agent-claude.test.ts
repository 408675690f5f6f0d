import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { claudeAgent } from "../../src/hosts/agents/claude.ts";
import { scriptedAgent } from "../support/scripted-agent.ts";
import { agentContract, agentJob } from "./agent-runs.ts";

agentContract("claude", claudeAgent);

describe("Claude Code", () => {
  const scripted = scriptedAgent("claude");
  afterAll(() => scripted.close());
  const run = (args: readonly string[] = [], more: Parameters<typeof agentJob>[1] = {}) =>
    claudeAgent({ command: "claude", args }).run(agentJob(scripted, more));

  it("gets the prompt on stdin and everything else as arguments, the configured ones last", async () => {
    scripted.plan({});
    await run(["--model", "haiku"]);
    const [start] = scripted.starts();
    const config = JSON.stringify(start?.mcp);
    expect(start?.stdin).toBe("Plan the release");
    expect(start?.argv).toEqual([
      ...["-p", "--append-system-prompt", "You are the butler of the harbour.", "--output-format", "json"],
      ...["--mcp-config", config, "--strict-mcp-config", "--allowedTools", "mcp__memory", "--model", "haiku"],
    ]);
  });

  it("gets no system flag when there is nothing to say", async () => {
    scripted.plan({});
    await run([], { system: "" });
    expect(scripted.starts()[0]?.argv.join(" ")).not.toContain("system-prompt");
  });

  it("tells its cost, its session and its transcript", async () => {
    scripted.plan({ transcript: [{ answer: "Done." }] });
    const result = await run();
    expect(result).toMatchObject({ result: "Done.", costUsd: 0.0125, isError: false });
    expect(result.transcript).toBe(
      join(scripted.bin, ".claude", "projects", "-some-place", `${result.sessionId}.jsonl`),
    );
    scripted.plan({ transcript: [{ answer: "Elsewhere." }] });
    const { env } = agentJob(scripted);
    const other = join(scripted.bin, "other");
    const moved = await run([], { env: { ...env, CLAUDE_CONFIG_DIR: other } });
    expect(moved.transcript).toBe(join(other, "projects", "-some-place", `${moved.sessionId}.jsonl`));
  });

  it("has no transcript when it kept none, or names a session that is a path", async () => {
    scripted.plan({ result: "x" }, { raw: '{"type":"result","result":"y","session_id":"../../etc/passwd"}' });
    expect((await run()).transcript).toBeUndefined();
    expect(await run()).not.toHaveProperty("transcript");
  });

  it("failed when it says so itself, whatever its exit code", async () => {
    scripted.plan(
      { result: "Credit balance is too low", isError: true, code: 0 },
      { raw: '{"type":"result","subtype":"error_max_turns","errors":["too many turns"]}' },
    );
    expect(await run()).toMatchObject({ isError: true, exitCode: 0, result: "Credit balance is too low" });
    expect(await run()).toMatchObject({ isError: true, result: "too many turns" });
  });

  it("may have been told to print something else than JSON", async () => {
    scripted.plan({ raw: "just words\n" }, { raw: "" }, { raw: "{broken", code: 1 });
    expect(await run(["--output-format", "text"])).toMatchObject({ result: "just words", isError: false });
    expect(await run()).toMatchObject({ result: "", isError: false });
    expect(await run()).toMatchObject({ result: "{broken", isError: true, exitCode: 1 });
  });

  it("gets a long system text whole, by a file", async () => {
    scripted.plan({});
    const system = "The harbour opens at nine. ".repeat(10_000);
    await run([], { system });
    const [start] = scripted.starts();
    expect(start?.system).toBe(system);
    expect(start?.modes).toEqual([0o600]);
    expect(existsSync(start?.argv[2] ?? "/")).toBe(false);
  });

  it("gets as much of it as an argument takes, when its version knows no such file", async () => {
    const old = scriptedAgent("claude");
    old.plan({ result: "old and fine" });
    const shell = `#!/bin/sh\ncase "$*" in *prompt-file*) echo "error: unknown option '--append-system-prompt-file'" >&2; exit 1;; esac\nexec ${old.path} "$@"\n`;
    writeFileSync(join(old.bin, "claude-old"), shell, { mode: 0o755 });
    const system = "The harbour opens at nine. ".repeat(10_000);
    const result = await claudeAgent({ command: join(old.bin, "claude-old"), args: [] }).run(agentJob(old, { system }));
    expect(result).toMatchObject({ result: "old and fine", exitCode: 0 });
    const given = old.starts()[0]?.system ?? "";
    expect(given.length).toBeGreaterThan(100_000);
    expect(system.startsWith(given)).toBe(true);
    old.close();
  });
});
