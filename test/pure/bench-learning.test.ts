/** `butler bench learning` over a labelled file. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { shippedReader } from "../../src/engine/adapters/extractor/local/reader/reader.ts";
import { type Message, readMessages } from "../../src/lab/learning/corpus.ts";
import { benchLearning, type LearningOptions } from "../../src/lab/learning/learning.ts";
import { figuresOf, judge as judgeWith, recallByKind } from "../../src/lab/learning/measure.ts";
import type { Context } from "../../src/main/program/command.ts";

const folder = mkdtempSync(join(tmpdir(), "learning-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function fileOf(name: string, rows: readonly unknown[]): string {
  const path = join(folder, name);
  writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  return path;
}

const message = (text: string, keep: Message["keep"] = []): Message => ({ text, keep, source: "test" });

const judge = (one: Message) => judgeWith(one, shippedReader());

describe("a message is judged", () => {
  it("by what was learned of what was worth keeping", () => {
    const judged = [
      judge(message("I live in Graz.", [{ part: "I live in Graz", kind: "fact" }])),
      judge(message("qwertz uiop asdf", [{ part: "qwertz uiop asdf", kind: "rule" }])),
      judge(message("thanks!")),
    ];
    expect(figuresOf(judged)).toEqual({ messages: 3, parts: 2, recall: 0.5, items: 1, precision: 1, inverted: 0 });
    expect(recallByKind(judged)).toMatchObject({ fact: 1, rule: 0 });
  });

  it("by what was learned and not wanted", () => {
    const [judged] = [judge(message("I live in Graz."))];
    expect(judged?.items.map(({ wanted }) => wanted)).toEqual([false]);
  });
});

describe("the command", () => {
  const rows = [
    { text: "I live in Graz.", keep: [{ part: "I live in Graz", kind: "fact" }] },
    { text: "thanks!", keep: [], like: "chat" },
  ];
  const run = (files: string[], more: Partial<LearningOptions> = {}) => {
    const said: string[] = [];
    const context = { say: (line: string) => said.push(line), note: () => undefined } as unknown as Context;
    benchLearning({ files, train: false, heldOut: false, misses: false, json: false, ...more }, context);
    return said;
  };

  it("says it by file, in words and as JSON", () => {
    const file = fileOf("few.jsonl", rows);
    expect(run([file])[0]).toContain("few: 2 messages; of 1 parts worth keeping 100.0 % were learned");
    expect(JSON.parse(run([file], { json: true }).join(""))).toMatchObject([{ source: "few", messages: 2, recall: 1 }]);
  });

  it("says how many messages a model need not be asked about", () => {
    const file = fileOf("few.jsonl", rows);
    expect(run([file]).at(-1)).toContain("of 2 messages 50.0 % need no call, and it is shown 100.0 % of the parts");
    expect(JSON.parse(run([file], { json: true }).join(""))).toMatchObject([{ calls: { saved: 0.5, shown: 1 } }]);
  });

  it("reads each file with weights made without it", () => {
    const text = "the gizmo is calibrated with brown vinegar";
    const [keep, drop] = [
      { text, keep: [{ part: text, kind: "fact" }] },
      { text, keep: [], like: "moment" },
    ];
    const files = [fileOf("coding-a.jsonl", Array(4).fill(keep)), fileOf("coding-b.jsonl", Array(4).fill(drop))];
    const said = run(files, { heldOut: true });
    // What each has learned from the other: a would drop it, b would keep it.
    expect(said[0]).toContain("coding-a: 4 messages; of 4 parts worth keeping 0.0 % were learned; of 0 items");
    expect(said[1]).toContain("coding-b: 4 messages; of 0 parts worth keeping 0.0 % were learned; of 4 items");
    expect(said[2]).toContain("all coding: 8 messages");
  });

  it("says of a file that is not there what it should be", () => {
    expect(() => run([join(folder, "nowhere.jsonl")])).toThrow(
      /nowhere\.jsonl cannot be read \(ENOENT.*\): --data names a file with one labelled message on each line\./,
    );
  });

  it("names what was missed", () => {
    const file = fileOf("miss.jsonl", [{ text: "qwertz uiop", keep: [{ part: "qwertz uiop", kind: "rule" }] }]);
    expect(run([file], { misses: true })).toContain("  missed rule: qwertz uiop");
  });

  it.each([
    ["a part that is not in its text", { text: "a", keep: [{ part: "b", kind: "rule" }] }, '"b" is not in the text'],
    ["an unknown kind", { text: "a", keep: [{ part: "a", kind: "wish" }] }, "kind"],
  ])("refuses %s, and says where", (_what, row, words) => {
    const file = fileOf("wrong.jsonl", [rows[0], row]);
    expect(() => readMessages(file)).toThrow(/wrong\.jsonl, line 2: /);
    expect(() => readMessages(file)).toThrow(words);
  });
});
