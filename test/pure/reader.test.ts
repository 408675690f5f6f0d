/** The sentence reader: it keeps the person's own words, and its weights are what the corpus makes of them. */
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { learn } from "../../src/engine/adapters/extractor/local/collect.ts";
import { featuresOf, PLACES } from "../../src/engine/adapters/extractor/local/reader/features.ts";
import { changesIn, fileFact, topicWords } from "../../src/engine/adapters/extractor/local/reader/file.ts";
import { MARKS, marksOf } from "../../src/engine/adapters/extractor/local/reader/marks.ts";
import { isOfTheMoment } from "../../src/engine/adapters/extractor/local/reader/moment.ts";
import { type Net, outputOf, packNet, unpackNet } from "../../src/engine/adapters/extractor/local/reader/net.ts";
import { join, pack, scoresOf, unpack } from "../../src/engine/adapters/extractor/local/reader/packed.ts";
import { type Read, shippedReader } from "../../src/engine/adapters/extractor/local/reader/reader.ts";
import { splitMessage } from "../../src/engine/adapters/extractor/local/reader/split.ts";
import { MADE_FROM, WEIGHTS } from "../../src/engine/adapters/extractor/local/reader/weights.ts";
import { wordsOf } from "../../src/engine/adapters/extractor/local/reader/words.ts";
import { KINDS } from "../../src/engine/domain/learning/kinds.ts";
import { readCorpus } from "../../src/lab/learning/corpus.ts";
import { train } from "../../src/lab/learning/train.ts";

const corpus = readCorpus();
const { read: readMessage, kept: keptOf } = shippedReader();

describe("the corpus", () => {
  const all = [...corpus.train, ...corpus.aside];
  const nothing = all.filter(({ keep }) => keep.length === 0);

  it("has more messages that teach nothing than others, and several authors of each sort", () => {
    expect(all.length).toBeGreaterThan(5_000);
    expect(nothing.length).toBeGreaterThan(all.length / 2);
    for (const sort of ["coding", "personal", "german"])
      expect(
        new Set(corpus.train.map(({ source }) => source).filter((source) => source.includes(sort))).size,
      ).toBeGreaterThan(2);
  });

  it("has no message of the part that was set aside among those of the training", () => {
    const known = new Set(corpus.train.map(({ text }) => text.toLowerCase()));
    expect(corpus.aside.filter(({ text }) => known.has(text.toLowerCase()))).toEqual([]);
  });

  it("makes these weights, to the byte", () => {
    expect(MADE_FROM).toBe(corpus.sha256);
    expect(train(corpus.train)).toEqual(WEIGHTS);
  });
});

describe("sentences", () => {
  it("are pieces of the message, in its order", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...corpus.aside.map(({ text }) => text)), { minLength: 1, maxLength: 3 }),
        (texts) => {
          const message = texts.join("\n");
          let before = 0;
          for (const { text, at } of splitMessage(message)) {
            expect(message.slice(at, at + text.length)).toBe(text);
            expect(at).toBeGreaterThanOrEqual(before);
            before = at + text.length;
          }
        },
      ),
    );
  });

  it.each([
    ["fix it. we use pnpm, e.g. for ci. thanks", ["fix it", "we use pnpm, e.g. for ci", "thanks"]],
    ["tabs it is; no spaces anywhere", ["tabs it is; no spaces anywhere"]],
    ["Dr. Ortiz is our vet. He is in on 3. May", ["Dr. Ortiz is our vet", "He is in on 3. May"]],
    ["rename it btw main is called trunk here", ["rename it", "btw main is called trunk here"]],
    ["- no tabs\n```\nconst a = 1;\n```\n> quoted mail\n2) no semicolons", ["no tabs", "no semicolons"]],
    ["is that so? tests live in spec/", ["is that so", "tests live in spec/"]],
    ["I'm coeliac, so what can I order here?", ["I'm coeliac", "so what can I order here"]],
    ["ich hab keinen führerschein, wie komm ich hin?", ["ich hab keinen führerschein", "wie komm ich hin"]],
    ["we've got two cats so which plants are safe?", ["we've got two cats", "so which plants are safe"]],
    ["der kunde zahlt übrigens nach stunden", ["der kunde zahlt übrigens nach stunden"]],
    ["if it rains, what do we do?", ["if it rains, what do we do"]],
    ["what is it, and where does it run?", ["what is it, and where does it run"]],
  ])("of %j", (message, sentences) => {
    expect(splitMessage(message).map(({ text }) => text)).toEqual(sentences);
  });

  it("of anything are read without an error, and the same each time", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (message) => {
        const read = readMessage(message);
        expect(readMessage(message)).toEqual(read);
        for (const { sureness, kind } of read) {
          expect(sureness).toBeGreaterThanOrEqual(0);
          expect(sureness).toBeLessThanOrEqual(1);
          expect(KINDS).toContain(kind);
        }
      }),
    );
  });
});

