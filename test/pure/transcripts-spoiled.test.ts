/** One exchange that nothing can be made of is left out; those before and after it are read. */
import { afterAll, expect, it, vi } from "vitest";
import { claude, inFile, jsonl } from "./transcripts-material.ts";

/** A fault in what looks for secrets, as the next one could be: it fails over one word, and quotes it. */
const REDACT = "../../src/engine/domain/redaction/redact.ts";
vi.doMock(REDACT, async (original) => {
  const real = await original<typeof import("../../src/engine/domain/redaction/redact.ts")>();
  return {
    ...real,
    redact(text: string) {
      if (text.includes("stumble")) throw new SyntaxError(`Invalid regular expression: /${text}/`);
      return real.redact(text);
    },
  };
});
// The files of the pure project share their modules: this one reads them anew, and leaves none of its own behind.
vi.resetModules();
const { readExchanges } = await import("../../src/hosts/transcripts/read.ts");
afterAll(() => {
  vi.doUnmock(REDACT);
  vi.resetModules();
});

const exchange = (n: number, word = "fine") => [
  claude.user(`Write chapter ${n} of the manual, ${word}`),
  claude.says(`Chapter ${n} is written.`),
];

it.each([1, 2, 3])("exchange %i of three", async (bad) => {
  const rows = [1, 2, 3].flatMap((n) => exchange(n, n === bad ? "stumble" : "fine"));
  await inFile(jsonl(rows), async (path) => {
    let spoiled = 0;
    const found: string[] = [];
    for await (const { content } of readExchanges({
      ...{ agent: "claude-code", path, final: true },
      spoiled: () => spoiled++,
    }))
      found.push(content.split("\n")[0] ?? "");
    expect(found).toEqual(
      [1, 2, 3].filter((n) => n !== bad).map((n) => `User: Write chapter ${n} of the manual, fine`),
    );
    expect(spoiled).toBe(1);
  });
});
