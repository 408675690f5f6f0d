/** What is marked as private: taken out whatever it is made of, in time that grows with the text and not faster. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hider, withoutPrivate } from "../../src/engine/domain/text/private.ts";

const EVERY_ASCII = String.fromCharCode(...Array.from({ length: 94 }, (_, n) => n + 33));

describe("private words", () => {
  it.each([
    ["a dash", "a-b"],
    ["what a pattern is made of", "\\^$.*+?()[]{}|/-,#&~"],
    ["every printable character", EVERY_ASCII],
    ["an open class", "[a-"],
    ["a flag", "🇨🇭 Bern"],
    ["half a character", "x\ud83dy"],
    ["the sharp s", "Straße 7"],
  ])("with %s are hidden", (_, words) => {
    const hide = hider([words]);
    expect(hide(`It is ${words} I think`)).toBe("It is [private] I think");
    expect(hide("It is nothing")).toBe("It is nothing");
  });

  it("of any characters never fail, and are gone wherever they stand between blanks", () => {
    const words = fc.oneof(
      fc.string({ unit: "binary", minLength: 2, maxLength: 40 }),
      fc.string({ unit: "grapheme", minLength: 2, maxLength: 20 }),
      fc.string({ unit: fc.constantFrom(..."-\\[](){}^$.*+?|/ aA1\n\tß"), minLength: 2, maxLength: 20 }),
    );
    fc.assert(
      fc.property(fc.array(words, { minLength: 1, maxLength: 5 }), words, (hidden, rest) => {
        const hide = hider(hidden);
        const said = hide(`Say ${hidden.join(" and ")} to me`);
        for (const one of hidden) {
          const piece = one.trim();
          // What is left of the frame, and of the mark itself, is no private word.
          const plain = said.replaceAll("[private]", " ");
          if (piece.length >= 2 && !"Say and to me ".includes(piece)) expect(plain).not.toContain(` ${piece} `);
        }
        expect(() => hide(rest)).not.toThrow();
        expect(hider([])(rest)).toBe(rest);
      }),
      { numRuns: 500 },
    );
  });

  it("are found in other letters, spacing and composition, and not inside of other words", () => {
    const hide = hider(["Café  am\tSee", "cat", "No. 7"]);
    expect(hide("the CAFE\u0301 AM SEE, the cat-flap, a category, concat")).toBe(
      "the [private], the [private]-flap, a category, concat",
    );
    expect(hide("no.  7 and no. 77")).toBe("[private] and no. 77");
  });

  it("of several lines are found line by line, however many there are", () => {
    const lines = Array.from({ length: 2_000 }, (_, n) => `line ${n} of the diary`);
    const hide = hider([lines.join("\n")]);
    for (const line of [lines[0], lines[999], lines[1_999]])
      expect(hide(`I read: ${line}.`)).toBe("I read: [private].");
  });

  it("that are too many to be looked for hide the whole text", () => {
    const hide = hider([Array.from({ length: 10_000 }, (_, n) => `secret number ${n}`).join("\n")]);
    expect(hide("harmless")).toBe("[private]");
    expect(hide("")).toBe("");
  });

  it("are looked for in time that grows with the text and no faster", () => {
    // A pattern for each of them went over the text again from every place: seconds for this.
    const hide = hider([`${"a ".repeat(5_000)}b`, ...Array.from({ length: 200 }, (_, n) => `${"a ".repeat(n)}c`)]);
    const cpu = (pairs: number): number => {
      const text = "a ".repeat(pairs);
      const before = process.cpuUsage();
      // Compared without telling the two apart: they are long.
      expect(hide(text) === text).toBe(true);
      return process.cpuUsage(before).user;
    };
    cpu(25_000);
    expect(cpu(100_000)).toBeLessThan(40 * Math.max(cpu(25_000), 5_000));
  });
});

describe("the tags", () => {
  it("are read in one go over the text", () => {
    for (const piece of ["<", "< ", "<private", "</", `<${" ".repeat(50)}`, "<private>", "</private>", "<private x"]) {
      const text = piece.repeat(200_000 / piece.length);
      expect(() => withoutPrivate(text)).not.toThrow();
      expect(() => withoutPrivate(`<${" ".repeat(200_000)}private>x</private>y`)).not.toThrow();
    }
    expect(withoutPrivate(`a <${" ".repeat(5_000)}private >b< / private\n>c`)).toEqual({ text: "a  c", hidden: ["b"] });
    expect(withoutPrivate("a <privates>b</privates> c")).toEqual({ text: "a <privates>b</privates> c", hidden: [] });
    expect(withoutPrivate("a <private/>b</private> c < private note='1'>d")).toEqual({
      text: "a   c",
      hidden: ["b", "d"],
    });
  });

  it("take the same out as a reading letter by letter", () => {
    const piece = fc.constantFrom(
      "<private>",
      "</private>",
      "< / PRIVATE >",
      "<private",
      ">",
      "<",
      " ",
      "x",
      "yz",
      "/",
      "\n",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const text = pieces.join("");
        const kept: string[] = [];
        const hidden: string[] = [];
        let depth = 0;
        let from = 0;
        for (const tag of text.matchAll(/<\s*(\/?)\s*private\b[^<>]{0,100}>/gi)) {
          const piece = text.slice(from, tag.index);
          const after = tag[1] === "/" ? Math.max(0, depth - 1) : depth + 1;
          if (depth > 0 && after > 0) {
            depth = after;
            continue;
          }
          (depth === 0 ? kept : hidden).push(piece);
          depth = after;
          from = tag.index + tag[0].length;
        }
        (depth === 0 ? kept : hidden).push(text.slice(from));
        const some = hidden.map((one) => one.trim()).filter((one) => one !== "");
        expect(withoutPrivate(text)).toEqual({ text: kept.join(" ").trim(), hidden: some });
      }),
      { numRuns: 2_000 },
    );
  });
});