test.each(MARKS)("$name: $example", ({ name, example }) => {
  const words = wordsOf(example).map((word) => word.toLowerCase());
  expect(marksOf(example, words)).toContain(name);
});

test("features have places in the list, and whole numbers of them", () => {
  for (const { places, values } of corpus.aside.slice(0, 200).flatMap(({ text }) => featuresOf(splitMessage(text)))) {
    expect(new Set(places).size).toBe(values.length);
    expect(Math.max(...places)).toBeLessThan(PLACES);
  }
});

describe("what is kept", () => {
  it("is always a piece of what was said", () => {
    for (const { text } of corpus.aside)
      for (const kept of Object.values(keptOf(readMessage(text))).flat()) expect(text).toContain(kept.text);
  });

  it.each([
    ["fix the login pls, and we never use default exports here", "we never use default exports here"],
    [
      "can you rebase my branch? we rebase, merge commits on feature branches aren't allowed",
      "we rebase, merge commits on feature branches aren't allowed",
    ],
  ])("of %j: the task is cut out", (message, kept) => {
    expect(keptOf(readMessage(message)).sure.map(({ text }) => text)).toEqual([kept]);
  });

  it.each([
    [
      "I'm trying to plan my sprint, and I've chosen SQLite because it is light enough for one person",
      "I've chosen SQLite because it is light enough for one person",
    ],
    [
      "our staging database is on port 5433, can you check whether the dump fits",
      "our staging database is on port 5433",
    ],
  ])("of %j: what is asked or tried beside it is cut out", (message, kept) => {
    const { sure, hints } = keptOf(readMessage(message));
    expect([...sure, ...hints].map(({ text }) => text)).toEqual([kept]);
  });

  it.each([
    "I'm trying to classify a triangle with sides 3, 4, 5, but I keep getting isosceles",
    "i'm having trouble with my end-to-end tests in cypress, the navigation fails in every run",
    "I've tried setting up a .env file with my DSN, but the build does not pick it up",
    "ich versuche gerade die tests in der pipeline zum laufen zu bringen, klappt aber nicht",
    "I've never written a Dockerfile before",
    "I know that 6 × 7 = 42 gives the area of the field",
    "it's already 12 May and I have to hand it in",
  ])("%j is what somebody is at just now", (text) => {
    expect(isOfTheMoment(text)).toBe(true);
    expect(keptOf(readMessage(text))).toEqual({ sure: [], hints: [] });
  });

  it("a sentence out of which code was taken is not kept", () => {
    const day = "2026-03-02";
    const learned = (text: string) =>
      learn({
        ...{ butler: "general", today: day, facts: [], rules: [] },
        episodes: [{ label: "e1", text, speaker: "user", day, trust: "user", session: "s" }],
      }).rules.map(({ content }) => content);
    const rule = "we never use default exports in this repo";
    expect(learned(rule)).toHaveLength(1);
    expect(
      learned(
        `we never use\n\`\`\`js\nexport default function run() { return 1; }\n\`\`\`\ndefault exports in this repo`,
      ),
    ).toEqual([]);
  });

  it("what a pattern finds in a sentence in which the reader sees nothing lasting is not believed, unless it was to be remembered", () => {
    const day = "2026-03-02";
    const learned = (text: string, sureness: number) =>
      learn(
        {
          ...{ butler: "general", today: day, facts: [], rules: [] },
          episodes: [{ label: "e1", text, speaker: "user", day, trust: "user", session: "s" }],
        },
        {
          read: (message) => splitMessage(message).map((said) => ({ ...said, sureness, kind: "fact" })),
          kept: () => ({ sure: [], hints: [] }),
        },
      ).facts.map(({ content }) => content);
    expect(learned("I live in Porto.", 0.06)).toEqual(["The user lives in Porto."]);
    expect(learned("I live in Porto.", 0.04)).toEqual([]);
    expect(learned("Remember that I live in Porto.", 0.04)).toEqual(["The user lives in Porto."]);
    expect(learned("I'm flying to Seoul tomorrow.", 0.04)).toHaveLength(1);
  });

  it.each([
    ["we don't have a microwave", 1],
    ["it's Saskia with a k", 1],
    ["actually it's Lisbon", 0],
    ["no, it's on tuesday", 0],
  ])("of the correction %j what it corrects is known, or not", (text, count) => {
    const read = [{ text, at: 0, question: false, sureness: 0.9, kind: "correction" }] as const;
    expect(keptOf(read).sure).toHaveLength(count);
  });

  it("what is said beside it stays", () => {
    expect(isOfTheMoment("I'm seeing a physio every second Friday at three")).toBe(false);
    expect(isOfTheMoment("I'm trying to keep my app lightweight, so I prefer few dependencies.")).toBe(false);
    expect(isOfTheMoment("I tried green tea once and never liked it")).toBe(false);
    expect(isOfTheMoment("We never deploy before noon.")).toBe(false);
    expect(isOfTheMoment("I have never missed a payment before, keep it so.")).toBe(false);
  });

  it.each(["I like that", "We decided to do it", "Ich mag es", "it's not"])(
    "%j does not say what it is about",
    (text) => {
      expect(topicWords(text)).toBe(0);
    },
  );

  it("with a single word that says what it is about is kept if the reader is quite sure", () => {
    const kept = (sureness: number) =>
      keptOf([{ text: "I keep chickens", at: 0, question: false, sureness, kind: "fact" }]).sure.length;
    expect([topicWords("I keep chickens"), kept(0.78), kept(0.82)]).toEqual([1, 0, 1]);
  });
});

