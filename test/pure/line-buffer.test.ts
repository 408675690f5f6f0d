import { describe, expect, it } from "vitest";
import { addChunk, endLines, lineBuffer } from "../../src/doors/mcp/stdio/line-buffer.ts";

function reading(maxBytes: number, chunks: readonly (string | Buffer)[]): string[] {
  const seen: string[] = [];
  const buffer = lineBuffer({ maxBytes, onLine: (line) => seen.push(line), onOverlong: () => seen.push("too long") });
  for (const chunk of chunks) addChunk(buffer, chunk);
  endLines(buffer);
  return seen;
}

describe("lines of a stream", () => {
  it("are whole wherever the chunks were cut, also inside a letter", () => {
    const bytes = Buffer.from("größe\n{}\r\n\n  \nlast");
    const whole = ["größe", "{}", "last"];
    for (let at = 0; at <= bytes.length; at++)
      expect(reading(100, [bytes.subarray(0, at), bytes.subarray(at)])).toEqual(whole);
    expect(
      reading(
        100,
        [...bytes].map((byte) => Buffer.from([byte])),
      ),
    ).toEqual(whole);
  });

  it("that are too long are reported once and skipped", () => {
    expect(reading(4, ["12345", "678\nshort", "\nabcd\n"])).toEqual(["too long", "too long", "abcd"]);
    expect(reading(4, ["12345"])).toEqual(["too long"]);
  });
});
