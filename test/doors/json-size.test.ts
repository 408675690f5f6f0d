import { describe, expect, it } from "vitest";
import { tooMuchJson } from "../../src/doors/http/json-size.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const long = "x".repeat(100_000);

describe("JSON that would hold up everybody while it is read", () => {
  it("is one of millions of brackets", () => {
    expect(tooMuchJson(bytes("[".repeat(8_000_000)))).toBe("is nested more than 100 deep");
    expect(tooMuchJson(bytes('{"a":'.repeat(100_000)))).toBe("is nested more than 100 deep");
  });

  it("is one of very many names or numbers", () => {
    const many = Object.fromEntries(Array.from({ length: 30_000 }, (_, n) => [`k${n}`, n]));
    expect(tooMuchJson(bytes(JSON.stringify(many)))).toBe("holds more than 20000 values; send fewer at a time");
    expect(tooMuchJson(bytes(`[${"1,".repeat(400_000)}1]`))).toBe("holds more than 20000 values; send fewer at a time");
  });

  it("is not a full batch, nor a text that looks like JSON", () => {
    const episodes = Array.from({ length: 500 }, () => ({
      content: `{"a":[1,2,"\\"",${'[,"'.repeat(2_000)}`,
      tags: ["a"],
    }));
    expect(tooMuchJson(bytes(JSON.stringify({ episodes })))).toBeUndefined();
    expect(tooMuchJson(bytes(JSON.stringify({ content: `${"[{,".repeat(30_000)}\\"${long}` })))).toBeUndefined();
  });

  it("is left to the parser when it is short or cut off", () => {
    expect(tooMuchJson(bytes("[".repeat(60_000)))).toBeUndefined();
    expect(tooMuchJson(bytes(`{"content": "${long}\\`))).toBeUndefined();
  });
});