describe("what goes on with a sentence that is kept", () => {
  const said = (text: string, at: number, sureness: number, gap?: string): Read => ({
    ...{ text, at, sureness, kind: "fact", question: false },
    ...(gap === undefined ? {} : { gap }),
  });
  const both = (second: string, sureness = 0.4, gap = ". ") =>
    keptOf([said("Ines chairs the board", 0, 0.95), said(second, 23, sureness, gap)]).sure.map(({ text }) => text);

  it("is kept with it, if it is not understood alone", () => {
    expect(both("She never calls before noon")).toEqual(["Ines chairs the board. She never calls before noon"]);
  });

  it("is kept with it, if it is worth keeping too", () => {
    expect(both("Letters to her go through the office", 0.6)).toEqual([
      "Ines chairs the board. Letters to her go through the office",
    ]);
  });

  it("but what a thing is, or where, stays by itself: a later word replaces it", () => {
    expect(both("The archive is in Graz", 0.9)).toEqual(["Ines chairs the board", "The archive is in Graz"]);
  });

  const from = (first: string, sureness: number, second: string) =>
    keptOf([said(first, 0, sureness), said(second, first.length + 2, 0.95, ". ")]).sure.map(({ text, at }) => [
      text,
      at,
    ]);

  it("begins with the sentence before, of which the reader was less sure", () => {
    expect(from("Rent is due on the 1st, reminder on the 4th", 0.35, "That's the drill for every tenant")).toEqual([
      ["Rent is due on the 1st, reminder on the 4th. That's the drill for every tenant", 0],
    ]);
    expect(from("Put Ingrid through at any hour", 0.25, "She chairs the board and never calls to chat")).toEqual([
      ["Put Ingrid through at any hour. She chairs the board and never calls to chat", 0],
    ]);
  });

  it("is told once, and is no hint beside it", () => {
    const [one, two, three] = [
      "Ines chairs the board",
      "She never calls before noon",
      "I file her letters in the blue folder",
    ];
    const kept = keptOf([
      said(one, 0, 0.95),
      said(two, 23, 0.4, ". "),
      { ...said(three, 52, 0.95, ". "), kind: "rule" },
    ]);
    expect(kept.sure.map(({ text }) => text)).toEqual([`${one}. ${two}. ${three}`]);
    const hint = keptOf([said("Put Ingrid through at any hour", 0, 0.55), said(two, 32, 0.95, ". ")]);
    expect([hint.sure.length, hint.hints]).toEqual([1, []]);
  });

  it.each([
    ["of which it saw nothing", "Put Ingrid through at any hour", 0.15, "She chairs the board and never calls to chat"],
    ["without which it is understood", "Put Ingrid through now", 0.25, "I keep all receipts for ten years"],
    ["if it is a joke", "Put Ingrid through at any hour lol", 0.35, "She chairs the board and never calls to chat"],
    ["if it says what a thing is", "Put Ingrid through at any hour", 0.35, "The archive is in Graz"],
  ])("but not with one %s", (_which, first, sureness, second) => {
    expect(from(first, sureness, second)).toEqual([[second, first.length + 2]]);
  });

  it.each([
    ["something of its own", both("The board meets on Tuesdays in Graz", 0.1)],
    ["what is hardly worth it", both("She never calls before noon", 0.2)],
    ["what stands elsewhere", both("She never calls before noon", 0.4, "")],
    ["a joke", both("She never calls before noon lol")],
  ])("but not %s", (_what, sure) => expect(sure).toEqual(["Ines chairs the board"]));
});

