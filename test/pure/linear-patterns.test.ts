import { expect, it } from "vitest";
import { withoutNames } from "../../src/engine/domain/text/names.ts";
import { hider } from "../../src/engine/domain/text/private.ts";
import { pumped, steepness } from "../support/growth.ts";
import { episode, material } from "../support/material.ts";
import { constructedPatterns, literalPatterns, type OwnPattern } from "../support/own-patterns.ts";
import { attacksOn } from "../support/pattern-attacks.ts";

/** Makes the patterns that are put together only when something is read. */
async function useThem() {
  const { learn } = await import("../../src/engine/adapters/extractor/local/collect.ts");
  learn(
    material([episode("e1", "I moved to Porto in May. My sister Ada lives there."), episode("e2", "I went to Rome.")]),
  );
  hider(["a secret name"])("a secret name");
  withoutNames("Ada and Grace met", ["Ada", "Grace"]);
}

const found = [...literalPatterns(), ...(await constructedPatterns(useThem))];
/** Many are written more than once. */
const patterns = [...new Map(found.map((one) => [`${one.flags} ${one.source}`, one])).values()];
const files = [...new Set(patterns.map(({ where }) => where.split(":")[0] ?? ""))];

/** What ends a run: nothing that a class of blanks or of visible characters takes. */
const END = "\u0001";

function* textsAgainst(pattern: OwnPattern): Generator<(chars: number) => string> {
  for (const { before, pumped: part } of attacksOn(pattern)) {
    yield pumped(before, part, END);
    if (before !== "") yield pumped("", before + part, END);
  }
  for (const part of [" ", "< ", "a", '"', "a=b; "]) yield pumped("", part, END);
}

it("the sources have patterns, of both kinds", () => {
  expect(patterns.length).toBeGreaterThan(600);
  expect(files.length).toBeGreaterThan(60);
});

it.each(files)("every pattern in %s works in proportion to its text", (file) => {
  const steep: string[] = [];
  for (const pattern of patterns.filter(({ where }) => where.split(":")[0] === file)) {
    const all = new RegExp(pattern.source, pattern.flags.includes("g") ? pattern.flags : `${pattern.flags}g`);
    for (const make of textsAgainst(pattern)) {
      const measured = steepness(make, (text) => text.replace(all, ""));
      if (measured === undefined) continue;
      steep.push(`${pattern.where} /${pattern.source}/${pattern.flags} on ${JSON.stringify(make(40))}: ${measured}`);
      break;
    }
  }
  expect(steep).toEqual([]);
});
