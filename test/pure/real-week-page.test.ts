/** The page about a week with a real agent: made of records alone, marked by the week's own marks. */
import { describe, expect, it } from "vitest";
import { weekPage } from "../../bench/real-week/page.ts";
import type { KnownMemory, WeekRecords } from "../../bench/real-week/records.ts";
import { saidFor } from "../../bench/real-week/said.ts";
import { readWeek } from "../../src/lab/everyday/week/script.ts";

const WEEK = readWeek(`== 2026-03-02 08:00 claude-code
> the port is 5433
== 2026-03-06 08:00 claude-code
> run the tests
## worth
1-1 | the old port | 5433
1- | the new port | 5544
1- | pnpm | pnpm
1- | short answers | short answers
## needed
2 | pnpm; short answers`);

const said = (text: string) => [{ day: "2026-03-02", said: text }];
const fact = (text: string, more: Partial<KnownMemory> = {}): KnownMemory => ({
  ...{ type: "fact", subject: "project", predicate: "port", text, state: "active", hint: false, sources: said(text) },
  ...more,
});

const RECORDS: WeekRecords = {
  agent: "an agent 1.0",
  sessions: [
    { session: 1, at: "2026-03-02T08:00:00.000Z", prompts: [{ prompt: "the port is 5433", told: [] }] },
    {
      session: 2,
      at: "2026-03-06T08:00:00.000Z",
      prompts: [
        {
          prompt: "run the | tests",
          told: ["- Use pnpm. (candidate, abcd1234)", "- the port is 5433", "- hello *you*"],
        },
        { prompt: "again", told: [] },
        { prompt: "once more", told: ["- pnpm again", "- 5544 | it is"] },
      ],
    },
  ],
  known: [
    fact("The port is 5544.", { sources: said("the port is 5544 now") }),
    fact("The port is 5433.", { state: "superseded", replacedBy: "The port is 5544." }),
    fact("Mira likes tea.", { subject: "user" }),
    { ...fact("Use pnpm."), type: "rule" },
    fact("Maybe this.", { hint: true, state: "fading", sureness: 0.4 }),
  ],
};

describe("the page of a week", () => {
  const page = weekPage(WEEK, RECORDS);

  it("is the same for the same records, and shows no id of a store", () => {
    expect(weekPage(WEEK, structuredClone(RECORDS))).toBe(page);
    expect(page).not.toContain("abcd1234");
  });

  it("marks each line that Friday's requests carried, over the whole session", () => {
    const marks = [...page.matchAll(/^\| (\*\S+|no use) \| (.*) \|$/gm)].map(([, mark, line]) => [mark, line]);
    expect(marks.slice(-5)).toEqual([
      ["**needed**", "Use pnpm. (candidate)"],
      ["**harmful**", "the port is 5433"],
      ["no use", "hello \\*you\\*"],
      ["no use", "pnpm again"],
      ["*useful*", "5544 \\| it is"],
    ]);
    expect(page).toContain("> run the \\| tests");
    expect(page).toContain("Nothing was added.");
    expect(page).toContain("was not told: short answers.");
  });

  it("counts them", () => {
    expect(page).toContain("| needed for the work of their session | 1 (20 %) |");
    expect(page).toContain("| harmful | 1 (20 %) |");
    expect(page).toContain("| of what the work needed, told | 1 of 2 |");
    expect(page).toContain("| facts and rules that it knew | 3, of which 2 (67 %) are worth knowing |");
  });

  it("tells what was known, by whom it is about, what was replaced, and the hints apart", () => {
    expect(page.indexOf("About the person")).toBeLessThan(page.indexOf("About the project"));
    expect(page).toContain("| The port is 5544. | Monday | “the port is 5544 now” | **yes** |");
    expect(page).toContain("| Mira likes tea. | Monday | the same | *no* |");
    expect(page).toContain("| The port is 5433. | Monday | The port is 5544. |");
    expect(page).toContain("| Maybe this. | Monday | 0.40 |");
  });

  it("tells what there was to know and was missed", () => {
    expect(page).toContain("| short answers | Monday | **no** | **no** |");
    expect(page).toContain("| pnpm | Monday | yes | yes |");
    expect(page).not.toContain("| the old port |");
  });
});

describe("the words that something was learned from are", () => {
  it("the person's sentence that has most in common with it", () => {
    const exchange = "User: good morning. we use pnpm here, never npm. run the tests\nAgent: pnpm is used, never npm.";
    expect(saidFor("We use pnpm here, never npm.", exchange)).toBe("we use pnpm here, never npm.");
  });
});