describe("weights", () => {
  const weight = fc.double({ min: -20, max: 20, noNaN: true });
  const regression = fc
    .uniqueArray(fc.tuple(fc.integer({ min: 0, max: PLACES - 1 }), weight), {
      selector: ([place]) => place,
      maxLength: 50,
    })
    .map((pairs) => pairs.toSorted(([a], [b]) => a - b))
    .map((pairs) => ({
      bias: 0.25,
      places: Int32Array.from(pairs, ([place]) => place),
      weights: Float64Array.from(pairs, ([, its]) => its),
    }));

  it("of several regressions side by side give the scores of each", () => {
    fc.assert(
      fc.property(
        fc.array(regression, { minLength: 1, maxLength: 5 }),
        fc.func(fc.integer({ min: -3, max: 3 })),
        (all, valueAt) => {
          const places = Int32Array.from(new Set([...all.flatMap((one) => [...one.places]), PLACES]));
          const features = { places, values: Float64Array.from(places, (place) => valueAt(place)) };
          const alone = all.map(({ bias, places: own, weights }) =>
            places.reduce(
              (sum, place, at) => sum + (weights[own.indexOf(place)] ?? 0) * (features.values[at] ?? 0),
              bias,
            ),
          );
          expect([...scoresOf(join(all), features)]).toEqual(alone);
        },
      ),
    );
  });

  it("are nearly the same when they have been packed", () => {
    fc.assert(
      fc.property(regression, (before) => {
        const after = join([unpack(pack(before))]);
        const most = Math.max(0, ...before.weights.map(Math.abs));
        for (const [nth, place] of before.places.entries()) {
          const one = { places: Int32Array.of(place), values: Float64Array.of(1) };
          expect(Math.abs((scoresOf(after, one)[0] ?? 0) - 0.25 - (before.weights[nth] ?? 0))).toBeLessThanOrEqual(
            0.01 * most + 1e-9,
          );
        }
        expect([...scoresOf(after, { places: Int32Array.of(PLACES), values: Float64Array.of(1) })]).toEqual([0.25]);
      }),
    );
  });

  it("of the second look are nearly the same when they have been packed", () => {
    const net: Net = { inputs: 2, units: Float64Array.of(0.5, 1, -2, 3, -1, 0.25, 0.5, -0.75), bias: 0.125 };
    const given = Float64Array.of(1.5, 0.25);
    expect(outputOf(net, given)).toBeCloseTo(0.125 + 3 * (0.5 + 1.5 - 0.5), 10);
    expect(outputOf(unpackNet(packNet(net)), given)).toBeCloseTo(outputOf(net, given), 3);
    expect(() => unpackNet({ ...packNet(net), inputs: 3 })).toThrow("16 bytes for units of 5 numbers");
  });

  it("that are not one for each place are refused", () => {
    const packed = pack({ bias: 0, places: Int32Array.of(3, 9), weights: Float64Array.of(1, 2) });
    expect(() => unpack({ ...packed, gaps: "" })).toThrow("2 weights for 0 places");
  });
});

