import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { redact, redactDeep, type SecretKind } from "../../src/engine/domain/redaction/redact.ts";
import { begin, end, jwt, mix, NEGATIVE, PKCS8, POSITIVE, SSH, visa } from "../support/redact-examples.ts";

describe("redact", () => {
  it("has at least sixty examples each way", () => {
    expect(POSITIVE.length).toBeGreaterThanOrEqual(60);
    expect(NEGATIVE.length).toBeGreaterThanOrEqual(60);
  });

  it.each(POSITIVE.map((row, i) => [i, ...row] as const))(
    "%i replaces %s after %j",
    (_i, kind, before, secret, after) => {
      const result = redact(before + secret + after);
      expect(result.text).toBe(`${before}[redacted:${kind}]${after}`);
      expect(result.found).toEqual([{ kind, count: 1 }]);
      expect(redact(result.text)).toEqual({ text: result.text, found: [] });
    },
  );

  it.each(NEGATIVE)("leaves %j alone", (text) => {
    expect(redact(text)).toEqual({ text, found: [] });
  });

  it("counts several secrets of several kinds", () => {
    const result = redact(`ghp_${mix(36)} and ghp_${mix(40)} and ${visa}, password=hunter${2}`);
    expect(result.text).toBe(
      "[redacted:github_token] and [redacted:github_token] and [redacted:card], password=[redacted:password]",
    );
    expect(result.found).toEqual([
      { kind: "github_token", count: 2 },
      { kind: "card", count: 1 },
      { kind: "password", count: 1 },
    ]);
  });

  it("names the more specific kind where two readings overlap", () => {
    expect(redact(`GITHUB_TOKEN=ghp_${mix(36)}`).text).toBe("GITHUB_TOKEN=[redacted:github_token]");
    expect(redact(`Authorization: Bearer ${jwt}`).text).toBe("Authorization: Bearer [redacted:jwt]");
  });

  it("takes every cookie of a header and the pair of AWS keys", () => {
    expect(redact(`Cookie: a=${mix(9)}; b=${mix(9)}`).text).toBe("Cookie: a=[redacted:cookie]; b=[redacted:cookie]");
    const pair = redact(`AKIA${"IOSFODNN7EXAMPLE"}:${mix(40)}`);
    expect(pair.text).toBe("[redacted:aws_key]:[redacted:aws_key]");
  });

  it("leaves no half of a surrogate pair behind", () => {
    const { text } = redact(`password=${"😀".repeat(300)} end`);
    expect(text).toBe("password=[redacted:password] end");
  });
});

describe("redactDeep", () => {
  it("redacts values by their content and by their key, and keeps keys, order and other values", () => {
    const input = {
      note: `use ghp_${mix(36)} here`,
      dbPassword: "x",
      "x-api-key": "short",
      Authorization: "whatever it is",
      private_key: "abc",
      token: 3000,
      MAILER_KEY: mix(20),
      report: { pass: 120, fail: 3 },
      pin: 1234,
      tokens: ["the", "cat"],
      token_budget: "3000",
      idempotency_key: "job-1",
      enabled: true,
      password: null,
      schema: { password: { type: "string" } },
      credentials: { user: "bob", list: ["one two", 5] },
      headers: [
        { name: "Authorization", value: "something" },
        { name: "Accept", value: "text/html" },
      ],
    };
    const before = structuredClone(input);
    const result = redactDeep(input);
    expect(result.value).toEqual({
      ...input,
      note: "use [redacted:github_token] here",
      dbPassword: "x",
      "x-api-key": "[redacted:secret]",
      Authorization: "[redacted:secret]",
      private_key: "[redacted:secret]",
      pin: "[redacted:pin]",
      MAILER_KEY: "[redacted:secret]",
      credentials: { user: "[redacted:secret]", list: ["[redacted:secret]", 5] },
      headers: [
        { name: "Authorization", value: "[redacted:secret]" },
        { name: "Accept", value: "text/html" },
      ],
    });
    expect(Object.keys(result.value)).toEqual(Object.keys(input));
    expect(input).toEqual(before);
    expect(result.found).toEqual([
      { kind: "github_token", count: 1 },
      { kind: "pin", count: 1 },
      { kind: "secret", count: 7 },
    ]);
    expect(redactDeep(result.value)).toEqual({ value: result.value, found: [] });
  });

  it("redacts keys that contain a secret without losing a value", () => {
    const result = redactDeep({ [`ghp_${mix(36)}`]: 1, [`ghp_${mix(38)}`]: 2 });
    expect(result.value).toEqual({ "[redacted:github_token]": 1, "[redacted:github_token]#2": 2 });
  });

  it("keeps a key called __proto__ as data", () => {
    const result = redactDeep(JSON.parse('{"__proto__": {"password": "hunter22"}}'));
    expect(JSON.stringify(result.value)).toBe('{"__proto__":{"password":"[redacted:password]"}}');
    expect(Object.getPrototypeOf(result.value)).toBe(Object.prototype);
  });

  it("survives nesting deeper than the call stack", () => {
    const depth = 100_000;
    const result = redactDeep(JSON.parse(`${"[".repeat(depth)}"ghp_${mix(36)}"${"]".repeat(depth)}`));
    let inner: unknown = result.value;
    while (Array.isArray(inner)) inner = inner[0];
    expect(inner).toBe("[redacted:github_token]");
  });

  it("is idempotent for any JSON", () => {
    const keys = fc.constantFrom("password", "token", "name", "value", "pin", "note", "api_key", "cookie");
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom("Authorization", `npm_${mix(36)}`, "xxxx", "1234"),
        fc.string(),
        fc.integer(),
        fc.constant(null),
        fc.array(tie("tree"), { maxLength: 3 }),
        fc.dictionary(keys, tie("tree"), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        const once = redactDeep(value as never);
        expect(redactDeep(once.value)).toEqual({ value: once.value, found: [] });
      }),
    );
  });
});

