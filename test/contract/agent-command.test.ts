import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { commandAgent } from "../../src/hosts/agents/command.ts";
import { scriptedAgent } from "../support/scripted-agent.ts";
import { agentContract, agentJob } from "./agent-runs.ts";

agentContract("helper", commandAgent);

describe("any command", () => {
  const scripted = scriptedAgent("helper");
  afterAll(() => scripted.close());
  const run = async (args: readonly string[], more: Parameters<typeof agentJob>[1] = {}) => {
    const job = agentJob(scripted, more);
    return { job, result: await commandAgent({ command: "helper", args }).run(job) };
  };

  it("is looked for on the PATH and called by its name", async () => {
    scripted.plan({ result: "here" });
    expect((await run([])).result).toMatchObject({ result: "here", exitCode: 0 });
    expect(commandAgent({ command: "/opt/tools/helper", args: [] }).name).toBe("helper");
  });

  it("has its placeholders filled in, once, and its prompt on stdin unless an argument takes it", async () => {
    scripted.plan({});
    const prompt = "Explain {system} and {session}";
    const args = ["ask", "--q={prompt}", "--system", "{system}", "--id={session}/{session}", "--other", "{unknown}"];
    const { job } = await run([...args, "--mcp", "{mcp_config}"], { prompt });
    const [start] = scripted.starts();
    const config = start?.env.BUTLER_MCP_CONFIG ?? "";
    expect(start?.argv).toEqual([
      ...["ask", `--q=${prompt}`, "--system", job.system, `--id=${job.session}/${job.session}`, "--other", "{unknown}"],
      ...["--mcp", config],
    ]);
    expect(start?.stdin).toBe("");
    scripted.plan({});
    await run(["ask"], { prompt });
    expect(scripted.starts()[0]).toMatchObject({ argv: ["ask"], stdin: prompt });
  });

  it("finds what it was given in files that nobody else can read and that are gone afterwards", async () => {
    scripted.plan({});
    const { job } = await run([], { system: "words\n".repeat(100_000) });
    const [start] = scripted.starts();
    expect(start?.system).toBe(job.system);
    expect(start?.modes).toEqual([0o600, 0o600]);
    const { BUTLER_SYSTEM_FILE: words = "", BUTLER_MCP_CONFIG: config = "" } = start?.env ?? {};
    expect([words, config, dirname(words)].map((path) => existsSync(path))).toEqual([false, false, false]);
    expect(start?.env).toMatchObject({ BUTLER_SESSION: job.session, BUTLER_SPAWNED: "1" });
  });

  it("gets as much of a long system text as an argument takes, and no cut prompt", async () => {
    scripted.plan({});
    const { job } = await run(["--system", "{system}"], { system: "ü".repeat(200_000) });
    const given = scripted.starts()[0]?.argv[1] ?? "";
    expect(given.length).toBeGreaterThan(50_000);
    expect(job.system.startsWith(given)).toBe(true);
    await expect(run(["{prompt}"], { prompt: "x".repeat(500_000) })).rejects.toThrow(/without \{prompt\} in args/);
  });
});
