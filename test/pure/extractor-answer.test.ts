import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ANSWER_SCHEMA, checkAnswer } from "../../src/engine/adapters/extractor/answer-schema.ts";
import { Answer, MOST, NOTHING_LEARNED } from "../../src/engine/domain/learning/answer.ts";
import { PERMANENCE } from "../../src/engine/domain/lifecycle/decay.ts";

type Schema = Readonly<Record<string, unknown>>;

/** Every schema inside a schema; names of properties are no keywords. */
function* allOf(schema: Schema): Generator<Schema> {
  yield schema;
  const inner = [
    ...Object.values((schema.properties ?? {}) as Record<string, Schema>),
    ...((schema.anyOf ?? []) as Schema[]),
    ...(schema.items === undefined ? [] : [schema.items as Schema]),
  ];
  for (const one of inner) yield* allOf(one);
}

const label = (letters: string) =>
  fc.tuple(fc.constantFrom(...letters), fc.integer({ min: 1, max: 9_999 })).map(([l, n]) => `${l}${n}`);
const words = fc.string({ minLength: 1, maxLength: 60 }).filter((text) => text.trim() !== "");
const day = fc.constantFrom("2026-01-31", null);
const episodes = fc.array(label("e"), { minLength: 1, maxLength: 3 });
const scope = fc.constantFrom("global", "own");
const tags = fc.array(words, { maxLength: 3 });
const answer = fc.record({
  facts: fc.array(
    fc.record({
      subject: words,
      predicate: words,
      content: words,
      permanence: fc.constantFrom(...PERMANENCE),
      importance: fc.integer({ min: 0, max: 10 }),
      confidence: fc.double({ min: 0, max: 1, noNaN: true }).map((n) => n + 0),
      scope,
      tags,
      valid_from: day,
      valid_to: day,
      episodes,
      supersedes: fc.option(label("f")),
      contradicts: fc.option(label("f")),
    }),
    { maxLength: 3 },
  ),
  rules: fc.array(fc.record({ content: words, scope, tags, episodes }), { maxLength: 2 }),
  confirmations: fc.array(fc.record({ id: label("fr"), episodes }), { maxLength: 2 }),
});

const problems = (said: unknown): readonly string[] => {
  const checked = checkAnswer(said);
  return checked.ok ? [] : checked.problems;
};

describe("the schema for providers", () => {
  it("requires every property, allows no others and has no keyword that a strict mode refuses", () => {
    const known = ["type", "enum", "description", "properties", "required", "additionalProperties", "items", "anyOf"];
    let objects = 0;
    for (const one of allOf(ANSWER_SCHEMA)) {
      expect(known).toEqual(expect.arrayContaining(Object.keys(one)));
      expect("type" in one || "anyOf" in one).toBe(true);
      if (one.type !== "object") continue;
      objects++;
      expect(one.additionalProperties).toBe(false);
      expect(one.required).toEqual(Object.keys(one.properties as object));
    }
    expect(objects).toBe(4);
  });

  it("has the lists of an answer and all that a fact has", () => {
    expect(Object.keys(ANSWER_SCHEMA.properties as object)).toEqual(Object.keys(NOTHING_LEARNED));
    const { items } = (ANSWER_SCHEMA.properties as Record<string, { items: Schema }>).facts!;
    expect(Object.keys(items.properties as object)).toEqual(
      expect.arrayContaining(["subject", "predicate", "supersedes", "contradicts", "valid_from", "episodes"]),
    );
    expect((items.properties as Record<string, Schema>).permanence?.enum).toEqual([...PERMANENCE]);
  });
});

describe("an answer", () => {
  it("is read from JSON, from a fence and from between sentences", () => {
    const prose = fc.constantFrom("", "Here it is: ", 'I said "so" {and braces} ', "{ ", "A } b\n", "```json\n");
    const after = fc.constantFrom("", "\n```", " That is all {really}.", ' "');
    fc.assert(
      fc.property(answer, prose, after, fc.boolean(), (said, before, behind, pretty) => {
        const text = `${before}${JSON.stringify(said, null, pretty ? 2 : undefined)}${behind}`;
        expect(checkAnswer(text)).toEqual({ ok: true, answer: Answer.parse(said) });
      }),
    );
  });

  it("may leave out what has a usual value", () => {
    expect(checkAnswer("{}")).toEqual({ ok: true, answer: NOTHING_LEARNED });
    const fact = {
      subject: "user",
      predicate: "likes:tea",
      content: "The user likes tea.",
      permanence: "stable",
      episodes: ["e1"],
    };
    expect(checkAnswer({ facts: [fact] })).toMatchObject({
      ok: true,
      answer: { facts: [{ scope: "own", tags: [] }] },
    });
  });

  it("that is none is told so, whatever it is, and nothing throws", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.json(), fc.anything()), (said) => {
        const checked = checkAnswer(said);
        if (checked.ok) expect(Answer.safeParse(checked.answer).success).toBe(true);
        else expect(checked.problems.length).toBeGreaterThan(0);
      }),
    );
  });

  it("is not made of trailing commas or halves", () => {
    for (const text of ['{"facts": [],}', '{"facts": [', '{"facts": []'] as const) {
      expect(problems(text)).toEqual([expect.stringContaining("not one complete JSON object")]);
    }
    expect(problems(" ")).toEqual(["the answer was empty"]);
    expect(problems(undefined)).toEqual(["the answer was empty"]);
  });

  it("with problems names each by its place and what was expected", () => {
    const fact = {
      subject: "",
      predicate: 3,
      content: "x",
      permanence: "forever",
      episodes: ["7"],
      valid_from: "2026-13-01",
    };
    const told = problems({ facts: [fact], rules: null, extra: 1 }).join("\n");
    for (const place of [
      "facts[0].subject",
      "facts[0].predicate",
      "facts[0].permanence",
      "facts[0].valid_from",
      "rules",
    ]) {
      expect(told).toContain(`${place}: `);
    }
    expect(told).toMatch(/facts\[0\]\.episodes\[0\]: expected a label that was shown/);
    expect(told).toMatch(/permanence: .*"stable"/);
    expect(told).toContain('"extra"');
  });

  it("of ten thousand facts is refused in a few words", () => {
    const fact = { subject: "user", predicate: "p", content: "x", permanence: "forever", episodes: ["e1"] };
    const told = problems({ facts: Array(10_000).fill(fact) });
    expect(told[0]).toMatch(new RegExp(`^facts: .*${MOST.facts}`));
    expect(told.join("\n").length).toBeLessThan(3_000);
  });

  it("is looked for in time that grows with the text, not with its square", () => {
    const braces = "{".repeat(200_000);
    expect(problems(braces)).toHaveLength(1);
    expect(checkAnswer(`${"{} ".repeat(10)}{"facts": []}`).ok).toBe(true);
  });
});
