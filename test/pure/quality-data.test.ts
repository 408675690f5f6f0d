import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readData } from "../../src/lab/quality/data.ts";
import { readTime } from "../../src/lab/quality/times.ts";

const memory = (id: unknown, more: object = {}) => ({ id, text: `This is ${id}.`, ...more });
const question = (evidence: unknown, more: object = {}) => ({
  id: "q",
  question: "What?",
  category: "c",
  evidence,
  ...more,
});
const file = (memories: unknown[], questions: unknown[]) =>
  JSON.stringify({ name: "Small", corpora: [{ id: "one", memories, questions }] });
const refusal = (text: string) => {
  try {
    readData(text, "some/set.json");
  } catch (error) {
    return (error as Error).message;
  }
  return "";
};

describe("a data file", () => {
  test("is read with what it needs; what is not known is passed over", () => {
    const text = JSON.stringify({
      name: "Small",
      licence: "CC0",
      extra: { deep: true },
      corpora: [
        {
          id: 7,
          memories: [memory(1, { session: 2, speaker: "Ada", time: "2024-03-15T10:00:00Z", note: 1 }), memory("b")],
          questions: [question([1, "b", 1], { category: 3 })],
        },
      ],
    });
    const data = readData(text, "some/set.json");
    expect(data).toMatchObject({ name: "Small", file: "set.json", sessions: true });
    expect(data.corpora).toEqual([
      {
        id: "7",
        memories: [
          { id: "1", session: "2", speaker: "Ada", time: "2024-03-15T10:00:00Z", text: "This is 1." },
          { id: "b", session: undefined, speaker: undefined, time: undefined, text: "This is b." },
        ],
        questions: [{ id: "q", question: "What?", category: "3", evidence: ["1", "b"] }],
      },
    ]);
  });

  test("says what was left out, and does not ask what has no evidence", () => {
    const data = readData(
      file(
        [memory("a", { time: "last week" }), memory("b", { time: null }), memory("c", { time: "May-05-2024" })],
        [question([]), question(null), question(["a", "z"])],
      ),
      "set.json",
    );
    expect(data.left).toEqual({ empty_questions: 2, unknown_evidence: 1, unreadable_times: 1 });
    expect(data.corpora[0]?.questions.map(({ evidence }) => evidence)).toEqual([["a", "z"]]);
    expect(data.corpora[0]?.memories.map(({ time }) => time)).toEqual([undefined, undefined, "2024-05-05"]);
    expect(data.sessions).toBe(false);
  });

  test("that is wrong is refused with its file and the place", () => {
    expect(refusal("{")).toContain("some/set.json is not JSON");
    expect(refusal("[]")).toContain("some/set.json: the whole: ");
    expect(refusal("{}")).toContain("some/set.json: corpora: ");
    expect(refusal(file([{ id: "a" }], []))).toContain("some/set.json: corpora.0.memories.0.text: ");
    expect(refusal(file([memory(null)], []))).toContain("corpora.0.memories.0.id: expected a text or a number");
    expect(refusal(file([memory("a")], [question([], { question: " " })]))).toContain("corpora.0.questions.0.question");
    expect(refusal(file([memory("a"), memory("a")], []))).toContain('corpora.0.memories: two have the id "a"');
    const many = refusal(file([1, 2, 3, 4, 5, 6, 7], []));
    expect(many.split("\n")).toHaveLength(6);
    expect(many).toContain("and 2 more");
  });
});

describe("times", () => {
  test.each([
    ["2023-05-08T13:56:00Z", "2023-05-08T13:56:00Z"],
    ["2023-05-08", "2023-05-08"],
    ["March-15-2024", "2024-03-15"],
    ["Mar 5, 2024", "2024-03-05"],
    ["5th of March", undefined],
    ["8 May, 2023", "2023-05-08"],
    ["2023/05/20 (Sat) 02:21", "2023-05-20T02:21:00Z"],
    ["2023/05/20", "2023-05-20"],
    ["03/04/2024", undefined],
    ["February-30-2024", undefined],
    ["Marchember-3-2024", undefined],
    ["", undefined],
  ])("%s is %s", (text, read) => {
    expect(readTime(text)).toBe(read);
  });

  test("a day written out with its month is the same day", () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date("1990-01-01"), max: new Date("2090-01-01"), noInvalidDate: true }),
        (date) => {
          const iso = date.toISOString().slice(0, 10);
          const long = date.toLocaleDateString("en-US", { dateStyle: "long", timeZone: "UTC" });
          expect(readTime(long)).toBe(iso);
          expect(readTime(iso)).toBe(iso);
        },
      ),
    );
  });
});
