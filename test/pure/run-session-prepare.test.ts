import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import type { Outcome, ToolRequest } from "../../src/engine/tools/outcome.ts";
import { prepareSession, type SessionButler } from "../../src/hosts/sessions/prepare.ts";

const folder = mkdtempSync(join(tmpdir(), "butler-prepare-"));
writeFileSync(join(folder, "CLAUDE.md"), "\nYou keep the books.\n\n");
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => vi.useRealTimers());

const runtime = { command: "claude", args: ["--verbose"], timeout_seconds: 60, env: {} };
const books: SessionButler = { name: "books", runtime, memory: { enabled: true }, folder };
const block = { text: "<butler-memory>…</butler-memory>\n", tokens: 12, hash: "abc" };
const sections = [{ name: "facts", items: [{ type: "fact", id: "f1", score: 1 }], dropped: 0 }];
const answers = async (): Promise<Outcome> => ({ ok: true, answer: { ...block, budget: 3_000, sections } });

describe("what a session starts with", () => {
  it("is the butler's instructions and what is known for the prompt, in the project that was named", async () => {
    const asked: [string, ToolRequest][] = [];
    const call = (butler: string, request: ToolRequest) => {
      asked.push([butler, request]);
      return answers();
    };
    const question = { butler: "books", prompt: "Close the year", folder: "/", project: "acme", session: "s" };
    expect(await prepareSession({ butlers: () => [books], call }, question)).toEqual({
      butler: "books",
      runtime,
      instructions: "You keep the books.",
      context: { ...block, ids: ["f1"] },
      project: "acme",
    });
    const input = { trigger_prompt: "Close the year" };
    expect(asked).toEqual([["books", { tool: "memory_context", input, project: "acme", session: "s" }]]);
  });

  it("is the only butler's when none was named; of several one must be", async () => {
    expect(await prepareSession({ butlers: () => [books], call: answers }, { prompt: "x" })).toMatchObject({
      butler: "books",
    });
    const two = { butlers: () => [books, { ...books, name: "stocks" }], call: answers };
    expect(await prepareSession(two, { prompt: "x" })).toMatchObject({ error: { code: "invalid_input" } });
    const nobody = await prepareSession(two, { prompt: "x", butler: "nobody" });
    expect(nobody).toMatchObject({ error: { code: "not_found", message: expect.stringContaining("books, stocks") } });
  });

  it("does not ask a memory that is switched off", async () => {
    const call = vi.fn(answers);
    const off = { ...books, memory: { enabled: false } };
    const prepared = await prepareSession({ butlers: () => [off], call }, { prompt: "x" });
    expect(prepared).toMatchObject({ off: true, context: null, instructions: "You keep the books." });
    expect(call).not.toHaveBeenCalled();
  });

  it("says why there is no context: refused, thrown or late", async () => {
    const from = (call: () => Promise<Outcome>) => prepareSession({ butlers: () => [books], call }, { prompt: "x" });
    const refused: Outcome = { ok: false, error: { code: "unavailable", message: "The disk is gone." } };
    expect(await from(async () => refused)).toMatchObject({ context: null, why: "The disk is gone." });
    expect(
      await from(() => {
        throw new Error("broken");
      }),
    ).toMatchObject({ context: null, why: "broken" });
    vi.useFakeTimers();
    const late = from(() => new Promise(() => undefined));
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await late).toMatchObject({ context: null, why: "it gave no answer within 1.6 s", butler: "books" });
  });

  it("has an answer to whatever is asked", async () => {
    await fc.assert(
      fc.asyncProperty(fc.anything(), async (question) => {
        const prepared = await prepareSession(
          { butlers: () => [books, { ...books, name: "b" }], call: answers },
          question,
        );
        expect("error" in prepared || prepared.butler === "books" || prepared.butler === "b").toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});
