/** Texts that attack a page are shown as the texts that they are, wherever memories are shown. */
import { beforeAll, expect, it } from "vitest";
import type { Suite } from "../../support/browser/house.ts";
import { look } from "../../support/browser/look.ts";
import { PATIENCE, type Person } from "../../support/browser/person.ts";
import { HOSTILE, type Hostile, LONG_WORD, storeHostile } from "../../support/browser/seed.ts";

const HEALTH = "/butlers/health/memory";
const NARROW = { width: 375, height: 812 };

export const hostile: Suite = (house) => {
  let person: Person;
  let stored: Hostile;
  beforeAll(async () => {
    person = await house().person();
    stored = await storeHostile(person);
  });

  /** Nothing of it ran, and the page is as wide as the window. */
  async function isHarmless(): Promise<void> {
    const { page } = person;
    page.on("dialog", (dialog) => {
      throw new Error(`a dialog was opened: ${dialog.message()}`);
    });
    expect(await page.evaluate(() => "intruded" in window)).toBe(false);
    const before = page.viewportSize();
    await page.setViewportSize(NARROW);
    // Lists that know their width are drawn anew a moment after the window has changed.
    await expect
      .poll(() => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth), PATIENCE)
      .toBeLessThanOrEqual(0);
    if (before !== null) await page.setViewportSize(before);
    expect(await page.locator('main a[href^="javascript:"]').count()).toBe(0);
    expect(person.troubles()).toEqual([]);
  }

  const { script = "" } = HOSTILE;
  for (const [path, words] of [
    ["", script],
    ["/facts", script],
    ["/rules", script],
    ["/episodes", LONG_WORD.slice(0, 100)],
    ["/preview?prompt=What+does+the+hostile+script+say", script],
    ["/activity", script],
    ["/search?q=hostile+says", script],
    [`/search?q=${encodeURIComponent(script)}`, script],
  ] as const)
    it(`in the list ${path}`, async () => {
      const { page } = person;
      await person.open(`${HEALTH}${path}`);
      await page.getByRole("main").getByText(words).first().waitFor();
      await isHarmless();
      expect(await look(page, house().store, `hostile${path.replace(/\W+/g, "-").slice(0, 24)}`)).toEqual([]);
    });

  it("each on its own page", async () => {
    const { page } = person;
    for (const [name, text] of Object.entries(HOSTILE)) {
      await person.open(`${HEALTH}/m/${stored.facts[name]}`);
      const heading = page.getByRole("heading", { level: 1 });
      const beginning = text.slice(0, 120).replace(/\s+/g, " ");
      await expect
        .poll(async () => ((await heading.textContent()) ?? "").replace(/\s+/g, " "), PATIENCE)
        .toContain(beginning);
      await isHarmless();
    }
    for (const id of [stored.facts.keys, stored.facts.predicate, stored.rule]) {
      await person.open(`${HEALTH}/m/${id}`);
      await isHarmless();
    }
  });

  it("a word of 99,000 letters", async () => {
    const { page } = person;
    await person.open(`${HEALTH}/m/${stored.episode}`);
    await isHarmless();
    await page.getByText(/The whole text/).click();
    expect((await page.locator("pre").textContent())?.length).toBe(LONG_WORD.length);
    await isHarmless();
    expect(await look(page, house().store, "hostile-long-word")).toEqual([]);
  });

  it("in an address", async () => {
    const { page } = person;
    const attack = encodeURIComponent(HOSTILE.image ?? "");
    person.expectTrouble(/40[04]/);
    for (const path of [
      `${HEALTH}/facts?subject=${attack}`,
      `${HEALTH}/m/${attack}`,
      `/butlers/${attack}/memory`,
      `${HEALTH}/activity?event=${attack}`,
      `/signin?to=${attack}`,
    ]) {
      await page.goto(path);
      await page.getByRole("heading").or(page.getByRole("alert")).first().waitFor();
      await isHarmless();
    }
  });
};
