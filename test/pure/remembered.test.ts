/** What is kept of a text for the next time keeps nothing else of it: a piece of a text keeps the whole of it in memory. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { lexemes } from "../../src/engine/domain/text/lexemes.ts";
import { alone, remembered } from "../../src/engine/domain/text/remembered.ts";

const MEGABYTE = 1 << 20;
const TEXTS = 30;

function keptBy(work: (text: string, number: number) => void): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("globalThis.gc") as () => void;
  const used = () => {
    for (let time = 0; time < 3; time++) collect();
    return process.memoryUsage().heapUsed;
  };
  const before = used();
  for (let number = 0; number < TEXTS; number++) work(longText(number), number);
  return used() - before;
}

/** A megabyte, in which one word is no other text's. */
function longText(number: number): string {
  const own = `unheardof${String.fromCharCode(97 + (number % 26), 97 + Math.floor(number / 26))}thing`;
  return Buffer.from(`The ${own} is here. ${"Rain again. ".repeat(MEGABYTE / 12)}`).toString();
}

it("the stems of words keep none of the texts that the words came from", () => {
  expect(keptBy((text) => lexemes(text))).toBeLessThan(5 * MEGABYTE);
});

it("neither does a copy of a line, or what was made of it", () => {
  const first = remembered((line) => line.slice(4), alone);
  expect(keptBy((text) => first(text.slice(0, 30)))).toBeLessThan(5 * MEGABYTE);
});
