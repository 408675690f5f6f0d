/** Every page of a memory full of life: it opens by its address, says nothing wrong, and everybody can use it. */
import { beforeAll, expect, it } from "vitest";
import { inHouses } from "../support/browser/house.ts";
import { axeInBoth, shoot, vitals } from "../support/browser/look.ts";
import type { Person } from "../support/browser/person.ts";
import { type Seeded, seed } from "../support/browser/seed.ts";

/** Each with words that it shows. */
const PAGES: Readonly<Record<string, readonly [path: string, words: RegExp]>> = {
  fleet: ["/memory", /Learned .* today/],
  "fleet-search": ["/memory/search?q=Ada", /for “Ada”/],
  "fleet-activity": ["/memory/activity", /happened/i],
  today: ["/butlers/general/memory", /Learned .* today/],
  search: ["/butlers/general/memory/search?q=release+approved+by+Petra", /Petra/],
  activity: ["/butlers/general/memory/activity", /happened/i],
  facts: ["/butlers/general/memory/facts", /facts known/],
};

/** Of the first page with all that it needs, packed. */
const MOST_BYTES = 300 * 1024;

inHouses("every page", (house) => {
  let person: Person;
  let seeded: Seeded;
  beforeAll(async () => {
    seeded = await seed(house(), await house().person());
    person = await house().person();
  });

  for (const [name, [path, words]] of Object.entries(PAGES))
    it(`${name} opens by its address`, async () => {
      const { page } = person;
      await person.open(path);
      await page.getByRole("main").getByText(words).first().waitFor();
      const { layoutShift, bytes } = await vitals(page);
      expect(layoutShift).toBeLessThanOrEqual(0.1);
      expect(bytes).toBeLessThanOrEqual(MOST_BYTES);
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
      await shoot(page, house().store, name);
      expect(await axeInBoth(page)).toEqual([]);
      expect(person.troubles()).toEqual([]);
    });

  it("seeded", () => {
    expect(seeded.sessions).toHaveLength(2);
  });
});
