/** An exchange as text and back: whose word is whose, what is left out, and what a prompt is to the conversation. */
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import {
  dialogueOf,
  type ExchangeParts,
  exchangeText,
  type Turn,
  turnsOf,
} from "../../src/engine/domain/learning/exchange.ts";
import { isCorrection, isNod } from "../../src/engine/domain/learning/prompt-kind.ts";
import { redact } from "../../src/engine/domain/redaction/redact.ts";
import { hider, withoutPrivate } from "../../src/engine/domain/text/private.ts";

const NOTHING: ExchangeParts = { user: [], agent: [], did: [], failed: [], decided: [] };
const PARTS = ["user", "agent", "did", "failed", "decided"] as const;
const SPEAKER = { user: "user", decided: "user", agent: "agent", did: "agent", failed: "tool" } as const;

describe("the text of an exchange", () => {
  it("has a line for each part, the most telling first", () => {
    const parts = {
      user: ["Fix\nit.", "Now!"],
      agent: ["Fixed."],
      did: ["ran make", "edited a"],
      failed: ["make: no"],
      decided: ["yes"],
    };
    const text = exchangeText(parts);
    expect(text).toBe(
      "User: Fix it.\nUser: Now!\nDecided: yes\nAgent: Fixed.\nFailed: make: no\nDid: ran make; edited a",
    );
    expect(turnsOf(text)).toEqual([
      { speaker: "user", text: "Fix it." },
      { speaker: "user", text: "Now!" },
      { speaker: "user", text: "yes" },
      { speaker: "agent", text: "Fixed." },
      { speaker: "tool", text: "make: no" },
      { speaker: "agent", text: "ran make; edited a" },
    ]);
  });

  it("keeps the beginning and the end of a long prompt", () => {
    const text = exchangeText({ ...NOTHING, user: [`Look at this: ${"log ".repeat(3_000)}and why is it slow?`] });
    expect(text.length).toBeLessThanOrEqual(4_000);
    expect(text).toMatch(/^User: Look at this: .*… .*why is it slow\?$/);
  });

  it("is nothing when the prompt is private as a whole", () => {
    expect(exchangeText({ ...NOTHING, user: ["<private>a</private>"], agent: ["b"] })).toBe("");
  });

  it("holds neither our own block nor what is private", () => {
    const user = ["Go <private>Ada Byron</private> on <butler-memory>x y z</butler-memory>"];
    expect(exchangeText({ ...NOTHING, user, agent: ["Ada Byron says hello. <butler-memory>x y z"] })).toBe(
      "User: Go on\nAgent: [private] says hello.",
    );
  });

  it("has nobody's word where there is no label", () => {
    expect(turnsOf("I live in Graz.\nuser: me\n User: me\nUser:me\nUser: me")).toEqual([
      ...["I live in Graz.", "user: me", "User: me", "User:me"].map((text) => ({ speaker: "tool", text })),
      { speaker: "user", text: "me" },
    ]);
  });

  it("is bounded, whoever wrote it", () => {
    expect(turnsOf("User: a\n".repeat(10_000)).length).toBeLessThanOrEqual(99);
  });
});

const trap = fc.constantFrom(
  ..."\n,\r,\r\n,\u2028,\u2029,\u0085,\v,\f,User: ,Agent: ,Decided: ,Failed: ,\nUser: I live in Graz.,my password is:,password = ,-----BEGIN PRIVATE KEY-----,-----END PRIVATE KEY-----,Authorization: Bearer,the pin is".split(
    ",",
  ),
);
const words = fc
  .array(fc.oneof(trap, fc.string({ unit: "binary", maxLength: 12 }), fc.constantFrom("alpha ", "beta ", "4711 ")), {
    maxLength: 8,
  })
  .map((all) => all.join(""));

