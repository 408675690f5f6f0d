/** `butler why` and `why-not`: what they understand, what they say first, and as a person runs them. Needs `npm run build`. */
import { afterAll, describe, expect, it } from "vitest";
import { type WhyShown, whyWords } from "../../src/engine/tools/why-words.ts";
import { understood } from "../../src/main/commands/why.ts";
import { butler, cleanUp, seededHome } from "../support/owner-processes.ts";

const ID = "0198c0de-1234-7abc-8def-0123456789ab";

describe("words", () => {
  it.each([
    [[ID, "--query", "green tea"], { id: ID, query: "green tea" }],
    [["--query=green tea", ID], { id: ID, query: "green tea" }],
    [[ID, "green", "tea"], { id: ID, query: "green tea" }],
    [["--id", ID, "green", "tea"], { id: ID, query: "green tea" }],
    [[ID, "--context", "tea", "--token-budget", "90"], { id: ID, query: "tea", for: "context", token_budget: 90 }],
    [[ID, "--", "--context"], { id: ID, query: "--context" }],
    [[ID, "tea", "--types", "fact,rule", "--limit", "3"], { id: ID, query: "tea", types: ["fact", "rule"], limit: 3 }],
    [["--json", `{"id":"${ID}","query":"tea"}`], { id: ID, query: "tea" }],
  ])("%j → %j", (args, input) => {
    expect(understood("why", args).input).toEqual(input);
  });

  it("keeps apart whom to ask and how to answer", () => {
    expect(understood("why", [ID, "tea", "--butler", "travel", "--json"])).toMatchObject({
      butler: "travel",
      json: true,
    });
    expect(understood("why", [ID, "tea"])).toMatchObject({ json: false });
  });

  it.each([
    [[], "id"],
    [[ID], "query"],
    [[ID, "tea", "--query", "coffee"], "query"],
    [[ID, "tea", "--colour", "red"], "colour"],
  ])("refuses %j", (args, field) => {
    expect(() => understood("why-not", args)).toThrow(expect.objectContaining({ code: "invalid_input", field }));
  });
});

describe("what is said", () => {
  const signal = (scaled: number, weight: number) => ({ scaled, weight });
  const shown: WhyShown = {
    id: ID,
    type: "fact",
    shown: true,
    verdict: "It is shown at place 1 of 2.",
    steps: [{ check: "found", ok: true, words: "Found by its words." }],
    explain: {
      keyword_rank: 1,
      semantic_rank: null,
      reranked: "late-interaction",
      composite: 0.5,
      signals: { tokens: signal(1, 1), keywords: signal(0.5, 0.4), speaker: signal(0, 0.2), question: signal(1, -0.1) },
    },
  };
  const out: WhyShown = {
    id: ID,
    type: "fact",
    shown: false,
    verdict: "It was forgotten.",
    steps: [
      { check: "exists", ok: true, words: "It is a fact." },
      { check: "forgotten", ok: false, words: "It was forgotten." },
      { check: "tags", ok: false, words: "It lacks the tag “tea”." },
    ],
  };

  it("why leads with the place and the signals, with bars at a terminal only", () => {
    const lines = whyWords(shown, { lead: "why", bars: true }).split("\n");
    expect(lines.slice(0, 3)).toEqual([
      `fact ${ID} is shown.`,
      "It is shown at place 1 of 2.",
      "By words: place 1. By meaning: not found. Composite score 0.50.",
    ]);
    expect(lines[3]).toMatch(/^ {2}likeness word by word +█{20} {2}1\.00 of 1\.00$/);
    expect(lines[4]).toMatch(/^ {2}words in common +█{4} +0\.20 of 0\.40$/);
    expect(lines[5]).toMatch(/^ {2}it is itself a question +▒▒ +-0\.10 of 0\.00$/);
    expect(lines[6]).toBe("  ✓ found: Found by its words.");
    expect(whyWords(shown, { lead: "why", bars: false })).not.toMatch(/[█▒]/);
  });

  it("why-not leads with the reason, counts the others, and says plainly when it was shown", () => {
    expect(whyWords(out, { lead: "why-not", bars: false }).split("\n")).toEqual([
      `fact ${ID} is kept out.`,
      "It was forgotten.",
      "1 more check keeps it out too.",
      "  ✓ exists: It is a fact.",
      "  ✗ forgotten: It was forgotten.",
      "  ✗ tags: It lacks the tag “tea”.",
    ]);
    expect(whyWords(shown, { lead: "why-not", bars: false })).toMatch(/^fact \S+ is not kept out: it IS shown\.\n/);
    expect(whyWords(out, { lead: "why", bars: false })).toMatch(/^fact \S+ is not shown\.\nIt was forgotten\.\n/);
  });
});

describe("the commands", () => {
  afterAll(cleanUp);

  it("answer with the place, with the reason, and with the exit codes of every command", async () => {
    const home = await seededHome();
    const stored = await butler(home, ["remember", "Oslo", "--fact", "Ada", "lives in", "--json"]);
    const { id } = JSON.parse(stored.stdout);
    const why = await butler(home, ["why", id, "--query", "Where does Ada live?"]);
    expect(why).toMatchObject({ code: 0, stderr: "" });
    expect(why.stdout).toMatch(/^fact \S+ is shown\.\nIt is shown at place 1 of 1: found by its words/);
    const not = await butler(home, ["why-not", id, "Where does Ada live?", "--types", "rule"]);
    expect(not.stdout).toMatch(/^fact \S+ is kept out\.\nIt is a fact; asked was for rules\.\n/);
    const context = await butler(home, ["why-not", id, "--query", "Where does Ada live?", "--context", "--json"]);
    expect(JSON.parse(context.stdout)).toMatchObject({ id, for: "context", shown: true, limit: null });
    const nobody = await butler(home, ["why", ID, "--query", "tea"]);
    expect([nobody.code, nobody.stdout]).toEqual([3, ""]);
    expect((await butler(home, ["why-not", id])).code).toBe(2);
    expect((await butler(home, ["why", "gibberish", "tea"])).code).toBe(2);
    expect((await butler(home, ["why", id, "tea", "--scope", "*", "--limit", "0"])).code).toBe(2);
    await butler(home, ["stop"]);
  });
});
