import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  cleanText,
  clip,
  contentKey,
  hasNul,
  isBlank,
  isWellFormed,
  jsonDepth,
  normaliseKey,
  sameMeaning,
} from "../../src/engine/domain/text/text.ts";

const HIGH = "\ud83d";
const LOW = "\ude00";
const FAMILY = "👨‍👩‍👧‍👦";
/** Any string of code units, lone surrogates and NUL included. */
const anything = fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units));

describe("what a door accepts", () => {
  it("knows well-formed text", () => {
    for (const text of ["", "abc", "😀", FAMILY, "שלום", "e\u0301", "\ufffd"]) expect(isWellFormed(text)).toBe(true);
    for (const text of [HIGH, LOW, `a${HIGH}b`, LOW + HIGH, `😀${LOW}`]) expect(isWellFormed(text)).toBe(false);
  });

  it("agrees with the UTF-8 encoder about any string", () => {
    fc.assert(
      fc.property(anything, (text) => {
        expect(isWellFormed(text)).toBe(
          new TextDecoder("utf-8", { ignoreBOM: true }).decode(new TextEncoder().encode(text)) === text,
        );
      }),
    );
  });

  it("sees NUL anywhere", () => {
    expect(hasNul("a\0b")).toBe(true);
    expect(hasNul("a0b\\0")).toBe(false);
  });

  it("cleans any string into one that can be stored, and leaves good text alone", () => {
    expect(cleanText(`a\0b${HIGH}c`)).toBe("abc".replace("bc", "b\ufffdc"));
    expect(cleanText(`${HIGH}\0${LOW}`)).toBe("😀");
    expect(cleanText(" \r\n\tשלום 😀 ")).toBe(" \r\n\tשלום 😀 ");
    fc.assert(
      fc.property(anything, (text) => {
        const clean = cleanText(text);
        expect(isWellFormed(clean) && !hasNul(clean)).toBe(true);
        if (isWellFormed(text) && !hasNul(text)) expect(clean).toBe(text);
      }),
    );
  });

  it("counts invisible text as blank", () => {
    for (const text of [
      "",
      " ",
      "\t\r\n",
      "\u00a0\u2003\u3000",
      "\u200b\u200c\u200d\u2060\ufeff",
      "\u00ad",
      "\u3164\u2800",
      "\u200e\u202e",
      "\ufe0f",
    ]) {
      expect(isBlank(text), JSON.stringify(text)).toBe(true);
    }
    for (const text of ["a", ".", "0", "\u200bx", "😀", "\u0301", "ـ", "日"]) expect(isBlank(text), text).toBe(false);
  });
});

describe("normaliseKey", () => {
  it.each([
    ["Favourite_Drink", "favourite drink"],
    ["favourite-drink", "favourite drink"],
    ["  favourite \t\n _-drink ", "favourite drink"],
    ["likes:green tea", "likes:green tea"],
    ["Likes : Green_Tea", "likes:green tea"],
    ["likes_:_green-tea", "likes:green tea"],
    ["ｌｉｋｅｓ：ｔｅａ", "likes:tea"],
    ["offset:-5", "offset:-5"],
    ["offset: -5", "offset:-5"],
    ["covid-19", "covid 19"],
    ["Stra\u00dfe", "straße"],
    ["cafe\u0301", "caf\u00e9"],
    ["ﬁle", "file"],
    ["ID", "id"],
    ["ılık", "ılık"],
    ["DİYARBAKIR", "di\u0307yarbakir"],
    ["zero\u200bwidth", "zerowidth"],
    [`team ${FAMILY}`, `team ${FAMILY}`],
    ["שם_פרטי", "שם פרטי"],
    ["__-- ", ""],
  ])("%j becomes %j", (text, key) => {
    expect(normaliseKey(text)).toBe(key);
  });

  it("keeps the dotless i apart from i", () => {
    expect(normaliseKey("sıkıldım")).not.toBe(normaliseKey("sikildim"));
  });

  it("is idempotent and ignores case of ASCII, underscores and outer space", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        expect(normaliseKey(normaliseKey(text))).toBe(normaliseKey(text));
        expect(normaliseKey(` _${text} `)).toBe(normaliseKey(` ${text}_`));
      }),
    );
  });
});