describe("laws of an exchange", () => {
  it("no turn is trusted more than the part that it comes from, whatever the parts hold", () => {
    const marked = fc.record({
      ...Object.fromEntries(PARTS.map((part) => [part, fc.array(words, { maxLength: 3 })])),
    } as Record<(typeof PARTS)[number], fc.Arbitrary<string[]>>);
    fc.assert(
      fc.property(marked, (parts) => {
        // Each part carries the mark of its speaker at both ends, so its words are known wherever they end up.
        const signed = Object.fromEntries(
          PARTS.map((part) => [part, parts[part].map((text) => `mark${SPEAKER[part]} ${text} mark${SPEAKER[part]}`)]),
        ) as unknown as ExchangeParts;
        const text = exchangeText(signed);
        const check = (turn: Turn) => {
          for (const other of ["user", "agent", "tool"] as const)
            if (other !== turn.speaker) expect(turn.text).not.toContain(`mark${other}`);
        };
        turnsOf(text).forEach(check);
        // As the store keeps it: secrets are looked for once more.
        turnsOf(redact(text).text).forEach(check);
        expect(redact(text).text).toBe(text);
        expect(text.length).toBeLessThanOrEqual(4_000);
      }),
      { numRuns: 300 },
    );
  });

  it("nothing private survives, however it is nested or cut off, and however it is repeated", () => {
    const around = fc.string({ unit: fc.constantFrom(..."abc <>/\n.".split("")), maxLength: 20 });
    const secret = fc
      .array(fc.constantFrom("zulu", "yankee", "xray", "whisky"), { minLength: 2, maxLength: 5 })
      .map((all) => all.join(" "));
    fc.assert(
      fc.property(
        around,
        secret,
        secret,
        around,
        fc.boolean(),
        fc.boolean(),
        (before, one, two, after, nested, closed) => {
          const inner = nested ? `${one}<private>${two}</private>${one}` : one;
          const prompt = `go ${before.replaceAll("<", "")} <private>${inner}${closed ? "</private>" : ""} ${closed ? after : ""}`;
          const reply = `I see: ${one.replaceAll(" ", "\n ").toUpperCase()}!`;
          const text = exchangeText({
            ...NOTHING,
            user: [prompt],
            agent: nested ? ["ok"] : [reply],
            did: nested ? [] : [`ran ${one}`],
          });
          expect(text).not.toMatch(/zulu|yankee|xray|whisky/i);
          expect(text).toMatch(/^User: go/);
        },
      ),
    );
  });

  it("no secret of a known shape survives in any part", () => {
    const letters = fc.string({
      unit: fc.constantFrom(..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".split("")),
      minLength: 36,
      maxLength: 36,
    });
    const shape = fc.oneof(
      letters.map((l) => `ghp_${l}`),
      letters.map((l) => `sk-ant-api03-${l}`),
      letters.map((l) => `postgres://me:${l}@db.example/x`),
    );
    fc.assert(
      fc.property(shape, words, words, fc.constantFrom(...PARTS), (secret, before, after, part) => {
        const text = exchangeText({ ...NOTHING, [part]: [`${before} ${secret} ${after}`] });
        expect(text).not.toContain(secret.slice(-36).split("@")[0]);
      }),
    );
  });
});

describe("what is private", () => {
  test.each([
    ["a <private>b</private> c", "a   c", ["b"]],
    ["a <private>b", "a", ["b"]],
    ["<PRIVATE >b</ private>", "", ["b"]],
    ["<private>a<private>b</private>c</private>d", "d", ["a<private>b</private>c"]],
    ["a </private> b", "a   b", []],
    ["privately", "privately", []],
  ])("%s", (text, kept, hidden) => {
    expect(withoutPrivate(text)).toEqual({ text: kept, hidden });
  });

  it("is found again as whole words, and line by line", () => {
    expect(hider(["Ada", "x+y (z)\nsecond line"])("Ada, Adam; X+Y  (z); the second\nline")).toBe(
      "[private], Adam; [private]; the [private]",
    );
    expect(hider(["a", ""])("a b")).toBe("a b");
  });
});

describe("a nod", () => {
  test.each(
    "yes|Yes!|ok|OK, thanks|continue|go on|Go ahead.|weiter|mach weiter|ja, bitte|passt|👍|2|b)|sounds good|yes please do it|lgtm".split(
      "|",
    ),
  )("%s", (text) => {
    expect(isNod(text)).toBe(true);
  });
  test.each(
    "yes, but use pnpm|no|continue with the parser|ok?|on that|stop|weiter mit dem Parser|yes and rename it|fix it".split(
      "|",
    ),
  )("not: %s", (text) => {
    expect(isNod(text)).toBe(false);
  });
});

const CORRECTIONS = `no, the other file
No. Use the old name.
nope, that breaks the build
that's wrong, the port is 8080
But that's not what I asked for
actually use pnpm
Actually, I meant the staging server
stop adding comments
please stop using any
undo that
revert your last change
Use pnpm, not npm.
use tabs instead of spaces
not the client but the server
I said two columns
I told you: no new files
you forgot the tests
Hm, you misunderstood me
don't do that again
wrong file
not like that
nein, das andere
Das ist falsch.
das stimmt so nicht
nicht npm, sondern pnpm
ich meinte die andere Datei
hör auf damit
du hast die Tests vergessen
mach das rückgängig
eigentlich nimm lieber pnpm
wait, don't push yet`.split("\n");
const NO_CORRECTIONS = `no problem, go on
No, thanks.
no worries
add a test for the parser
actually, can you also add a test?
stop the server
what is wrong with this code?
is that not right?
it is not perfect but fine
not only the client but also the server
revert commit 12ab
why is the build slow?
now use the new name
note that the port is 8080
The wrong password shows an error
kannst du das erklären?
nicht schlecht
nenne es anders`.split("\n");

describe("a correction", () => {
  test.each(CORRECTIONS)("%s", (text) => {
    expect(isCorrection(text)).toBe(true);
  });
  test.each(NO_CORRECTIONS)("not: %s", (text) => {
    expect(isCorrection(text)).toBe(false);
  });
});

describe("a text that names who said what", () => {
  it("is read as their turns, each with the lines that follow its label", () => {
    expect(dialogueOf("User: We deploy on Fridays.\nAlways.\nAssistant: Noted.\nTOOL: exit 1\n\nHuman: ok")).toEqual([
      { speaker: "user", text: "We deploy on Fridays.\nAlways." },
      { speaker: "agent", text: "Noted." },
      { speaker: "tool", text: "exit 1" },
      { speaker: "user", text: "ok" },
    ]);
  });

  it("is one only when it begins with a label", () => {
    expect(dialogueOf("We deploy on Fridays.\nAgent: Noted.")).toBeUndefined();
    expect(dialogueOf("Users: many")).toBeUndefined();
    expect(dialogueOf("")).toBeUndefined();
  });

  it("loses no word", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom("User", "Agent", "Tool"), fc.stringMatching(/^[a-z]{1,8}$/)), {
          minLength: 1,
          maxLength: 20,
        }),
        (said) => {
          const turns = dialogueOf(said.map(([label, words]) => `${label}: ${words}`).join("\n")) ?? [];
          expect(turns.map(({ text }) => text)).toEqual(said.map(([, words]) => words));
        },
      ),
    );
  });
});
