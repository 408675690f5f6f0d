import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AGENT_NAMES, type AgentName, HOOK_DIALECTS } from "../../src/hosts/hooks/dialects.ts";

const recorded = (name: string) =>
  JSON.parse(readFileSync(new URL(`../fixtures/hooks/${name}.json`, import.meta.url), "utf8")) as Record<
    string,
    object
  >;

const INPUTS: Readonly<Record<AgentName, Record<string, object>>> = {
  "claude-code": recorded("claude-code-2.1.325"),
  codex: recorded("codex"),
  cursor: recorded("cursor"),
  gemini: recorded("gemini"),
  opencode: recorded("opencode"),
};

const read = (agent: AgentName, event: string) => HOOK_DIALECTS[agent].read(event, INPUTS[agent][event]);

describe("what an agent says to its hooks", () => {
  test.each(AGENT_NAMES)("%s: all four moments, with session and folder", (agent) => {
    const { events } = HOOK_DIALECTS[agent];
    expect(Object.values(events)).toEqual(["start", "prompt", "turn-end", "end"]);
    for (const [event, moment] of Object.entries(events))
      expect(read(agent, event)).toMatchObject({
        moment,
        session: expect.stringMatching(/./),
        folder: "/home/dev/project",
      });
  });

  test("Claude Code, from a recording", () => {
    const session = "99999999-2222-4333-8444-555555555555";
    const transcript = `/home/dev/.claude/projects/-home-dev-project/${session}.jsonl`;
    const common = { session, folder: "/home/dev/project", transcript };
    expect(read("claude-code", "SessionStart")).toEqual({ moment: "start", ...common, source: "startup" });
    expect(read("claude-code", "Stop")).toEqual({ moment: "turn-end", ...common, reply: "All done." });
    expect(read("claude-code", "SessionEnd")).toEqual({ moment: "end", ...common, source: "other" });
    expect(read("claude-code", "UserPromptSubmit")).toMatchObject({ moment: "prompt", prompt: "call noop please" });
    for (const event of ["SubagentStop", "PreToolUse", "PostCompact"])
      expect(read("claude-code", event)).toBeUndefined();
  });

  test("Gemini CLI hands our block back, escaped, in the prompts of both ends of a turn", () => {
    const own = "&lt;butler-memory&gt;\nBackground.\n- ports / staging: 5433\n&lt;/butler-memory&gt;\n";
    const prompt = `<hook_context>${own}</hook_context>\n\nwhy is the build red`;
    for (const event of ["BeforeAgent", "AfterAgent"]) {
      const input = { ...INPUTS.gemini[event], prompt };
      expect(HOOK_DIALECTS.gemini.read(event, input)).toMatchObject({ prompt: "why is the build red" });
    }
    const alone = { ...INPUTS.gemini.BeforeAgent, prompt: `<hook_context>${own}</hook_context>` };
    expect(HOOK_DIALECTS.gemini.read("BeforeAgent", alone)).not.toHaveProperty("prompt");
  });

  test("the others, as they document it", () => {
    const asked = { prompt: "why is the build red" };
    const told = { reply: "A test had a wrong date." };
    expect(read("codex", "UserPromptSubmit")).toEqual({
      moment: "prompt",
      session: "019a3f6e-1c2d-7000-8000-00000000c0de",
      folder: "/home/dev/project",
      ...asked,
    });
    expect(read("codex", "Stop")).toMatchObject({ ...told, transcript: expect.stringContaining("rollout") });
    expect(read("cursor", "beforeSubmitPrompt")).toMatchObject({
      session: "5b7c2f0e-0000-4000-8000-0000000000aa",
      ...asked,
    });
    expect(read("cursor", "stop")).toMatchObject({
      source: "completed",
      transcript: expect.stringContaining("agent-transcripts"),
    });
    expect(read("gemini", "BeforeAgent")).toMatchObject(asked);
    expect(read("gemini", "AfterAgent")).toMatchObject({ ...asked, ...told });
    expect(read("opencode", "session.idle")).toMatchObject({ ...asked, ...told });
  });

  test("whatever is missing or odd, nothing is thrown", () => {
    const field = fc.constantFrom(
      "session_id",
      "cwd",
      "prompt",
      "transcript_path",
      "workspace_roots",
      "conversation_id",
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...AGENT_NAMES),
        fc.oneof(fc.constantFrom("SessionStart", "stop", "chat.message", "toString", "__proto__"), fc.string()),
        fc.oneof(fc.anything(), fc.dictionary(field, fc.anything())),
        (agent, event, input) => {
          const told = HOOK_DIALECTS[agent].read(event, input);
          if (told === undefined) return;
          for (const value of Object.values(told)) expect(typeof value).toBe("string");
          expect(told.session).not.toBe("");
        },
      ),
    );
  });
});

describe("how an agent wants to be answered", () => {
  const answer = (agent: AgentName, event: string, context?: string, message?: string) =>
    HOOK_DIALECTS[agent].answer(event, { context, message });

  test.each(["claude-code", "codex"] as const)("%s", (agent) => {
    for (const event of ["SessionStart", "UserPromptSubmit"])
      expect(answer(agent, event, "C", "M")).toEqual({
        hookSpecificOutput: { hookEventName: event, additionalContext: "C" },
        systemMessage: "M",
      });
    expect(answer(agent, "Stop", "C", "M")).toEqual({ systemMessage: "M" });
    expect(answer(agent, "SessionEnd", "C", "M")).toBeUndefined();
    expect(answer(agent, "PreToolUse", "C", "M")).toBeUndefined();
  });

  test("Gemini CLI", () => {
    expect(answer("gemini", "BeforeAgent", "C")).toEqual({
      hookSpecificOutput: { hookEventName: "BeforeAgent", additionalContext: "C" },
    });
    for (const event of ["SessionStart", "AfterAgent"])
      expect(answer("gemini", event, "C", "M")).toEqual({ systemMessage: "M" });
  });

  test("Cursor takes context at the start only, and a prompt is always let through", () => {
    expect(answer("cursor", "sessionStart", "C", "M")).toEqual({ additional_context: "M\n\nC" });
    expect(answer("cursor", "beforeSubmitPrompt", "C", "M")).toEqual({ continue: true });
    expect(answer("cursor", "stop", "C", "M")).toBeUndefined();
  });

  test("opencode's plugin", () => {
    expect(answer("opencode", "chat.message", "C")).toEqual({ context: "C" });
    expect(answer("opencode", "session.created", "C", "M")).toEqual({ context: "C", message: "M" });
    expect(answer("opencode", "nothing", "C")).toBeUndefined();
  });

  test("without anything to say, silence; and never a word that stops the agent", () => {
    for (const agent of AGENT_NAMES) {
      for (const event of Object.keys(HOOK_DIALECTS[agent].events)) {
        const silent = answer(agent, event, "", "");
        expect(silent === undefined || event === "beforeSubmitPrompt").toBe(true);
        const loud = JSON.stringify(answer(agent, event, "C", "M") ?? {});
        expect(loud).not.toMatch(/"decision"|"continue":false|"stopReason"|"permission"/);
      }
    }
  });
});
