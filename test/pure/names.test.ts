import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { firstName, namesOf, possibleNames, withoutNames } from "../../src/engine/domain/text/names.ts";

describe("the first name of a speaker", () => {
  it.each([
    ["Ada Lovelace", "ada"],
    ["ADA", "ada"],
    ["Zoë", "zoë"],
    ["Jean-Luc Godard", "jean-luc"],
    ["O'Brien", "o'brien"],
    ["李明", "李明"],
  ])("of %j is %j", (speaker, name) => {
    expect(firstName(speaker)).toBe(name);
  });

  it.each([
    "user",
    "Assistant",
    "SYSTEM",
    "tool result",
    "me",
    "A",
    "A Person",
    "",
    " Ada",
    "42",
    "agent-7",
    "ada@home",
    null,
    undefined,
  ])("is none for %j: a role, an initial, or no name at all", (speaker) => {
    expect(firstName(speaker)).toBeUndefined();
  });

  it("is counted once for everyone who has it, in order", () => {
    expect(namesOf(["Grace Hopper", "user", "ada", null, "Ada Lovelace", "Grace"])).toEqual(["ada", "grace"]);
    expect(namesOf([])).toEqual([]);
  });
});

describe("words that could be a name", () => {
  it("begin with a capital and lose their genitive", () => {
    expect(possibleNames("What is Ada’s and James' and Grace's plan for Jean-Luc, ada?")).toEqual([
      "what",
      "ada",
      "james",
      "grace",
      "jean-luc",
    ]);
    expect(possibleNames("what did she paint? A tree, I think; ask the User")).toEqual([]);
    expect(possibleNames("")).toEqual([]);
  });

  it("are 64 at most", () => {
    const letters = "abcdefghijklmnopqrstuvwxyz";
    const many = [...letters].flatMap((a) => [...letters].map((b) => `N${a}${b}`));
    expect(possibleNames(many.join(" "))).toEqual(many.slice(0, 64).map((name) => name.toLowerCase()));
  });
});

describe("a text without names", () => {
  it.each([
    ["What did Ada paint?", ["ada"], "What did paint?"],
    ["ADA's cat met Ada’s dog.", ["ada"], "cat met dog."],
    ["Adam and Canada and ada7 stay", ["ada"], "Adam and Canada and ada7 stay"],
    ["Ada, Grace: tea?", ["ada", "grace"], ", : tea?"],
    ["Ann-Marie saw Ann", ["ann", "ann-marie"], "saw"],
    ["Hello.", ["ada"], "Hello."],
    ["a.b and axb", ["a.b"], "and axb"],
  ])("%j less %j", (text, names, rest) => {
    expect(withoutNames(text, names)).toBe(rest);
  });

  it("is the whole text if nothing else would be left", () => {
    expect(withoutNames("Ada!", ["ada"])).toBe("Ada!");
    expect(withoutNames("Ada and Grace", [])).toBe("Ada and Grace");
  });

  it("keeps every other word in order, and has none of the names left, however they are spelled", () => {
    const name: fc.Arbitrary<string> = fc.constantFrom(
      "ada",
      "grace",
      "zoë",
      "jean-luc",
      "o'brien",
      "ann",
      "ann-marie",
    );
    const spelled = (word: string, how: number) =>
      [word, word.toUpperCase(), `${word[0]?.toUpperCase()}${word.slice(1)}`, `${word}'s`][how] ?? word;
    const word = fc.oneof(
      fc.tuple(name, fc.nat(3)).map(([said, how]) => ({ said: spelled(said, how), name: said })),
      fc.constantFrom("paint", "river", "annex", "graceful", "7").map((said) => ({ said, name: undefined })),
    );
    fc.assert(
      fc.property(fc.array(word), fc.uniqueArray(name), (words, speakers) => {
        const kept = words.filter((w) => !speakers.includes(w.name ?? "")).map(({ said }) => said);
        // A name that is part of another one, as in Ann-Marie, is a matter of the example above.
        fc.pre(!(speakers.includes("ann") && words.some((w) => w.name === "ann-marie" && !speakers.includes(w.name))));
        const text = words.map(({ said }) => said).join(" ");
        expect(withoutNames(text, speakers)).toBe(kept.length === 0 || speakers.length === 0 ? text : kept.join(" "));
      }),
    );
  });
});
