/** Which episodes a model is asked about. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { shippedReader } from "../../src/engine/adapters/extractor/local/reader/reader.ts";
import { hopeOf, isWorthACall, WORTH } from "../../src/engine/adapters/extractor/local/worth-a-call.ts";
import type { EpisodeShown } from "../../src/engine/adapters/extractor/port.ts";
import { callFigures, callLine } from "../../src/lab/learning/calls.ts";
import { type Message, readCorpus } from "../../src/lab/learning/corpus.ts";
import { judge } from "../../src/lab/learning/measure.ts";

const turn = (text: string, more: Partial<EpisodeShown> = {}): EpisodeShown => ({
  ...{ label: "e1", text, speaker: "user", day: "2026-03-02", trust: "user", session: null },
  ...more,
});

describe("a turn is worth a call", () => {
  it.each([
    "we never use default exports here",
    "I live in Graz.",
    "wir deployen nur dienstags, sonst ist keiner da",
    "you can't use std::thread there, the console sdk has its own job system",
  ])("when it may teach something: %s", (text) => expect(isWorthACall(turn(text))).toBe(true));

  it.each(["", "  ", "ok", "1", "👍", "thanks!", "how would a vegan make meringue?"])(
    "not when it teaches nothing: %j",
    (text) => expect(isWorthACall(turn(text))).toBe(false),
  );

  it("not for what an assistant said or a tool gave out, but for another person's words", () => {
    const rule = "From now on always run the tests before you push.";
    expect(isWorthACall(turn(rule, { speaker: "assistant", trust: "agent" }))).toBe(false);
    expect(isWorthACall(turn(rule, { trust: "tool" }))).toBe(false);
    expect(isWorthACall(turn(rule, { speaker: "Ada", trust: "imported" }))).toBe(true);
    expect(isWorthACall(turn(rule, { speaker: null, trust: "agent" }))).toBe(true);
  });

  it("when it is too long to be looked at first", () => {
    expect(hopeOf("thanks! ".repeat(10_000))).toBe(1);
  });

  it("by a number from 0 to 1, whatever the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 400 }), (text) => {
        const hope = hopeOf(text);
        expect(hope).toBeGreaterThanOrEqual(0);
        expect(hope).toBeLessThanOrEqual(1);
      }),
    );
  });
});

describe("what it saves", () => {
  const judged = (message: Message) => judge(message, shippedReader());

  it("on messages that nothing was trained with, nearly all that is worth keeping is still shown", () => {
    const { saved, shown } = callFigures(readCorpus().aside.map(judged));
    expect(shown).toBeGreaterThanOrEqual(0.985);
    expect(saved).toBeGreaterThanOrEqual(0.15);
  });

  it("is counted by messages, and the best bar loses no more than it may", () => {
    const message = (text: string, keep: Message["keep"] = []): Message => ({ text, keep, source: "test" });
    const few = [
      message("I live in Graz.", [{ part: "I live in Graz.", kind: "fact" }]),
      message("ok", [{ part: "ok", kind: "rule" }]),
      message("thanks!"),
      message("1"),
    ];
    const figures = callFigures(few.map(judged));
    expect(figures).toMatchObject({ messages: 4, saved: 0.75, shown: 0.5 });
    expect(figures.best.map(({ shown, saved }) => [shown, saved])).toEqual([
      [1, 0],
      [0.99, 0],
      [0.97, 0],
    ]);
    expect(callLine(figures)).toContain("of 4 messages 75.0 % need no call");
    expect(callFigures([])).toMatchObject({ messages: 0, saved: 0, shown: 0 });
    expect(WORTH).toBeLessThan(0.2);
  });
});