const chars = (alphabet: string, length: number) =>
  fc.array(fc.constantFrom(...alphabet), { minLength: length, maxLength: length }).map((list) => list.join(""));
const LOWER = "abcdefghijkmnopqrstuvwyz";
const ALNUM = `${LOWER}${LOWER.toUpperCase()}123456789`;
/** Changes class with every character, as random strings nearly do; no run of x that would read as a mask. */
const random = (length: number) =>
  fc
    .tuple(chars(LOWER, length), chars("123456789", length))
    .map(([a, b]) => [...a].map((c, i) => (i % 2 === 0 ? c : b.charAt(i))).join(""));
const luhn = (prefix: string) =>
  chars("0123456789", 15 - prefix.length).map((middle) => {
    const digits = prefix + middle;
    const sum = [...digits].reverse().reduce((total, char, i) => {
      const d = Number(char) * (i % 2 === 0 ? 2 : 1);
      return total + (d > 9 ? d - 9 : d);
    }, 0);
    return digits + ((10 - (sum % 10)) % 10);
  });
const germanIban = chars("0123456789", 18).map((account) => {
  const check = 98n - (BigInt(`${account}131400`) % 97n);
  return `DE${check.toString().padStart(2, "0")}${account}`;
});

/** [kind, words before, generator of the secret, words after] */
const GENERATED: readonly (readonly [SecretKind, string, fc.Arbitrary<string>, string])[] = [
  ["private_key", "", chars(ALNUM, 64).map((line) => `${begin(SSH)}\n${line}\n${line}\n${end(SSH)}`), ""],
  ["aws_key", "", chars("ABCDEFGHIJKLMNOP234567", 16).map((s) => `AKIA${s}`), ""],
  ["google_key", "", chars(ALNUM, 35).map((s) => `AIza${s}`), ""],
  ["azure_key", "AccountKey=", chars(ALNUM, 86).map((s) => `${s}==`), ";"],
  ["llm_key", "", chars(ALNUM, 40).map((s) => `sk-ant-${s}`), ""],
  ["github_token", "", chars(ALNUM, 36).map((s) => `ghp_${s}`), ""],
  ["gitlab_token", "", chars(ALNUM, 20).map((s) => `glpat-${s}`), ""],
  ["slack_token", "", chars(ALNUM, 24).map((s) => `xoxb-${s}`), ""],
  ["stripe_key", "", chars(ALNUM, 24).map((s) => `sk_live_${s}`), ""],
  ["npm_token", "", chars(ALNUM, 36).map((s) => `npm_${s}`), ""],
  ["pypi_token", "", chars(ALNUM, 60).map((s) => `pypi-AgEI1${s}`), ""],
  ["huggingface_token", "", chars(ALNUM, 34).map((s) => `hf_${s}`), ""],
  ["telegram_token", "", chars(ALNUM, 33).map((s) => `123456789:Aa${s}`), ""],
  ["discord_token", "", chars(ALNUM, 54).map((s) => `M1a${s.slice(0, 21)}.${s.slice(21, 27)}.${s.slice(27)}`), ""],
  ["sendgrid_key", "", chars(ALNUM, 65).map((s) => `SG.${s.slice(0, 22)}.${s.slice(22)}`), ""],
  ["twilio_key", "", chars("123456789abcdef", 32).map((s) => `SK${s}`), ""],
  ["jwt", "", chars(ALNUM, 60).map((s) => `eyJ${s.slice(0, 20)}.${s.slice(20, 40)}.${s.slice(40)}`), ""],
  ["url_password", "https://bob:", random(10), "@host.example/"],
  ["authorization", "Authorization: Bearer ", random(30), "\n"],
  ["cookie", "Cookie: sid=", random(20), "\n"],
  ["card", "", luhn("4539"), ""],
  ["iban", "", germanIban, ""],
  ["ssn", "SSN ", chars("123456789", 4).map((s) => `219-09-${s}`), ""],
  [
    "seed_phrase",
    "seed phrase: ",
    fc
      .array(fc.constantFrom("abandon", "zebra", "winner", "yellow"), { minLength: 12, maxLength: 12 })
      .map((w) => w.join(" ")),
    ".",
  ],
  ["pin", "my PIN is ", chars("123456789", 4), "."],
  ["password", "my password is ", random(9), ","],
  ["password", "password=", random(9), "\n"],
  ["secret", "export SOME_TOKEN=", random(20), "\n"],
  ["secret", "?access_token=", random(20), "&"],
  ["secret", "the secret is ", random(20), "."],
];

