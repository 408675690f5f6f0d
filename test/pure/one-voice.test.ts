/** Where hooks bring the memory and record the session, nobody asks the agent to do either; where there are none, it is asked to. */
import { describe, expect, it } from "vitest";
import { serverInstructions } from "../../src/doors/mcp/prompts.ts";

describe("the instructions of the server", () => {
  const withHooks = serverInstructions("general", { hooks: true });
  const without = serverInstructions("general", { hooks: false });

  it("ask for a start and an end only where no hook does it", () => {
    expect(withHooks).not.toMatch(/memory_context|memory_store_episode/);
    expect(without).toContain("At the start of a task call memory_context");
    expect(without).toContain("call memory_store_episode");
  });

  it.each([withHooks, without])("say the rest alike, in few words", (words) => {
    expect(words).toContain('the butler "general"');
    for (const tool of ["recall", "search", "store_fact", "store_rule", "mark_helpful", "mark_harmful"])
      expect(words).toContain(`memory_${tool}`);
    expect(words).not.toContain("<");
    expect(words.length).toBeLessThan(1_400);
  });
});
