import { describe, expect, it } from "vitest";
import { finished, redact, redactDeep, redactSteps } from "../../src/engine/domain/redaction/redact.ts";
import { SLICE } from "../../src/engine/domain/redaction/slices.ts";
import { missed, planted, split, taken } from "../support/redact-corpus/corpus.ts";
import { FRESH_INNOCENTS, FRESH_SECRETS } from "../support/redact-corpus/fresh.ts";
import { INNOCENT_CODE } from "../support/redact-corpus/innocents-code.ts";
import { INNOCENT_PROSE } from "../support/redact-corpus/innocents-prose.ts";
import { NAMED } from "../support/redact-corpus/named.ts";
import { SAID } from "../support/redact-corpus/said.ts";
import { TOKENS } from "../support/redact-corpus/tokens.ts";
import { mix } from "../support/redact-examples.ts";

const secrets = [...TOKENS, ...NAMED, ...SAID];
const innocents = [...INNOCENT_CODE, ...INNOCENT_PROSE];
const parts = [
  { name: "tuned on", bad: split(secrets).tuned, good: split(innocents).tuned },
  { name: "set aside", bad: split(secrets).aside, good: split(innocents).aside },
  { name: "fresh", bad: FRESH_SECRETS, good: FRESH_INNOCENTS },
];

describe("the corpus", () => {
  it("is large enough, and each entry of it is another", () => {
    expect(new Set(secrets).size).toBeGreaterThanOrEqual(300);
    expect(new Set(innocents).size).toBeGreaterThanOrEqual(300);
    expect(secrets.filter((entry) => planted(entry).secrets.length === 0)).toEqual([]);
    expect(innocents.filter((entry) => entry.includes("«"))).toEqual([]);
  });

  it.each(parts)("$name: at most 2 of 100 secrets are missed and 1 of 100 innocents taken", ({ bad, good }) => {
    const passed = bad.filter((entry) => missed(planted(entry)));
    expect(passed.length, passed.join("\n")).toBeLessThanOrEqual(bad.length * 0.02);
    const lost = good.filter(taken);
    expect(lost.length, lost.join("\n")).toBeLessThanOrEqual(good.length * 0.01);
  });

  it("stays redacted: nothing is found in what is left", () => {
    for (const entry of [...secrets, ...FRESH_SECRETS]) {
      const once = redact(planted(entry).text).text;
      expect(redact(once)).toEqual({ text: once, found: [] });
    }
  });
});

describe("a long text", () => {
  const filler = "The bees came late this year, and the old mill stood still.\n\n";
  const long = filler.repeat(Math.ceil((4 * SLICE) / filler.length));

  it("is worked through in several steps with the same result", () => {
    const text = long + planted("my password is «Moss-Green4».").text;
    const steps = redactSteps(text);
    let pauses = 0;
    let step = steps.next();
    for (; !step.done; step = steps.next()) pauses++;
    expect(pauses).toBeGreaterThanOrEqual(4);
    expect(step.value).toEqual(redact(text));
    expect(step.value.text).toContain("my password is [redacted:password].");
    expect(redactDeep({ note: text }).value.note).toBe(step.value.text);
  });

  it.each([
    [
      "a key in many lines",
      planted("{BEGIN:RSA}\n«{b64:64}\n{b64:64}\n{b64:64}\n{b64:64}\n{b64:64}\n{b64:64}»\n{END:RSA}\n"),
    ],
    ["a password on the next line", planted("Password:\n«C0untess3»\n")],
    ["a token in one line without a blank", { text: `"${mix(40)}",ghp_${mix(36)},`, secrets: [`ghp_${mix(36)}`] }],
  ] as const)("loses no secret where it is cut: %s", (_, { text, secrets: hidden }) => {
    const line = text.includes("\n") ? "one more line of it\n" : "x,";
    const before = line.repeat(Math.ceil(SLICE / line.length));
    for (let shift = 0; shift < text.length; shift += 3) {
      const whole = before.slice(0, SLICE - shift - ((SLICE - shift) % line.length)) + text + before;
      const out = finished(redactSteps(whole)).text;
      for (const secret of hidden) expect(out.includes(secret), `${shift}`).toBe(false);
    }
  });
});