const prose = fc
  .array(
    fc.constantFrom(
      "Bob",
      "went",
      "to",
      "Kraków",
      "and",
      "saw",
      "日本",
      "😀",
      "three",
      "tall",
      "ships",
      "naïve",
      "שלום",
      "\n",
      "—",
    ),
    { maxLength: 12 },
  )
  .map((words) => words.join(" "));

describe("properties of redact", () => {
  it.each(GENERATED.map((row, i) => [i, ...row] as const))(
    "%i: a planted %s is gone and its surroundings survive",
    (_i, kind, lead, secrets, tail) => {
      fc.assert(
        fc.property(prose, secrets, prose, (left, secret, right) => {
          const { text } = redact(`${left} ${lead}${secret}${tail} ${right}`);
          expect(text).toBe(`${left} ${lead}[redacted:${kind}]${tail} ${right}`);
        }),
        { numRuns: 60 },
      );
    },
  );

  it("is idempotent for anything", () => {
    const fragments = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(...POSITIVE.flatMap(([, before, secret, after]) => [before, secret, after])),
      fc.constantFrom(...NEGATIVE),
      fc.constantFrom(
        "[redacted:card]",
        "[redacted:",
        "password=",
        "is",
        ":",
        "=",
        '"',
        "'",
        "\\",
        ";",
        "&",
        "@",
        "://",
        " ",
      ),
    );
    fc.assert(
      fc.property(fc.array(fragments, { maxLength: 10 }), (parts) => {
        const once = redact(parts.join(""));
        expect(redact(once.text)).toEqual({ text: once.text, found: [] });
      }),
      { numRuns: 500 },
    );
  });

  it("returns text without any candidate unchanged", () => {
    fc.assert(
      fc.property(prose, (text) => {
        expect(redact(text)).toEqual({ text, found: [] });
      }),
    );
  });

  // A quadratic pattern would need hours for these, so finishing at all within the test's limit is the proof.
  const MEGABYTE = 1_000_000;
  const fill = (unit: string) => unit.repeat(Math.ceil(MEGABYTE / unit.length));
  it.each(
    [
      "a",
      "1",
      " ",
      "-",
      "_",
      '"',
      "\\",
      "\\n",
      "=",
      "eyJ",
      "eyJaaaaaaaaaa.",
      "a.",
      "1 ",
      "4111 ",
      "DE89 ",
      "DE89",
      "\n",
      "a:",
      "a@",
      "http://a:",
      "sk-",
      "-----",
      "[redacted:",
      "cookie:a=b;",
      "twilio ",
      "curl ",
      "password for ",
      "token for ",
      "seed phrase ",
      "is my ",
      "a is my ",
      "<a>",
      "--token ",
      "?token=",
      'password="',
      "password='a",
      "token:a.",
      "password: ",
      "key ",
      "passphrase: a b ",
      `${begin(PKCS8)} `,
      `${begin(PKCS8)}\\n`,
    ].map((unit) => [unit]),
  )("handles a megabyte of %j", (unit) => {
    const input = fill(unit);
    const once = redact(`${input} ghp_${mix(36)}`).text;
    expect(once).not.toContain(mix(36));
    expect(once.length).toBeLessThanOrEqual(input.length * 4 + 100);
  });
});