describe("sameMeaning and contentKey", () => {
  it.each([
    ["Likes green tea", "likes  green\ntea."],
    ['"Likes green tea"', "Likes green tea"],
    ['"Likes green tea."', 'Likes green tea".'.replace('"', "")],
    ["“Likes green tea”!", "likes green tea"],
    ["«Тихо»", "тихо"],
    ["緑茶が好き。", "緑茶が好き"],
    ["ＡＢＣ １２", "abc 12"],
    ["cafe\u0301", "CAF\u00c9"],
    ["אוהב תה.", "אוהב תה"],
    [`${FAMILY} dinner`, `${FAMILY} Dinner!`],
    ["wait…", "wait"],
  ])("%j says the same as %j", (a, b) => {
    expect(sameMeaning(a, b)).toBe(true);
    expect(contentKey(a)).toBe(contentKey(b));
  });

  it.each([
    ["likes tea", "does not like tea"],
    ["likes tea", "likes no tea"],
    ["can swim", "can't swim"],
    ["has 1 cat", "has 10 cats"],
    ["balance 5", "balance -5"],
    ["version 1.2", "version 12"],
    ["10²", "102"],
    ["1½ cups", "11⁄2 cups"],
    ["H₂O 5", "H2O 5"],
    ["C", "C++"],
    ["C", "C#"],
    ["He moved?", "He moved."],
    ["...", "!!!"],
    ['"a" and "b"', 'a" and "b'],
    ["👨‍👩‍👧", "👨👩👧"],
    ["kız", "kiz"],
    ["resume", "résumé"],
  ])("%j does not say the same as %j", (a, b) => {
    expect(sameMeaning(a, b)).toBe(false);
  });

  it("is an equivalence that no visible text maps to nothing", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", minLength: 1 }), (text) => {
        expect(sameMeaning(text, ` ${text}\n`)).toBe(true);
        if (!isBlank(text)) expect(contentKey(text)).not.toBe("");
      }),
    );
  });

  it("takes a megabyte of quotes, dots or spaces", () => {
    for (const unit of ['"', ".", " ", "'\"", "“", ": "]) {
      const text = unit.repeat(1_000_000 / unit.length);
      expect(contentKey(text).length).toBeLessThanOrEqual(text.length);
      expect(normaliseKey(text).length).toBeLessThanOrEqual(text.length);
    }
  });
});

describe("jsonDepth", () => {
  it("counts containers, not scalars", () => {
    expect([null, 1, "a", true].map(jsonDepth)).toEqual([0, 0, 0, 0]);
    expect([[], {}, [1, 2], { a: 1 }].map(jsonDepth)).toEqual([1, 1, 1, 1]);
    expect(jsonDepth({ a: [1, { b: {} }], c: 2 })).toBe(4);
  });

  it("survives nesting deeper than the call stack", () => {
    expect(jsonDepth(JSON.parse("[".repeat(200_000) + "]".repeat(200_000)))).toBe(200_000);
  });
});

describe("clip", () => {
  it("keeps short text and marks what it cut", () => {
    expect(clip("abc", 3)).toBe("abc");
    expect(clip("abcd", 3)).toBe("ab…");
    expect(clip("abcd", 1)).toBe("…");
    expect(clip("abcd", 0)).toBe("");
    expect(clip("abcd", -1)).toBe("");
  });

  it("splits no pair and leaves no joiner dangling", () => {
    expect(clip("a😀b", 3)).toBe("a…");
    expect(clip("😀😀😀", 4)).toBe("😀…");
    expect(clip(`${FAMILY} dinner`, 4)).toBe("👨…");
  });

  it("is never longer than asked and never makes text ill-formed", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 0, max: 40 }), (text, chars) => {
        const clipped = clip(text, chars);
        expect(clipped.length).toBeLessThanOrEqual(chars);
        expect(isWellFormed(clipped)).toBe(true);
      }),
    );
  });
});
