/** What the local extractor learns from sentences and from batches of them. */
import { describe, expect, test } from "vitest";
import { learn } from "../../src/engine/adapters/extractor/local/collect.ts";
import { localExtractor } from "../../src/engine/adapters/extractor/local.ts";
import type { EpisodeShown } from "../../src/engine/adapters/extractor/port.ts";
import { Answer, MOST } from "../../src/engine/domain/learning/answer.ts";
import { FACTS, RULES } from "./local-extractor-facts.ts";
import { material } from "./local-extractor-material.ts";
import { NOTHING } from "./local-extractor-nothing.ts";

const factsOf = (...texts: (string | Partial<EpisodeShown>)[]) => learn(material(texts)).facts;
const contents = (...texts: (string | Partial<EpisodeShown>)[]) => factsOf(...texts).map((fact) => fact.content);

describe("sentences", () => {
  test.each(FACTS)("%s", (said, predicate, content) => {
    const found = factsOf(said).map((fact) => ({ predicate: fact.predicate, content: fact.content }));
    expect(found).toContainEqual({ predicate, content });
  });

  test.each(RULES)("%s", (said, rule) => {
    expect(learn(material([said]))).toMatchObject({ facts: [], rules: [{ content: rule, episodes: ["e1"] }] });
  });

  test.each(NOTHING)("nothing: %s", (said) => {
    expect(learn(material([said]))).toEqual({ facts: [], rules: [], confirmations: [] });
  });
});

describe("who is meant", () => {
  test("a named speaker is the subject", () => {
    expect(factsOf({ text: "I live in Porto.", speaker: "Ada Quist" })).toMatchObject([
      { subject: "Ada Quist", predicate: "lives_in", content: "Ada Quist lives in Porto." },
    ]);
  });

  test.each([null, "user", "human", "User"])("speaker %j of a user is the user", (speaker) => {
    expect(factsOf({ text: "I live in Porto.", speaker })).toMatchObject([{ subject: "user" }]);
  });

  test.each([
    { speaker: "assistant", trust: "agent" },
    { speaker: "assistant", trust: "user" },
    { speaker: null, trust: "agent" },
    { speaker: "user", trust: "tool" },
    { speaker: null, trust: "tool" },
  ] as const)("the I of %j is nobody", (who) => {
    expect(contents({ text: "I live in Porto. I love green tea.", ...who })).toEqual([]);
  });

  test("the frame around a turn is no part of it", () => {
    expect(contents({ text: 'Ada said, "I live in Porto." and shared a photo of a bridge', speaker: "Ada" })).toEqual([
      "Ada lives in Porto.",
    ]);
  });

  test("an agent's note may tell of somebody named, and how to behave", () => {
    const note = {
      text: "Grace works at the mill. Always run the tests before a release.",
      speaker: null,
      trust: "agent",
    } as const;
    expect(learn(material([note]))).toMatchObject({
      facts: [{ subject: "Grace", predicate: "works_at" }],
      rules: [{ content: "Always run the tests before a release." }],
    });
  });

  test("people who talk to each other give no orders to an agent", () => {
    const talk = [
      { text: "Always run the tests before a release.", speaker: "Ada" },
      { text: "Never commit directly to main.", speaker: "Grace" },
    ];
    expect(learn(material(talk)).rules).toEqual([]);
  });

  test("one side of such a talk gives none either, but somebody with a name who talks to an agent does", () => {
    const order = { text: "Always run the tests before a release.", speaker: "Ada" };
    expect(learn(material([order])).rules).toEqual([]);
    expect(learn(material([order, { text: "I will.", speaker: "assistant" }])).rules).toHaveLength(1);
    const event = { text: "I ran a small workshop for beginners.", speaker: "Ada" };
    expect(learn(material([event])).facts).toMatchObject([{ subject: "Ada" }]);
  });
});

test("what somebody has never done is no rule for the agent", () => {
  expect(learn(material(["I've never attended any workshop on testing, always hated the idea."])).rules).toEqual([]);
});

describe("a statement with a request", () => {
  test.each([
    "I'm a nurse, can you explain the table to me?",
    "I'm a nurse - could you explain the table to me?",
    "I'm a nurse, so how can I read the table",
    "Can you explain it, I'm a nurse",
    "I am stuck, can you explain the table, I'm a nurse",
  ])("%j", (text) => {
    expect(factsOf(text)).toMatchObject([{ predicate: "occupation", content: "The user is a nurse." }]);
  });

  test("a question stays one", () => {
    expect(factsOf("I'm a nurse, right?", "I'm a nurse, am I?", "Can you tell me whether I'm a nurse?")).toEqual([]);
  });
});

