/** What every agent must do with its process, whatever its program is. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Agent, AgentCannotStart, type AgentJob } from "../../src/hosts/agents/port.ts";
import { heldTimer } from "../support/held-timer.ts";
import { gone, type ScriptedAgent, scriptedAgent } from "../support/scripted-agent.ts";

export type MakeAgent = (options: { command: string; args: readonly string[] }) => Agent;

export const agentJob = (scripted: ScriptedAgent, more: Partial<AgentJob> = {}): AgentJob => ({
  prompt: "Plan the release",
  system: "You are the butler of the harbour.",
  mcp: { command: "node", args: ["butler.js", "mcp"], env: { BUTLER_HOME: "/somewhere" } },
  session: "8f0d6c5e-0000-4000-8000-000000000001",
  folder: tmpdir(),
  env: { PATH: `${scripted.bin}:${process.env.PATH}`, HOME: scripted.bin, BUTLER_SPAWNED: "1" },
  timeoutMs: 30_000,
  signal: new AbortController().signal,
  ...more,
});

export function agentContract(name: string, make: MakeAgent): void {
  describe(`${name} as a process`, () => {
    let scripted: ScriptedAgent;
    let place: string;
    beforeAll(() => {
      scripted = scriptedAgent(name);
      place = mkdtempSync(join(tmpdir(), "butler-place-"));
    });
    afterAll(() => {
      scripted.close();
      rmSync(place, { recursive: true, force: true });
    });
    const agent = (args: readonly string[] = []) => make({ command: scripted.path, args });

    it("gives back the answer, and works in the folder it was sent to", async () => {
      scripted.plan({ result: "Friday it is.\nAt nine." });
      const result = await agent().run(agentJob(scripted, { folder: place }));
      expect(result).toMatchObject({ exitCode: 0, isError: false, result: "Friday it is.\nAt nine." });
      expect(scripted.starts()[0]).toMatchObject({ cwd: place, system: "You are the butler of the harbour." });
      expect(scripted.starts()[0]?.mcp).toEqual({
        mcpServers: { memory: { command: "node", args: ["butler.js", "mcp"], env: { BUTLER_HOME: "/somewhere" } } },
      });
    });

    it("has no server of ours when there is no memory", async () => {
      scripted.plan({});
      await agent().run(agentJob(scripted, { mcp: undefined }));
      expect(scripted.starts()[0]?.mcp).toEqual({ mcpServers: {} });
    });

    it("keeps the exit code and passes stderr on as it comes", async () => {
      scripted.plan({ code: 7, stderr: "the disk is full\n" });
      let heard = "";
      const onOutput = (chunk: Uint8Array) => {
        heard += Buffer.from(chunk).toString();
      };
      const result = await agent().run(agentJob(scripted, { onOutput }));
      expect(result).toMatchObject({ exitCode: 7, isError: true, stderrTail: "the disk is full\n" });
      expect(heard).toBe("the disk is full\n");
    });

    it("takes prompts and answers of any size and kind", async () => {
      const long = "ü\u2028\"'$(x)`{prompt}{system}\n".repeat(100_000);
      scripted.plan({ result: long });
      const result = await agent().run(agentJob(scripted, { prompt: long }));
      expect(result.result).toBe(long);
      expect(scripted.starts()[0]?.stdin).toBe(long);
    });

    it("is ended when its time is over, with everything it has started", async () => {
      scripted.plan({ hang: "polite" });
      const timer = heldTimer(1_234);
      const running = agent().run(agentJob(scripted, { timeoutMs: 1_234 }));
      const { pid, child = 0 } = await scripted.started().finally(timer.release);
      timer.end();
      expect(await running).toMatchObject({ ended: "timeout", isError: true, signal: "SIGTERM", exitCode: 143 });
      await gone(pid, child);
    });

    it("is ended by the signal that ends us, and the hard way when it does not listen", async () => {
      scripted.plan({ hang: "polite" }, { hang: "stubborn" });
      const stop = new AbortController();
      const running = agent().run(agentJob(scripted, { signal: stop.signal }));
      const { child = 0 } = await scripted.started();
      stop.abort("SIGINT");
      expect(await running).toMatchObject({ ended: "stopped", signal: "SIGINT", exitCode: 130 });
      await gone(child);
      const again = new AbortController();
      const stubborn = agent().run(agentJob(scripted, { signal: again.signal }));
      const second = await scripted.started(2);
      again.abort();
      expect(await stubborn).toMatchObject({ ended: "stopped", signal: "SIGKILL", exitCode: 137 });
      await gone(second.pid, second.child ?? 0);
    });

    it("leaves no process behind when it ends by itself", async () => {
      scripted.plan({ stray: true, result: "fine" });
      const result = await agent().run(agentJob(scripted));
      expect(result).toMatchObject({ exitCode: 0, result: "fine" });
      await gone(scripted.starts()[0]?.child ?? 0);
    });

    it("says why it cannot be started", async () => {
      const nobody = make({ command: "no-such-agent", args: [] }).run(agentJob(scripted));
      await expect(nobody).rejects.toThrow(AgentCannotStart);
      await expect(nobody).rejects.toThrow(/"no-such-agent" cannot be started: there is no such program/);
      const nowhere = agent().run(agentJob(scripted, { folder: join(place, "gone") }));
      await expect(nowhere).rejects.toThrow(/is not a folder/);
    });
  });
}
