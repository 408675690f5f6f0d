import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { distil } from "../../src/engine/domain/learning/distil.ts";
import { type PromotionBar, promotedTo, type Rising } from "../../src/engine/domain/lifecycle/promotion.ts";
import { promotionBar, Settings } from "../../src/engine/memory/settings.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = new Date("2026-03-10T12:00:00Z");
const ago = (ms: number) => new Date(NOW.getTime() - ms);
const EDEN = promotionBar(Settings.parse({}), "eden");
const MID = promotionBar(Settings.parse({}), "mid");
const born = (ageMs: number, rest: Partial<Rising> = {}): Rising => ({
  tier: "eden",
  validity: "active",
  created_at: ago(ageMs),
  promoted_at: null,
  expires_at: ago(-DAY),
  ...rest,
});

describe("promotion", () => {
  it("has the bars that were promised", () => {
    expect(EDEN).toEqual({ references: 3, sessions: 2, days: 1, ageMs: 6 * HOUR });
    expect(MID).toEqual({ references: 10, sessions: 1, days: 3, ageMs: 7 * DAY });
    const settings = Settings.parse({
      eden: { promote_after_refs: 1, promote_from_sessions: 1, promote_after_hours: 0 },
      mid: { promote_after_refs: 2, promote_on_days: 1, promote_after_days: 1 },
    });
    expect(promotionBar(settings, "eden")).toEqual({ references: 1, sessions: 1, days: 1, ageMs: 0 });
    expect(promotionBar(settings, "mid")).toEqual({ references: 2, sessions: 1, days: 1, ageMs: DAY });
  });

  it.each([
    ["on every bar", { references: 3, sessions: 2, days: 1 }, 6 * HOUR, "mid"],
    ["a reference short", { references: 2, sessions: 2, days: 1 }, 6 * HOUR, undefined],
    ["from one session", { references: 30, sessions: 1, days: 9 }, 6 * HOUR, undefined],
    ["a millisecond too young", { references: 3, sessions: 2, days: 1 }, 6 * HOUR - 1, undefined],
  ] as const)("eden %s", (_, evidence, age, to) => {
    expect(promotedTo(born(age), evidence, EDEN, NOW)).toBe(to);
  });

  it.each([
    ["on every bar", { references: 10, sessions: 1, days: 3 }, 7 * DAY, "long"],
    ["a reference short", { references: 9, sessions: 9, days: 9 }, 7 * DAY, undefined],
    ["on two days", { references: 99, sessions: 9, days: 2 }, 7 * DAY, undefined],
    ["a millisecond too young", { references: 10, sessions: 1, days: 3 }, 7 * DAY - 1, undefined],
  ] as const)("mid %s", (_, evidence, age, to) => {
    expect(promotedTo(born(age, { tier: "mid" }), evidence, MID, NOW)).toBe(to);
    // The age is that in the tier, however old the episode is.
    expect(promotedTo(born(99 * DAY, { tier: "mid", promoted_at: ago(age) }), evidence, MID, NOW)).toBe(to);
  });

  it("nothing rises above long, and neither the expired nor the forgotten rise", () => {
    const all = { references: 99, sessions: 9, days: 9 };
    expect(promotedTo(born(99 * DAY, { tier: "long" }), all, MID, NOW)).toBeUndefined();
    expect(promotedTo(born(99 * DAY, { expires_at: NOW }), all, EDEN, NOW)).toBeUndefined();
    expect(promotedTo(born(99 * DAY, { validity: "retracted" }), all, EDEN, NOW)).toBeUndefined();
  });

  it("more evidence never takes a promotion away", () => {
    const n = fc.nat({ max: 12 });
    const evidence = fc.record({ references: n, sessions: n, days: n });
    fc.assert(
      fc.property(
        evidence,
        evidence,
        fc.constantFrom<PromotionBar>(EDEN, MID),
        fc.nat({ max: 8 * DAY }),
        (a, more, bar, age) => {
          const b = {
            references: a.references + more.references,
            sessions: a.sessions + more.sessions,
            days: a.days + more.days,
          };
          if (promotedTo(born(age), a, bar, NOW) !== undefined) expect(promotedTo(born(age), b, bar, NOW)).toBe("mid");
        },
      ),
    );
  });
});

describe("distilling", () => {
  it.each([
    ["Always run the tests before a release.", { type: "rule", content: "Always run the tests before a release." }],
    ["never use tabs", { type: "rule", content: "never use tabs" }],
    ["Ann lives in Oslo.", { type: "fact", subject: "Ann", predicate: "lives in", content: "Oslo" }],
    [
      "Ann Smith works at Nordic Data",
      { type: "fact", subject: "Ann Smith", predicate: "works at", content: "Nordic Data" },
    ],
    [
      "Ann Smith's birthday is on 4 May",
      { type: "fact", subject: "Ann Smith", predicate: "birthday", content: "4 May" },
    ],
    [
      "The user likes green tea.",
      { type: "fact", subject: "user", predicate: "likes:green tea", content: "The user likes green tea." },
    ],
    [
      "Élodie is allergic to nuts",
      { type: "fact", subject: "Élodie", predicate: "allergic to:nuts", content: "Élodie is allergic to nuts" },
    ],
  ])("%s", (text, stated) => {
    expect(distil(text)).toEqual(stated);
  });

  it.each([
    "Never mind that",
    "Always a pleasure",
    "Never seen anything like it",
    "Never use tabs?",
    "He lives in Oslo",
    "Everyone likes tea",
    "Ann lives in Oslo now",
    "Ann lives in Oslo and Bergen",
    "Ann lives in Oslo, I think",
    "Ann likes to swim",
    "Ann likes how it looks",
    "Does Ann like tea?",
    "Ann lives in Oslo. She moved there in May.",
    "Always run the tests. They are fast.",
    "the deployment likes memory",
    "Ann does not like tea",
    `Always run ${"very ".repeat(80)}long tests`,
    "",
  ])("leaves %s alone", (text) => {
    expect(distil(text)).toBeUndefined();
  });
});
