import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lexemes } from "../../src/engine/domain/text/lexemes.ts";
import { SUMMARY_SIZE, sentencesOf, summarise } from "../../src/engine/domain/text/summary.ts";

const STORY = `The invoice export failed again on Monday. Ann said hello. The weather was mild. We found that the export
job ran out of memory while it built the invoice archive. Lunch was late. The export now streams the invoice archive to
disk instead. Somebody watered the plants. Memory use of the export fell from two gigabytes to sixty megabytes.
The coffee machine is new. Ann closed the ticket about the invoice export.`.replaceAll("\n", " ");

describe("summary", () => {
  it("keeps the sentences that carry the text, in their order", () => {
    const gist = summarise(STORY, { sentences: 3, chars: 400 });
    const kept = sentencesOf(gist);
    expect(kept).toHaveLength(3);
    expect(kept[0]).toBe("The invoice export failed again on Monday.");
    expect(kept.every((sentence) => /export/.test(sentence))).toBe(true);
    const places = kept.map((sentence) => STORY.indexOf(sentence));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });

  it("leaves short texts as they are", () => {
    expect(summarise("  Tea at four.  Then home! ", SUMMARY_SIZE.mid)).toBe("Tea at four.  Then home!");
  });

  it("does not say the same twice", () => {
    const text = `Deploy on Friday is risky. ${"Deploy on Friday is risky. ".repeat(6)}The garden needs water.`;
    expect(summarise(text, { sentences: 2, chars: 400 })).toContain("garden");
  });

  it("tells sentences apart", () => {
    expect(sentencesOf('Dr. Smith came at five. He said "no." Then he left!\n- one\n- two。三。')).toEqual([
      "Dr. Smith came at five.",
      'He said "no."',
      "Then he left!",
      "- one",
      "- two。",
      "三。",
    ]);
  });

  it("a text without a sentence that fits is cut", () => {
    expect(summarise("a".repeat(5000), { sentences: 3, chars: 400 })).toBe(`${"a".repeat(399)}…`);
    expect(summarise("… … … ".repeat(300), { sentences: 3, chars: 400 })).not.toBe("");
  });

  it("is never empty, never too long, the same every time, and invents no word", () => {
    const word = fc.stringMatching(/^[a-zA-Zé0-9]{1,12}$/);
    const text = fc
      .array(fc.tuple(fc.array(word, { minLength: 1, maxLength: 20 }), fc.constantFrom(". ", "! ", "? ", "\n", ", ")), {
        minLength: 1,
        maxLength: 60,
      })
      .map((parts) => parts.map(([words, end]) => words.join(" ") + end).join(""));
    fc.assert(
      fc.property(
        text,
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 40, max: 900 }),
        (whole, sentences, chars) => {
          const gist = summarise(whole, { sentences, chars });
          expect(gist.trim()).not.toBe("");
          expect(gist.length).toBeLessThanOrEqual(chars);
          expect(summarise(whole, { sentences, chars })).toBe(gist);
          if (gist.endsWith("…")) return;
          const known = new Set(lexemes(whole));
          expect(lexemes(gist).filter((w) => !known.has(w))).toEqual([]);
        },
      ),
    );
  });
});
