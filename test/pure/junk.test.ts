import { describe, expect, test } from "vitest";
import { junkReasons } from "../../src/engine/domain/lifecycle/junk.ts";

const FRAMES = Array.from({ length: 8 }, (_, i) => `    at step${i} (src/run.ts:${i + 10}:5)`).join("\n");
const PYTHON = Array.from({ length: 5 }, (_, i) => `  File "/app/main.py", line ${i}`).join("\n");
const LOG = Array.from({ length: 6 }, (_, i) => `2026-03-01 12:00:0${i} worker started`).join("\n");

describe("junk", () => {
  test.each([
    ["x", ["short"]],
    ["Deployed.", ["short"]],
    ["猫", ["short"]],
    ["ok, thanks!", ["filler"]],
    ["OK", ["short", "filler"]],
    ["--- 12:30 ---", ["no_letters"]],
    ["🎉🎉🎉", ["no_letters"]],
    ["As an AI language model I have no opinion about tea.", ["filler"]],
    ["<butler-memory>\nBackground from earlier sessions\n</butler-memory>", ["echo"]],
    ["It quoted < butler-memory> back at us in the answer", ["echo"]],
    [`TypeError: x is not a function\n${FRAMES}`, ["stack_dump"]],
    [`Traceback (most recent call last):\n${PYTHON}`, ["stack_dump"]],
    [LOG, ["log"]],
    ["retrying the request\n".repeat(9), ["repetition"]],
    ["spam and eggs ".repeat(10), ["repetition"]],
    [`Here it is: ${"QUJD".repeat(60)}`, ["encoded"]],
  ])("%j is %j", (text, reasons) => {
    expect(junkReasons(text)).toEqual(reasons);
  });

  test.each([
    "Ada drinks tea",
    "favourite colour: blue",
    "她喜欢绿茶",
    "Antidisestablishmentarianism",
    "The build failed with `TypeError: x is not a function at run (src/run.ts:10:5)`; clearing the cache helped.",
    "Steps:\n1. Open the lid\n2. Fill in water\n3. Close the lid\n4. Switch it on\n5. Wait",
    "Say thanks to Ada for the review",
    "No, the deploy key is kept by Grace",
    `The commit is ${"ab12".repeat(10)} and it fixed the leak in the parser`,
  ])("%j is worth keeping", (text) => {
    expect(junkReasons(text)).toEqual([]);
  });

  test("a huge text is judged in no time by its beginning", () => {
    expect(junkReasons("a ".repeat(2_000_000))).toEqual(["repetition"]);
    expect(junkReasons(`${"no thanks ".repeat(200_000)}x`)).toEqual(["repetition"]);
  });
});
