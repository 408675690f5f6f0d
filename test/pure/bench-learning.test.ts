/** `butler bench learning` over a labelled file. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type Message, readMessages } from "../../src/lab/learning/corpus.ts";
import { benchLearning } from "../../src/lab/learning/learning.ts";
import { figuresOf, judge, recallByKind } from "../../src/lab/learning/measure.ts";
import type { Context } from "../../src/main/program/command.ts";

const folder = mkdtempSync(join(tmpdir(), "learning-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function fileOf(name: string, rows: readonly unknown[]): string {
  const path = join(folder, name);
  writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  return path;
}

const message = (text: string, keep: Message["keep"] = []): Message => ({ text, keep, source: "test" });

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
  const run = (files: string[], more: { readonly misses?: boolean; readonly json?: boolean } = {}) => {
    const said: string[] = [];
    const context = { say: (line: string) => said.push(line), note: () => undefined } as unknown as Context;
    benchLearning({ files, train: false, misses: more.misses ?? false, json: more.json ?? false }, context);
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
