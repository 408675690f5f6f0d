import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ClaudeApi, claudeApi } from "../support/claude-api.ts";
import { butler, cleanUp, seededHome, up } from "../support/owner-processes.ts";

const path = process.env.BUTLER_TEST_CLAUDE ?? "";

describe.skipIf(!path.includes("/"))(
  "the real Claude Code, on a model of ours (skipped unless BUTLER_TEST_CLAUDE is the path of a claude)",
  () => {
    let api: ClaudeApi;
    let home: string;
    const scratch = mkdtempSync(join(tmpdir(), "butler-real-claude-"));
    beforeAll(async () => {
      api = await claudeApi();
      home = await seededHome();
      await up(home);
      await butler(home, ["search", "anything"]);
    });
    afterAll(async () => {
      await cleanUp();
      await api.close();
      rmSync(scratch, { recursive: true, force: true });
    });
    const run = async (prompt: string) => {
      const ran = await butler(home, ["run", "general", prompt, "--json"], {
        PATH: `${dirname(path)}:${process.env.PATH}`,
        HOME: scratch,
        ANTHROPIC_BASE_URL: api.url,
        ANTHROPIC_API_KEY: "sk-test",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      });
      expect(ran.stderr).toBe("");
      return JSON.parse(ran.stdout) as Record<string, unknown>;
    };

    it("knows what the session before was told, and what it stored itself", async () => {
      const fact = { subject: "lighthouse", predicate: "keeper", content: "Mrs Olsen" };
      api.says("I will remember the lighthouse.", { name: "memory_store_fact", input: fact });
      const first = await run("Remember who keeps the lighthouse: Mrs Olsen. It was painted on Monday.");
      expect(first).toMatchObject({ result: "I will remember the lighthouse.", ok: true, episodes: 1 });
      expect(api.spoken().some(({ messages }) => messages.includes('"tool_result"'))).toBe(true);
      expect((await butler(home, ["recall", "lighthouse keeper"])).stdout).toContain("Mrs Olsen");

      api.says("Mrs Olsen keeps it.");
      const second = await run("Who keeps the lighthouse, and when was it painted?");
      expect(second).toMatchObject({ result: "Mrs Olsen keeps it.", memory: "used", episodes: 1 });
      const { system } = api.spoken().find(({ system }) => system.includes("<butler-memory>")) ?? {};
      expect(system).toContain("Mrs Olsen");
      expect(system).toContain("painted on Monday");
    });
  },
);
