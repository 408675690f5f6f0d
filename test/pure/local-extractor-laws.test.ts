/** Laws of the local extractor that hold for any text. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { learn } from "../../src/engine/adapters/extractor/local/collect.ts";
import { Answer } from "../../src/engine/domain/learning/answer.ts";
import { FACTS, RULES } from "./local-extractor-facts.ts";
import { material } from "./local-extractor-material.ts";

const WORDS =
  `I I'm we my our user always never don't love hate prefer live in work at as a the nurse Porto Ada is was moved to from last next
  week month Friday tomorrow 3 May 2024 and but , . ! ; - " \` no longer decided use for actually it's remember that please make sure
  when sister's name dog called Rex allergic peanuts going planning favourite colour not if would § \n switched tea`.split(
    /\s+/,
  );
const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 200 }),
  fc.array(fc.constantFrom(...WORDS), { maxLength: 30 }).map((words) => words.join(" ").replaceAll("\\n", "\n")),
);
const anyEpisode = fc.record({
  text: anyText,
  speaker: fc.constantFrom(null, "user", "Ada", "Grace Holm", "assistant", "tool", "\u{1f41d}"),
  trust: fc.constantFrom("user" as const, "agent" as const, "imported" as const, "tool" as const),
  session: fc.constantFrom(null, "s1", "s2"),
  day: fc.constantFrom("2026-03-11", "2024-02-29", "2025-12-31"),
});

describe("laws", () => {
  test("any text gives an answer that fits, cites what was shown, and is the same again", () => {
    fc.assert(
      fc.property(fc.array(anyEpisode, { maxLength: 12 }), (said) => {
        const asked = material(said);
        const answer = Answer.parse(learn(asked));
        expect(learn(asked)).toEqual(answer);
        const shown = new Set(asked.episodes.map((episode) => episode.label));
        for (const item of [...answer.facts, ...answer.rules]) {
          expect(item.episodes.every((label) => shown.has(label))).toBe(true);
          expect(new Set(item.episodes).size).toBe(item.episodes.length);
        }
      }),
      { numRuns: 300 },
    );
  });

  const SAID = [...FACTS, ...RULES].map(([said]) => said);
  const anyBatch = fc.array(fc.oneof(fc.constantFrom(...SAID), anyText), { maxLength: 12 });

  test("no two items of an answer say the same", () => {
    fc.assert(
      fc.property(anyBatch, (said) => {
        const { facts, rules } = learn(material([...said, ...said]));
        const told = [...facts.map(({ subject, content }) => `${subject}: ${content}`), ...rules.map((r) => r.content)];
        const plain = told.map((one) => one.toLowerCase());
        expect(new Set(plain).size).toBe(plain.length);
        const keys = facts.map(({ subject, predicate }) => `${subject}\n${predicate}`.toLowerCase());
        expect(new Set(keys).size).toBe(keys.length);
      }),
      { numRuns: 300 },
    );
  });

  test("every item cites what was shown, and what is known is confirmed instead of learned again", () => {
    fc.assert(
      fc.property(anyBatch, (said) => {
        const first = learn(material(said));
        for (const { episodes } of [...first.facts, ...first.rules]) expect(episodes.length).toBeGreaterThan(0);
        const scope = "own" as const;
        const known = {
          facts: first.facts.map(({ subject, predicate, content }, at) => ({
            ...{ label: `f${at + 1}`, subject, predicate, content, scope },
          })),
          rules: first.rules.map(({ content }, at) => ({ label: `r${at + 1}`, content, scope })),
        };
        const second = learn(material(said, known));
        expect({ facts: second.facts, rules: second.rules }).toEqual({ facts: [], rules: [] });
        expect(new Set(second.confirmations.map(({ id }) => id)).size).toBe(first.facts.length + first.rules.length);
      }),
      { numRuns: 300 },
    );
  });

  test("a tool teaches nothing, whatever it prints", () => {
    fc.assert(
      fc.property(
        fc.oneof(anyText, fc.constantFrom(...FACTS.map(([said]) => said), ...RULES.map(([said]) => said))),
        (text) => {
          expect(learn(material([{ text, trust: "tool" }]))).toEqual({ facts: [], rules: [], confirmations: [] });
        },
      ),
    );
  });

  test("no statement survives being asked", () => {
    for (const [said] of [...FACTS, ...RULES]) {
      const asked = said.replace(/[.!]$/, "?");
      expect({ asked, ...learn(material([asked])) }).toMatchObject({ asked, facts: [], rules: [] });
    }
  });

  test("no statement survives a condition", () => {
    for (const [said] of FACTS) {
      const unreal = `If only ${said}`;
      expect({ unreal, ...learn(material([unreal])) }).toMatchObject({ unreal, facts: [] });
    }
  });

  test("twice the batch at once learns no less of it than once", () => {
    fc.assert(
      fc.property(
        fc.subarray(
          FACTS.map(([said]) => said),
          { minLength: 1, maxLength: 8 },
        ),
        (said) => {
          const once = learn(material(said)).facts.map((fact) => fact.predicate);
          const twice = learn(material([...said, ...said])).facts.map((fact) => fact.predicate);
          expect(new Set(twice)).toEqual(new Set(once));
        },
      ),
    );
  });

  test.each([
    "I love tea and ",
    "my sister's ",
    "always ",
    "a ",
    "I ",
    '"',
    "last ",
    "I'm going to ",
    "- ",
    "I, ",
    "no longer ",
  ])("fifty thousand characters of %j come to an end", (piece) => {
    const text = piece.repeat(Math.ceil(50_000 / piece.length));
    expect(Answer.safeParse(learn(material([text]))).success).toBe(true);
    expect(Answer.safeParse(learn(material([text.replaceAll(" ", "\n")]))).success).toBe(true);
  });
});
