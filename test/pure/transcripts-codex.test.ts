/** Codex' rollouts: what becomes an exchange, and what does not. */
import { describe, expect, it, test } from "vitest";
import { readHead } from "../../src/hosts/transcripts/read.ts";
import { codex, contents, inFile, jsonl, type Row, read } from "./transcripts-material.ts";

const PLAIN = "User: Rename the order service.\nAgent: Renamed it.";
const ASK = codex.asks("Rename the order service.");
const DONE = codex.says("Renamed it.");
const added = (text: string) => codex.item(codex.message("user", text));
const PATCH =
  "*** Begin Patch\n*** Update File: src/order.ts\n@@\n-a\n+b\n*** Add File: /home/dev/shop/src/new.ts\n+x\n*** Delete File: old.ts\n*** End Patch";
const calls = (payload: Row) => codex.item({ call_id: "c9", ...payload });

const CASES: readonly (readonly [name: string, rows: readonly Row[], expected: readonly string[]])[] = [
  ["a prompt that is recorded twice", [...ASK, ...DONE], [PLAIN]],
  ["the same the other way round", [...ASK.toReversed(), ...DONE], [PLAIN]],
  ["a prompt that is recorded once", [ASK[0] as Row, ...DONE], [PLAIN]],
  ["the same prompt again", [...ASK, ...DONE, ...ASK, ...DONE], [PLAIN, PLAIN]],
  [
    "what the host adds to a prompt",
    [
      added("<environment_context>\n<cwd>/home/dev/shop</cwd>\n</environment_context>"),
      added("# AGENTS.md instructions for /home/dev/shop\n\nI live in Graz."),
      added("<something_new>\nI live in Graz.\n</something_new>"),
      ...ASK,
      ...DONE,
    ],
    [PLAIN],
  ],
  [
    "a typed prompt that looks like an addition",
    [...codex.asks("<b>bold</b> is not bold"), ...DONE],
    ["User: <b>bold</b> is not bold\nAgent: Renamed it."],
  ],
  [
    "what an editor adds",
    [
      ...codex.asks(
        "# Context from my IDE setup:\n\n## Open tabs:\n- a.ts\n\n## My request for Codex:\nRename the order service.",
      ),
      ...DONE,
    ],
    [PLAIN],
  ],
  [
    "words for developers and thoughts",
    [
      codex.item(codex.message("developer", "<permissions instructions>")),
      ...ASK,
      codex.item({ type: "reasoning", summary: [{ type: "summary_text", text: "hm" }] }),
      codex.line("event_msg", { type: "agent_reasoning", text: "hm" }),
      ...DONE,
    ],
    [PLAIN],
  ],
  [
    "unknown lines",
    [
      codex.line("world_state", { user: 1 }),
      ...ASK,
      codex.item({ type: "hologram" }),
      codex.line("event_msg", { type: "token_count" }),
      codex.line("compacted", { message: "I live in Graz." }),
      ...DONE,
    ],
    [PLAIN],
  ],
  ["only the last message", [...ASK, ...codex.says("Let me look."), ...DONE], [PLAIN]],
  ["a prompt that nobody answered", [...ASK], []],
  ["a nod", [...ASK, ...codex.says("Shall I?"), ...codex.asks("go on"), ...DONE], [PLAIN]],
  [
    "commands in every form, and no reading",
    [
      ...ASK,
      ...codex.runs(
        "c1",
        ["bash", "-lc", "npm test"],
        '{"output":"ok","metadata":{"exit_code":0,"duration_seconds":1}}',
      ),
      ...codex.runs("c2", "npm run lint", "Exit code: 0\nWall time: 1 seconds\nOutput:\nExit code: 1", "shell_command"),
      codex.item({ type: "function_call", name: "exec_command", arguments: '{"cmd":"make"}', call_id: "c3" }),
      codex.item({
        type: "function_call_output",
        call_id: "c3",
        output: "Chunk ID: 1\nWall time: 1 seconds\nProcess exited with code 0\nOutput:\nok",
      }),
      codex.item({ type: "local_shell_call", call_id: "c4", action: { type: "exec", command: ["cargo", "build"] } }),
      ...codex.runs("c5", ["bash", "-lc", "rg order src | head -20"], "Exit code: 1\nOutput:\n"),
      ...DONE,
    ],
    [`${PLAIN}\nDid: ran npm test; ran npm run lint; ran make; ran cargo build`],
  ],
  [
    "patches in every form",
    [
      ...ASK,
      calls({ type: "custom_tool_call", name: "apply_patch", input: PATCH }),
      codex.item({
        type: "function_call",
        name: "shell",
        arguments: JSON.stringify({ command: ["apply_patch", PATCH] }),
        call_id: "c2",
      }),
      codex.item({
        type: "function_call",
        name: "apply_patch",
        arguments: JSON.stringify({ input: PATCH.replace("old", "older") }),
        call_id: "c3",
      }),
      ...DONE,
    ],
    [`${PLAIN}\nDid: edited src/order.ts; wrote src/new.ts; deleted old.ts; deleted older.ts`],
  ],
  [
    "failures in every form",
    [
      ...ASK,
      ...codex.runs(
        "c1",
        ["bash", "-lc", "npm test"],
        '{"output":"> shop\\nError: no such order","metadata":{"exit_code":1}}',
      ),
      ...codex.runs(
        "c2",
        "make",
        "Exit code: 2\nWall time: 1 seconds\nOutput:\nmake: *** cannot make",
        "shell_command",
      ),
      ...codex.runs("c3", "cargo b", { content: "unknown command", success: false }),
      ...DONE,
    ],
    [
      `${PLAIN}\nFailed: shell (ran npm test): Error: no such order\nFailed: shell_command (ran make): make: *** cannot make\nFailed: shell (ran cargo b): unknown command`,
    ],
  ],
  [
    "what was refused is not done",
    [...ASK, ...codex.runs("c1", "rm -r src", "exec command rejected by user"), ...DONE],
    [PLAIN],
  ],
  [
    "answers are decisions, secret ones are not",
    [
      ...ASK,
      codex.item({
        ...{ type: "function_call", name: "request_user_input", call_id: "c1" },
        arguments: JSON.stringify({
          questions: [
            { id: "q1", question: "Which name?" },
            { id: "q2", question: "Password?", isSecret: true },
          ],
        }),
      }),
      codex.item({
        type: "function_call_output",
        call_id: "c1",
        output: '{"answers":{"q1":{"answers":["purchase"]},"q2":{"answers":["hush"]}}}',
      }),
      ...DONE,
    ],
    ['User: Rename the order service.\nDecided: purchase (asked: "Which name?")\nAgent: Renamed it.'],
  ],
  [
    "our own tools",
    [
      ...ASK,
      codex.item({ type: "function_call", name: "mcp__butler__memory_store_fact", arguments: "{}", call_id: "c1" }),
      codex.item({ type: "function_call_output", call_id: "c1", output: { content: "error", success: false } }),
      ...DONE,
    ],
    [PLAIN],
  ],
];