describe("a batch", () => {
  test("what goes into something that says more is one item that cites both", () => {
    const move = "I'm exploring a move from teaching to design";
    expect(factsOf(`${move}.`, `${move}, focusing on posters.`, "I love tea.", "I love tea towels.")).toMatchObject([
      { content: "The user is exploring a move from teaching to design, focusing on posters.", episodes: ["e2", "e1"] },
      { content: "The user loves tea." },
      { content: "The user loves tea towels." },
    ]);
  });

  test("the same thing said twice is one item that cites both", () => {
    expect(factsOf("I like green tea.", "Hello again.", "I really love green tea!")).toMatchObject([
      { predicate: "likes:green tea", content: "The user loves green tea.", episodes: ["e1", "e3"] },
    ]);
  });

  test("a later value replaces the earlier one", () => {
    expect(factsOf("I live in Porto.", "I moved from Porto to Graz last week.")).toMatchObject([
      {
        predicate: "lives_in",
        content: "The user moved from Porto to Graz in the week before 11 March 2026.",
        episodes: ["e2"],
      },
    ]);
  });

  test.each([
    ["I like coffee.", "I hate coffee.", "The user hates coffee."],
    ["I like coffee.", "I no longer like coffee.", "The user no longer likes coffee."],
    ["I prefer tabs over spaces.", "I prefer spaces over tabs.", "The user prefers spaces to tabs."],
    ["I work at Northwind.", "I quit my job at Northwind.", "The user quit their job at Northwind."],
  ])("%s %s", (first, second, content) => {
    expect(factsOf(first, second)).toMatchObject([{ content, episodes: ["e2"] }]);
    expect(contents(`${first} ${second}`)).toEqual([content]);
  });

  test.each([
    ["I live in Porto.", "Actually, it's Lisbon.", "The user lives in Lisbon."],
    ["I'm allergic to peanuts.", "Sorry, I meant cashews.", "The user is allergic to cashews."],
    ["My dog is called Rex.", "No, I meant Odin.", "The user's dog is called Odin."],
  ])("%s %s is understood with both", (first, second, content) => {
    expect(factsOf(first, second)).toMatchObject([{ content, episodes: ["e1", "e2"] }]);
    expect(contents(`${first} ${second}`)).toEqual([content]);
    expect(contents(first, "How are you?", second)).not.toContain(content);
  });

  test("a poorer wording does not replace a richer one", () => {
    expect(factsOf("I lost my job at the mill.", "I lost my job.")).toMatchObject([
      { content: "The user lost their job at the mill.", episodes: ["e1", "e2"] },
    ]);
  });

  test("a correction needs something that it corrects", () => {
    expect(contents("Actually, it's Lisbon.")).toEqual([]);
    expect(
      contents({ text: "I live in Porto.", session: "s1" }, { text: "Actually, it's Lisbon.", session: "s2" }),
    ).toEqual(["The user lives in Porto."]);
  });

  test("a pet's name may come in the next sentence", () => {
    expect(contents("I adopted a kitten last month. Her name is Pixel.")).toContain(
      "The user's kitten is called Pixel.",
    );
  });

  test("what is known is confirmed, what has changed is not", () => {
    const facts = [
      { label: "f1", subject: "User", predicate: "lives in", content: "the user lives in Porto", scope: "global" },
      { label: "f2", subject: "user", predicate: "likes:coffee", content: "The user likes coffee.", scope: "global" },
    ] as const;
    const rules = [{ label: "r1", content: "Always run the tests.", scope: "own" }] as const;
    const said = ["I live in Porto.", "I hate coffee.", "Always run the tests!"];
    expect(learn(material(said, { facts, rules }))).toMatchObject({
      facts: [{ predicate: "dislikes:coffee", supersedes: "f2" }],
      rules: [],
      confirmations: [
        { id: "f1", episodes: ["e1"] },
        { id: "r1", episodes: ["e3"] },
      ],
    });
  });

  test("too much is cut to the most important", () => {
    const many = Array.from({ length: 80 }, (_, at) => `I like number${at} soup.`);
    const { facts } = learn(material([...many, "I'm allergic to peanuts."]));
    expect(facts).toHaveLength(MOST.facts);
    expect(facts.map((fact) => fact.predicate)).toContain("allergic_to:peanuts");
  });
});

describe("time", () => {
  test.each([
    ["I'm going to Lisbon tomorrow.", null, "2026-03-12"],
    ["I'm going to Lisbon next week.", null, "2026-03-22"],
    ["I'm going to Lisbon next month.", null, "2026-04-30"],
    ["I'm flying to Rome on the 12th.", null, "2026-03-12"],
    ["I'm flying to Rome on the 3rd.", null, "2026-04-03"],
    ["I'm flying to Rome in two weeks.", null, "2026-03-28"],
    ["I'm flying to Rome on 2 January.", null, "2027-01-02"],
    ["I'm flying to Rome on Friday.", null, "2026-03-13"],
    ["I visited Kyoto on 2 January.", "2026-01-02", null],
    ["I visited Kyoto in December.", "2025-12-01", null],
    ["I visited Kyoto three years ago.", "2023-01-01", null],
    ["I visited Kyoto last Friday.", "2026-03-06", null],
    ["I visited Kyoto last weekend.", "2026-03-07", null],
    ["I visited Kyoto in 2019.", "2019-01-01", null],
  ])("%s", (said, valid_from, valid_to) => {
    expect(factsOf(said)).toMatchObject([{ valid_from, valid_to }]);
  });

  test.each(["I visited Kyoto on 31 February.", "I'm flying to Rome on the 41st."])("no such day: %s", (said) => {
    expect(factsOf(said).flatMap((fact) => [fact.valid_from, fact.valid_to])).not.toContain("2026-02-31");
    expect(() => Answer.parse(learn(material([said])))).not.toThrow();
  });
});

test("the extractor is free and keeps to the port", async () => {
  const extractor = localExtractor();
  const asked = material(["I live in Porto."]);
  expect(extractor).toMatchObject({ provider: "local", model: "reader-1", maxChars: 100_000 });
  expect(extractor.ceiling(asked)).toBe(0);
  const { answer, usage, repaired } = await extractor.extract(asked, new AbortController().signal);
  expect({ answer, usage, repaired }).toEqual({
    answer: learn(asked),
    usage: { input_tokens: 0, output_tokens: 0, cost_usd: 0 },
    repaired: false,
  });
  await extractor.close();
});
