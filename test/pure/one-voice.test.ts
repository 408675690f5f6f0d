/** Where hooks bring the memory and record the session, nobody asks the agent to do either; where there are none, it is asked to. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { listedTools } from "../../src/doors/mcp/advertise.ts";
import { serverInstructions } from "../../src/doors/mcp/prompts.ts";
import { tools } from "../../src/engine/tools/index.ts";

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

/** It is installed together with hooks, for every agent. */
describe("the skill", () => {
  const skill = readFileSync(new URL("../../plugins/skill/SKILL.md", import.meta.url), "utf8");

  it("asks neither for a start nor for an end, and says what short ids are for", () => {
    expect(skill).not.toContain("memory_context");
    expect(skill).not.toMatch(/at the (?:start|end)[^.]*(?:call|memory_store_episode)/i);
    expect(skill).toMatch(/short id .*`[0-9a-hjkmnp-tv-z]{8}`/);
    const known = new Set(tools.map(({ name }) => name));
    for (const [name] of skill.matchAll(/memory_[a-z_]*[a-z]/g)) expect(known, name).toContain(name);
  });
});

describe("the descriptions of the tools", () => {
  const of = (name: string) => listedTools(tools, "core").find((tool) => tool.name === name)?.description ?? "";

  it("say when to use which, and when not to store", () => {
    expect(of("memory_context")).toContain("Not needed where a butler-memory block is in the conversation already");
    expect(of("memory_search")).toContain("something specific that the block does not hold");
    expect(of("memory_recall")).toContain("facts and rules, no episodes");
    expect(of("memory_store_episode")).toContain("Not for long output, secrets, guesses");
  });
});