describe("Codex", () => {
  test.each(CASES)("%s", async (_name, rows, expected) => {
    expect(await contents("codex", [codex.meta(), ...rows])).toEqual(expected);
  });

  it("keeps nothing of a sub-agent's own file", async () => {
    expect(
      await contents("codex", [codex.meta({ source: { subagent: { thread_spawn: {} } } }), ...ASK, ...DONE]),
    ).toEqual([]);
  });

  it("says in its first lines whose it is", async () => {
    await inFile(jsonl([codex.meta(), ...ASK]), async (path) => {
      expect(await readHead("codex", path)).toEqual({
        ...{ session: "0199aaaa-0000-7000-8000-000000000001", folder: "/home/dev/shop" },
        ...{ started: "2026-05-01T09:00:00.000Z", agent: "codex" },
      });
      expect(await readHead("claude-code", path)).toBeUndefined();
    });
  });

  it("knows an exchange by its place, and goes on where it was", async () => {
    const rows = jsonl([codex.meta(), ...ASK, ...DONE, ...codex.asks("Now the docs."), ...codex.says("Wrote them.")]);
    await inFile(rows, async () => {
      const [one, two] = await read("codex", rows);
      expect(one?.key).toMatch(/^@\d+$/);
      expect(await read("codex", rows, { from: one?.next ?? 0 })).toEqual([two]);
    });
  });

  it("reads the older files, whose lines are the items themselves", async () => {
    const old = [
      { id: "0188bbbb-0000-7000-8000-000000000001", timestamp: "2025-06-01T08:00:00.000Z", instructions: null },
      { record_type: "state" },
      codex.message("user", "<environment_context>\n  <cwd>/home/dev/shop</cwd>\n</environment_context>"),
      codex.message("user", "Rename the order service."),
      { type: "function_call", name: "shell", arguments: '{"command":["bash","-lc","npm test"]}', call_id: "c1" },
      { type: "function_call_output", call_id: "c1", output: '{"output":"ok","metadata":{"exit_code":0}}' },
      codex.message("assistant", "Renamed it."),
    ];
    const [only, ...more] = await read("codex", jsonl(old));
    expect(more).toEqual([]);
    expect(only).toMatchObject({
      content: `${PLAIN}\nDid: ran npm test`,
      at: "2025-06-01T08:00:00.000Z",
      tags: ["shell"],
    });
    await inFile(jsonl(old), async (path) => {
      expect(await readHead("codex", path)).toMatchObject({
        session: "0188bbbb-0000-7000-8000-000000000001",
        folder: "/home/dev/shop",
      });
    });
  });
});
