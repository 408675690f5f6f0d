/** The person's words are kept, what they pasted is taken out, with line breaks and without. */
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { withoutPasted } from "../../src/engine/domain/text/pasted.ts";

const STAMPED = Array.from(
  { length: 8 },
  (_, n) => `2026-03-02 07:58:0${n}.113 WARN [till-${n}] article ${n} has no tax class`,
);
const SYSLOG = Array.from({ length: 8 }, (_, n) => `Mar 05 02:00:0${n} kassa-sync[811]: closing ${n} was sent`);
const NODE_TRACE = [
  "TypeError: Cannot read properties of null (reading 'rate')",
  "    at taxOf (/app/dist/articles/tax.js:31:22)",
  "    at Array.map (<anonymous>)",
  "    at articleRows (/app/dist/articles/rows.js:12:9)",
  "    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)",
];
const PYTHON_TRACE = [
  "Traceback (most recent call last):",
  '  File "/app/manage.py", line 22, in <module>',
  "    main()",
  '  File "/app/shop/settings.py", line 10, in main',
  "django.core.exceptions.ImproperlyConfigured: The SECRET_KEY setting must not be empty.",
];
const DIFF = [
  "diff --git a/src/tax.ts b/src/tax.ts",
  "index 83db48f..bf2a1c1 100644",
  "--- a/src/tax.ts",
  "+++ b/src/tax.ts",
  "@@ -1,3 +1,4 @@",
  "-const rate = article.tax.rate;",
  "+const rate = article.tax?.rate ?? STANDARD;",
];
const VITEST = [
  " FAIL  test/api/refund.test.ts > refunds > books the refund",
  "AssertionError: expected '2026-03-03' to be '2026-02-27'",
  "    at /home/dev/kassa/test/api/refund.test.ts:41:30",
  "    at runTest (file:///home/dev/kassa/node_modules/vitest/dist/runner.js:781:11)",
  " Test Files  1 failed | 40 passed (41)",
];
const CODE = ["```ts", "const a = await read(file);", "export const b = (x: number) => x + a;", "```"];
const PASTES = { STAMPED, SYSLOG, NODE_TRACE, PYTHON_TRACE, DIFF, VITEST, CODE };

const BEFORE = "the nightly import stopped again and Petra waits for it";
const AFTER = "please find out why, and never retry more than twice because the office counts that";

describe.each(Object.entries(PASTES))("%s", (_, paste) => {
  test.each(["\n", " "])("is taken out, and nothing around it (joined by %j)", (by) => {
    const { words, pasted } = withoutPasted([BEFORE, ...paste, AFTER].join(by));
    expect(pasted).toBeDefined();
    for (const own of [BEFORE, AFTER]) expect(words.replace(/\s+/g, " ")).toContain(own);
    expect(words.length).toBeLessThan(BEFORE.length + AFTER.length + 60);
  });
});

it("names the error", () => {
  expect(withoutPasted([BEFORE, ...NODE_TRACE].join(" ")).pasted).toBe(
    "TypeError: Cannot read properties of null (reading 'rate')",
  );
  expect(withoutPasted([BEFORE, ...VITEST].join(" ")).pasted).toMatch(/^AssertionError: expected '2026-03-03'/);
});

test.each([
  "rename the column till_no to till_number in src/tills/rows.ts, src/api/tills.ts and migrations/0042_till_number.sql, but never touch the migrations that have already run, please",
  "write the loyalty API: POST /cards/:id/points and GET /cards/:id, amounts are integers in cents, and every route that writes needs the header Idempotency-Key because tills retry",
  "the numbers for last night: 1.2m events in, 1.19m out, 8k in the dead letter queue, p99 at 840ms, two restarts around 3am; the restarts look like oom to me, what do you think",
  "Wir nutzen PostgreSQL 16 auf Port 5433, die Tests laufen mit pnpm und Vitest, und JavaScript ohne TypeScript wollen wir im ganzen Projekt nicht mehr sehen, auch nicht in Skripten",
])("a long sentence about code is no paste: %s", (text) => {
  expect(withoutPasted(text)).toEqual({ words: text, pasted: undefined });
});

it("never invents, and is done with what it kept", () => {
  const word = fc.constantFrom(
    "the",
    "till",
    "is",
    "/app/x.js:1:2",
    "2026-03-02",
    "07:58:01",
    "[x]",
    "at",
    "Error:",
    "we",
    "use",
    "#12",
    "```",
    "¿",
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 120 }), (words) => {
      const text = words.join(" ");
      const kept = withoutPasted(text).words.split(/\s+/).filter(Boolean);
      let at = 0;
      for (const one of words) if (one === kept[at]) at++;
      expect(at).toBe(kept.length);
    }),
  );
});