describe("where it is filed", () => {
  const filed = (text: string, kind: Exclude<Read["kind"], "rule">) => {
    const { subject, predicate, content } = fileFact({ text, at: 0, question: false, sureness: 0.9, kind }, "user");
    return { subject, predicate, content };
  };

  it("what a thing is, or where, is replaced by a later word", () => {
    const [before, after] = [filed("dns is at cloudflare", "fact"), filed("the dns moved to route53", "decision")];
    expect(before).toEqual({ subject: "project", predicate: "dns", content: "Dns is at cloudflare." });
    expect([after.subject, after.predicate]).toEqual([before.subject, before.predicate]);
  });

  it("a change of what is known is believed sooner, and replaces it", () => {
    const text = "the port of the test database changed, it is 5544 now";
    const said = { text, at: 0, question: false, sureness: 0.5, kind: "fact" } as const;
    const known = [{ subject: "project", predicate: "test database" }];
    for (const sureness of [0.5, 0.9])
      expect(changesIn([{ ...said, sureness }], known)).toMatchObject([
        { draft: { ...known[0], content: expect.stringContaining("5544") } },
      ]);
    for (const other of [
      [],
      [{ subject: "project", predicate: "mail server" }],
      [{ subject: "user", predicate: "test" }],
    ])
      expect(changesIn([said], other)).toEqual([]);
    expect(changesIn([{ ...said, sureness: 0.3 }], known)).toEqual([]);
    expect(changesIn([{ ...said, text: "the test database is slow" }], known)).toEqual([]);
  });

  it("what somebody begins with is left out", () => {
    expect(filed("ah yes, the test database is on 5433", "fact")).toMatchObject({
      predicate: "test database",
      content: "The test database is on 5433.",
    });
    expect(filed("also write down that Petra approves each release", "person").subject).toBe("Petra");
  });

  it("two things that are said of one thing stand beside each other", () => {
    const [one, other] = [filed("the api has a limit of 100 calls", "fact"), filed("the api needs a token", "fact")];
    expect(one.predicate).not.toBe(other.predicate);
  });

  it("what I say of myself is about me, what I say of somebody named about them", () => {
    expect(filed("i'm allergic to walnuts", "fact").subject).toBe("user");
    expect(filed("Priya owns the billing service", "person").subject).toBe("Priya");
    expect(filed("Meine Schwester isst kein Fleisch", "person").subject).toBe("user");
  });
});
