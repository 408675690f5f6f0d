/** A question at a terminal. */
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { askOnTerminal } from "../../src/main/program/ask.ts";

function terminal(isTTY = true) {
  const input = Object.assign(new PassThrough(), { isTTY });
  const output = Object.assign(new PassThrough(), { isTTY });
  const shown: string[] = [];
  output.on("data", (chunk: Buffer) => shown.push(chunk.toString()));
  return { input, output, shown };
}

describe("a question at a terminal", () => {
  it("is shown whole, and answered by a line", async () => {
    const { input, output, shown } = terminal();
    const asked = askOnTerminal("Two lines,\nand which? ", { input, output });
    input.write("  2 \n");
    expect(await asked).toBe("2");
    expect(shown.join("")).toContain("Two lines,\n");
    expect(shown.join("")).toContain("and which? ");
  });

  it("is answered by an empty line too", async () => {
    const { input, output } = terminal();
    const asked = askOnTerminal("Which? ", { input, output });
    input.write("\n");
    expect(await asked).toBe("");
  });

  it("has no answer after Ctrl-C, and at the end of the input", async () => {
    const first = terminal();
    const interrupted = askOnTerminal("Which? ", first);
    first.input.write("\u0003");
    expect(await interrupted).toBeUndefined();
    const second = terminal();
    const ended = askOnTerminal("Which? ", second);
    second.input.end();
    expect(await ended).toBeUndefined();
  });

  it("is not asked where either side is no terminal", async () => {
    const [there, none] = [terminal(), terminal(false)];
    expect(await askOnTerminal("Which? ", { input: none.input, output: there.output })).toBeUndefined();
    expect(await askOnTerminal("Which? ", { input: there.input, output: none.output })).toBeUndefined();
    expect(there.shown).toEqual([]);
  });
});
