/** When two sentences say the same, more, the opposite, or something else. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { agreement, isTelling, saysSame } from "../../src/engine/domain/learning/agreement.ts";

describe("agreement of a told sentence with a known one", () => {
  it.each([
    ["The user lives in Porto.", "the user lives in porto", "same"],
    ["The user lives in Porto.", "“The user lives in Porto”", "same"],
    ["She likes hiking in the hills.", "She liked to hike in the hills", "same"],
    ["Run the tests before pushing.", "Run all the tests before you push!", "same"],
    ["The user lives in Porto near the river.", "The user lives in Porto.", "more"],
    ["The user lives in Porto.", "The user lives in Porto near the river.", "same"],
    ["The user lives in Porto.", "The user lives in Graz.", "different"],
    ["Her favourite inn is the Swan.", "Her favourite inn is the Lion.", "different"],
    ["The user lives in Porto with two cats, a dog and a very old parrot.", "The user lives in Porto.", "different"],
    ["The port is 5432.", "The port is 6543.", "different"],
    ["The meeting is at 10:30.", "The meeting is at 10.30.", "different"],
    ["Use 2 spaces.", "Use spaces.", "different"],
    ["Version 1.2 is used.", "Version 1.2 is used!", "same"],
    ["The user does not eat meat.", "The user eats meat.", "opposite"],
    ["The user doesn’t eat meat.", "The user eats meat.", "opposite"],
    ["Never deploy on Friday.", "Deploy on Friday.", "opposite"],
    ["Deploy without tests.", "Deploy tests.", "opposite"],
    ["I would never say no to cake.", "I would say cake.", "same"],
    ["Der Nutzer isst kein Fleisch.", "Der Nutzer isst Fleisch.", "opposite"],
    ["Die Nutzerin wohnt nicht in Graz.", "Die Nutzerin wohnt in Graz.", "opposite"],
    ["Die Nutzerin wohnt in Graz.", "Die Nutzerin wohnt in Wien.", "different"],
    ["Die Nutzerin wohnt in Graz.", "die Nutzerin wohnt in Graz", "same"],
    ["ユーザーは東京に住んでいる。", "ユーザーは東京に住んでいる", "same"],
    ["ユーザーは東京に住んでいる。", "ユーザーは京都に住んでいる。", "different"],
  ] as const)("%s | %s: %s", (told, known, verdict) => {
    expect(agreement(told, known)).toBe(verdict);
  });

  const word = fc.constantFrom(
    "user",
    "Porto",
    "Graz",
    "river",
    "never",
    "not",
    "tea",
    "2",
    "10",
    "likes",
    "kein",
    "the",
  );
  const sentence = fc.array(word, { minLength: 1, maxLength: 7 }).map((words) => `${words.join(" ")}.`);

  it("is the same with itself, however it is written", () => {
    fc.assert(
      fc.property(sentence, (text) => {
        expect(agreement(text, text)).toBe("same");
        expect(agreement(text.toUpperCase(), ` ${text} `)).toBe("same");
      }),
    );
  });

  it("is mutual: only which of the two says more depends on the side", () => {
    fc.assert(
      fc.property(sentence, sentence, (a, b) => {
        const [there, back] = [agreement(a, b), agreement(b, a)];
        expect(saysSame(a, b)).toBe(saysSame(b, a));
        for (const verdict of ["opposite", "different"]) expect(there === verdict).toBe(back === verdict);
        expect(there === "more" && back === "more").toBe(false);
      }),
    );
  });

  it("never takes one number for another, nor a denial for what it denies", () => {
    fc.assert(
      fc.property(sentence, fc.nat(99), fc.nat(99), (text, a, b) => {
        const [one, other] = [text, text].map((words, n) => words.replace(".", ` at ${n === 0 ? a : 100 + b}`));
        expect(agreement(one ?? "", other ?? "")).toBe("different");
        expect(saysSame(`not ${text}`, text)).toBe(false);
      }),
    );
  });
});

describe("a sentence that can stand alone", () => {
  it.each([
    ["The user lives in Porto.", true],
    ["Porto", false],
    ["green tea", false],
    ["", false],
  ])("%s: %s", (text, telling) => {
    expect(isTelling(text)).toBe(telling);
  });
});
