import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fitJson, textSize } from "../../src/engine/domain/text/fit-json.ts";

/** Any units of 16 bits: control characters, quotes and halves of pairs too. */
const anyText = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 127 }), fc.integer({ min: 0, max: 0xffff }), fc.constant(0xd83d)))
  .map((codes) => String.fromCharCode(...codes));

describe("JSON of a limited length", () => {
  it("knows the length of a text as JSON without making it", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(textSize(text)).toBe(JSON.stringify(text).length);
      }),
    );
  });

  it("is never longer than asked for, and whole where it fits", () => {
    fc.assert(
      fc.property(fc.array(anyText), fc.integer({ min: 2, max: 400 }), (lines, room) => {
        const whole = { lines };
        const made = JSON.stringify(fitJson(whole, room));
        expect(made.length).toBeLessThanOrEqual(room);
        if (JSON.stringify(whole).length <= room) expect(made).toBe(JSON.stringify(whole));
      }),
    );
  });
});
