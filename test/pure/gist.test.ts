/** What an episode comes down to: the person's own sentences, what came of an order, and nothing of what teaches nothing. */
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { exchangeText } from "../../src/engine/domain/learning/exchange.ts";
import { gistOf, retold, teachesNothing } from "../../src/engine/domain/learning/gist.ts";
import { kindOf, sentencesIn } from "../../src/engine/domain/learning/sentence-kind.ts";

const exchange = (
  user: string,
  agent = "Done.",
  more: { did?: string[]; failed?: string[]; decided?: string[] } = {},
) => exchangeText({ user: [user], agent: [agent], did: [], failed: [], decided: [], ...more });
const gist = (...told: Parameters<typeof exchange>) => gistOf(exchange(...told));

describe("a sentence", () => {
  test.each([
    ["never touch migrations that have run", "lasting"],
    ["we use pnpm in this repo", "lasting"],
    ["add tests for every route", "lasting"],
    ["use date-fns, don't add another library", "lasting"],
    ["let's use our own table", "lasting"],
    ["antworte immer auf Deutsch", "lasting"],
    ["the test database is on 5433", "statement"],
    ["linz-1 has a broken disk", "statement"],
    ["try it, credentials are in .env.sandbox", "statement"],
    ["keep your answers short", "statement"],
    ["rename the column to till_number", "order"],
    ["please write the loyalty API", "order"],
    ["can you add a test for that", "order"],
    ["erstelle bitte eine Migration", "order"],
    ["how do I list the open connections?", "question"],
    ["what does this regex do", "question"],
    ["warum ist der Import langsam", "question"],
  ])("%s: %s", (text, kind) => {
    expect(kindOf(text)).toBe(kind);
  });

  it("ends at a full stop, also before a small letter, and not at an abbreviation", () => {
    expect(sentencesIn("wrong, the test is right. a refund counts on the day of the sale. ok?")).toHaveLength(3);
    expect(sentencesIn("Use tabs, e.g. in Go files. Dr. Who agrees.")).toEqual([
      "Use tabs, e.g. in Go files.",
      "Dr. Who agrees.",
    ]);
  });
});

describe("the gist of an exchange", () => {
  it("is what the person said is to last, without the order beside it", () => {
    expect(gist("we use pnpm in this repo, never npm. please install the dependencies", "Installed.")).toMatchObject({
      worth: 3,
      text: "user: we use pnpm in this repo, never npm.",
    });
  });

  it("is a correction as a whole", () => {
    const told = gist("wrong, the test is right. a refund counts on the day of the sale. fix the code instead");
    expect(told?.worth).toBe(3);
    expect(told?.text).toContain("a refund counts on the day of the sale");
  });

  it("is what was decided", () => {
    const told = gist("which queue?", "Both work.", { decided: ['own table (asked: "pg-boss or own table?")'] });
    expect(told).toMatchObject({ worth: 3 });
    expect(told?.text).toContain("decided: own table");
  });

  it("is what failed and what came of it", () => {
    const told = gist(
      "try the new key against the sandbox",
      "The sandbox wants 32 characters at most. I hash the key now.",
      {
        did: ["ran sandbox"],
        failed: ["Bash (ran sandbox): HTTP 422 key longer than 32 characters"],
      },
    );
    expect(told?.worth).toBe(2);
    expect(told?.text).toBe(
      "user: try the new key against the sandbox → failed: HTTP 422; The sandbox wants 32 characters at most. I hash the key now.",
    );
  });

  it("is an order with its result, for a while", () => {
    const told = gist("write the loyalty API", "Both routes work.", { did: ["wrote src/api/cards.ts"] });
    expect(told).toMatchObject({ worth: 1, text: "user: write the loyalty API → Both routes work." });
  });

  it("tells what was left open by itself, because it is soon over", () => {
    const told = gist(
      "start with the table of cards",
      "The table is there. Next would be the API; it is not started.",
      {
        did: ["wrote a.sql"],
      },
    );
    expect(told?.open).toContain("Next would be the API");
    expect(told?.text).toContain("The table is there.");
    expect(told?.text).not.toContain("API");
  });

  it("says of a paste what went wrong in it", () => {
    const log = Array.from({ length: 9 }, (_, n) => `2026-03-05 02:00:0${n} kassa-sync[811]: closing ${n}`).join("\n");
    const told = gist(
      `the nightly job crashed, here is the log\n${log}\nTypeError: rate of null\n${log}`,
      "Two workers met.",
    );
    expect(told?.text).toBe(
      "user: the nightly job crashed, here is the log → failed: TypeError: rate of null; Two workers met.",
    );
  });

  test.each(["good morning!", "run the tests again", "commit and push", "thx, bye", "danke, passt so"])(
    "is nothing where nothing was said: %s",
    (prompt) => {
      const text = exchange(prompt, "Done, all 41 files pass.", { did: ["ran pnpm test"] });
      expect(gistOf(text)).toBeUndefined();
      expect(teachesNothing(text)).toBe(true);
    },
  );

  it("is nothing for a question that was answered without doing anything", () => {
    expect(gist("can you explain what a covering index is?", "An index with all columns.")).toBeUndefined();
    expect(teachesNothing(exchange("can you explain what a covering index is?", "An index."))).toBe(false);
  });

  it("an order for the moment that failed, or a decision beside it, is not nothing", () => {
    expect(teachesNothing(exchange("run the tests again", "No.", { failed: ["Bash: no space left"] }))).toBe(false);
    expect(teachesNothing(exchange("continue", "Ok.", { decided: ["own table"] }))).toBe(false);
  });

  it("loses no statement: whatever stands around it, it is told", () => {
    const around = fc.constantFrom(
      "good morning.",
      "thanks!",
      "commit and push.",
      "what is a lambda?",
      "please fix the parser.",
      "",
    );
    const statements = [
      "never use default exports",
      "the api key of the office is in the vault",
      "ich mag keine langen Antworten",
      "Petra approves each release",
      "we deploy on Thursdays",
      "amounts are integers in cents",
    ];
    fc.assert(
      fc.property(around, fc.constantFrom(...statements), around, (before, statement, after) => {
        expect(gist(`${before} ${statement}. ${after}`)?.text).toContain(statement);
      }),
    );
  });
});

describe("an episode retold", () => {
  it("keeps each part, without pastes and greetings", () => {
    const text = retold(
      exchange("good morning! the import of the articles is slow", "Batches helped.", { did: ["edited a.ts"] }),
    );
    expect(text).toBe("user: the import of the articles is slow agent: Batches helped. did: edited a.ts");
  });
  it("leaves other texts as they are", () => {
    for (const text of ["Met Grace", "Ada: hello there", "", "User:", "User says hi"]) expect(retold(text)).toBe(text);
  });
});

it("takes any text, and gives one line", () => {
  const line = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.constantFrom("User: ", "Agent: Done.", "Did: x", "```", "Decided: y", "\u2028"),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
      const told = gistOf(lines.join("\n"));
      expect(told === undefined || (told.text !== "" && !told.text.includes("\n") && told.text.length < 700)).toBe(
        true,
      );
    }),
  );
});
