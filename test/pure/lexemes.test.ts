import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { lexemes } from "../../src/engine/domain/text/lexemes.ts";
import { stem } from "../../src/engine/domain/text/stemmer.ts";
import { STOP_WORDS } from "../../src/engine/domain/text/stop-words.ts";

/** Answers of PostgreSQL 18's Snowball dictionary; it agreed on the words of three corpora and forms derived from them. */
const PAIRS = `
  added add, adding add, egged egg, dying die, lying lie, tying tie, vying vy, inning inning, innings inning,
  evening even, outing outing, canning canning, herring herring, earring earring, proceed proceed, exceeded exceed,
  succeed succeed, pasted past, university univers, universal univers, organization organ, internal intern,
  news news, skies sky, skis ski, sky sky, bias bias, only onli, early earli, gently gentl, ugly ugli,
  singly singl, yes yes, saying say, cried cri, ties tie, applied appli, sensational sensat, rationally ration,
  valency valenc, hesitancy hesit, conformably conform, differently differ, vietnamization vietnam, operator oper,
  feudalism feudal, decisiveness decis, hopefulness hope, callousness callous, formality formal,
  sensitivity sensit, sensibility sensibl, analogist analogist, biology biolog, hopefully hope,
  carelessly careless, quickly quick, electricity electr, electrical electr, formative format, goodness good,
  revival reviv, allowance allow, inference infer, airliner airlin, adjustable adjust, defensible defens,
  irritant irrit, replacement replac, adjustment adjust, dependent depend, adoption adopt, communism communism,
  activate activ, effective effect, generate generat, general general, generously generous, arsenic arsenic,
  arsenal arsenal, communities communiti, hopped hop, hoping hope, agreed agre, feed feed, bleed bleed,
  probate probat, rate rate, cease ceas, controll control, roll roll, youth youth, boyish boyish, flying fli,
  enjoyed enjoy, bypass bypass, gas gas, this this, kiwis kiwi, caresses caress, gaps gap, consolidation consolid,
  consign consign, knack knack, knightly knight, kneel kneel, happy happi, happiness happi, memories memori,
  remembered rememb, recalled recal, forgetting forget`;

describe("stem", () => {
  test.each(PAIRS.split(",").map((pair) => pair.trim().split(" ") as [string, string]))("%s → %s", (word, expected) => {
    expect(stem(word)).toBe(expected);
  });

  test("leaves short words, digits and other alphabets alone", () => {
    for (const word of ["is", "sha256s", "naïves", "книги", "東京", ""]) expect(stem(word)).toBe(word);
  });
});

describe("lexemes", () => {
  const cases: [string, string, string[]][] = [
    ["drops stop words, keeps repetitions", "The dogs and the dog", ["dog", "dog"]],
    ["keeps stop words when there is nothing else", "Who am I?", ["who", "am", "i"]],
    ["takes possessives and contractions apart", "I'm sure Ann’s dog didn't win", ["sure", "ann", "dog", "win"]],
    ["splits other apostrophes", "O'Brien", ["o", "brien"]],
    ["snake case: parts and whole", "memory_store_fact", ["memori", "store", "fact", "memorystorefact"]],
    ["camel case: parts and whole", "getUserName", ["get", "user", "name", "getusernam"]],
    ["acronyms in identifiers", "HTTPServer URLs", ["http", "server", "httpserver", "url"]],
    ["paths, versions and addresses", "src/lex-emes.ts v1.2", ["src", "lex", "eme", "ts", "v1", "2"]],
    ["pairs for scripts without spaces, single characters for Han", "東京に", ["東京", "東", "京に", "京"]],
    ["a lone character of such a script", "か", ["か"]],
    ["mixed scripts", "2023年PostgreSQL", ["2023", "年", "postgr", "sql", "postgresql"]],
    ["marks stay with their letters", "हिन्दी ❤️", ["हिन्दी"]],
    ["compatibility forms", "ﬁnd Ｆｕｌｌ", ["find", "full"]],
    ["nothing", " \u0000 — \ud800", []],
  ];
  test.each(cases)("%s", (_, text, expected) => {
    expect(lexemes(text)).toEqual(expected);
  });

  test("a plain spelling finds the identifier", () => {
    for (const [asked, written] of [
      ["github", "GitHub"],
      ["memoryStore", "memory_store"],
      ["猫", "黒猫が好き"],
      ["Running dogs", "the dog ran; dogs run"],
    ] as const) {
      const stored = new Set(lexemes(written));
      expect(lexemes(asked).some((word) => stored.has(word))).toBe(true);
    }
  });

  test("long encoded runs are not taken apart", () => {
    expect(lexemes("aB".repeat(40))).toEqual(["ab".repeat(40)]);
  });

  test("any text: no empty word, no stop word beside others, the same for every case of a plain word", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 60 }), (text) => {
        const words = lexemes(text);
        expect(words).not.toContain("");
        expect(lexemes(text)).toEqual(words);
        expect(lexemes(`${text} zebra`).filter((word) => word === "zebra").length).toBeGreaterThan(0);
        expect(lexemes(`zebra ${[...STOP_WORDS].join(" ")}`)).toEqual(["zebra"]);
      }),
    );
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{1,12}$/), (word) => {
        expect(lexemes(word.toUpperCase())).toEqual(lexemes(word));
      }),
    );
  });
});
