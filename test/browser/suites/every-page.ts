/** Every page of a memory full of life: it opens by its address, says nothing wrong, and everybody can use it. */
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import type { Suite } from "../../support/browser/house.ts";
import { look, type Vitals, vitals, writeVitals } from "../../support/browser/look.ts";
import { POISON, PROVEN } from "../../support/browser/past.ts";
import { type Answer, PATIENCE, type Person } from "../../support/browser/person.ts";
import { PROJECT, SESSIONS, seed } from "../../support/browser/seed.ts";

/** Each with words that it shows. */
const PAGES: Readonly<Record<string, readonly [path: string, words: RegExp]>> = {
  fleet: ["/memory", /Learned .* today/],
  "fleet-search": ["/memory/search?q=Ada", /for “Ada”/],
  "fleet-activity": ["/memory/activity", /happened/i],
  today: ["/butlers/general/memory", /Learned .* today/],
  search: ["/butlers/general/memory/search?q=release+approved+by+Petra", /Petra/],
  activity: ["/butlers/general/memory/activity", /happened/i],
  facts: ["/butlers/general/memory/facts", /facts known/],
  rules: ["/butlers/general/memory/rules", /Restart the payment worker/],
  episodes: ["/butlers/general/memory/episodes", /Petra approves it|narrow labels/],
  sessions: ["/butlers/general/memory/sessions", /example.com\/shop\/kassa|kassa/],
  session: [`/butlers/general/memory/sessions/${SESSIONS[0]}`, /What it was told/],
  preview: [`/butlers/general/memory/preview?prompt=Prepare+the+next+release&project=${PROJECT}`, /./],
  changes: ["/butlers/general/memory/changes", /./],
  runs: ["/butlers/general/memory/runs", /local/],
  "dead-letters": ["/butlers/general/memory/runs?show=dead-letters", /five times/],
  health: ["/butlers/general/memory/health", /Conditions/],
  settings: ["/butlers/general/memory/settings", /extractor/],
  "fleet-health": ["/memory/health", /travel/],
};

const GENERAL = "/butlers/general/memory";
const RAIL = [
  "Search",
  "Facts",
  "Rules",
  "Episodes",
  "Sessions",
  "Preview",
  "Changes",
  "Activity",
  "Runs",
  "Health",
  "Settings",
  "Today",
];

/** Of the first page with all that it needs, packed. */
const MOST_BYTES = 300 * 1024;

export const everyPage: Suite = (house) => {
  let person: Person;
  const sights = new Map<string, Vitals>();
  afterAll(() => writeVitals(house().store, sights));
  beforeAll(async () => {
    await seed(house(), await house().person());
    person = await house().person();
    // A store that is still being opened is shown as unknown.
    await vi.waitFor(async () => expect((await person.api("GET", "/api/memory/stats")).partial).toBe(false), PATIENCE);
  });

  for (const [name, [path, words]] of Object.entries(PAGES))
    it(`${name} opens by its address`, async () => {
      const { page } = person;
      await person.open(path);
      await page.getByRole("main").getByText(words).first().waitFor();
      const sight = await vitals(page);
      sights.set(name, sight);
      expect(sight.layoutShift).toBeLessThanOrEqual(0.1);
      expect(sight.bytes).toBeLessThanOrEqual(MOST_BYTES);
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
      expect(await look(page, house().store, name)).toEqual([]);
      expect(person.troubles()).toEqual([]);
    });

  it("rules stand on a ladder: a step shows its own, with what is missing for the next", async () => {
    const { page } = person;
    await person.open(`${GENERAL}/rules`);
    const main = page.getByRole("main");
    const steps = main.getByRole("list", { name: /Steps of a rule/ });
    await steps.getByRole("link", { name: /Proven/ }).click();
    await page.waitForURL(/maturity=proven/);
    await main.getByText(PROVEN).waitFor();
    // The rules of before stay until the others have come; the warning tells its words twice.
    await expect.poll(() => main.getByText("Restart the payment worker").count(), PATIENCE).toBe(0);
    await steps.getByRole("link", { name: /Proven/ }).click();
    await main
      .getByText(/30 (more )?days/)
      .first()
      .waitFor();
    await main.getByRole("link", { name: /Warnings/ }).click();
    await main.getByText(/Avoid: Restart the payment worker/).waitFor();
    await main.getByText("It was the rule:").waitFor();
    expect(person.troubles()).toEqual([]);
  });

  it("a session tells what the agent was told, and which memory is near to words that it said", async () => {
    const { page } = person;
    await person.open(`${GENERAL}/sessions`);
    await page
      .getByRole("main")
      .getByRole("link", { name: /approve the next release|kassa/ })
      .first()
      .click();
    await page.waitForURL(/\/sessions\/./);
    await page.getByLabel("Words that the agent said").fill("Petra approves it");
    await page.getByRole("button", { name: "Where does this come from?" }).click();
    const why = page.getByRole("region", { name: "Why did it say that?" });
    await why.getByText(/near these words/).waitFor();
    await why.getByRole("link", { name: /Petra/ }).first().waitFor();
    expect(await look(page, house().store, "session-why")).toEqual([]);
    expect(person.troubles()).toEqual([]);
  });

  it("a preview shows the block of a prompt, and a smaller budget leaves more out", async () => {
    const { page } = person;
    await person.open(`${GENERAL}/preview?project=${PROJECT}`);
    await page.getByLabel("Prompt").fill("Who approves the next release of kassa, and where is it hosted?");
    const block = page.getByRole("figure");
    await block.getByText(/Petra, head of operations/).waitFor();
    await page.getByRole("slider").fill("100");
    await page.waitForURL(/budget=100/);
    await block.getByText(/Petra, head of operations/).waitFor({ state: "detached" });
    expect(person.troubles()).toEqual([]);
  });

  it("a run opens to its decisions beside the words that were used", async () => {
    const { page } = person;
    await person.open(`${GENERAL}/runs`);
    const { runs } = await person.api("GET", `/api${GENERAL}/runs`);
    const local = runs.find(({ provider, state }: Answer) => provider === "local" && state === "done");
    expect(runs.some(({ state }: Answer) => state === "failed")).toBe(true);
    await page.locator(`a[href$="/runs/${local.id}"]`).first().click();
    await page.waitForURL(/\/runs\/./);
    const main = page.getByRole("main");
    await main.getByText("What was read, and what was made of it").waitFor();
    await main.locator("mark").first().waitFor();
    expect(await look(page, house().store, "one-run")).toEqual([]);
    expect(person.troubles()).toEqual([]);
  });

  it("a dead letter is sent again, and a job is run by hand", async () => {
    const { page } = person;
    const main = page.getByRole("main");
    await person.open(`${GENERAL}/runs?show=dead-letters`);
    await main.getByText(POISON).waitFor();
    await main.getByRole("button", { name: "Send again" }).click();
    await main.getByText(POISON).waitFor({ state: "detached" });
    expect((await person.api("GET", `/api${GENERAL}/today`)).waiting).toMatchObject({ dead_letters: 0, backlog: 1 });
    await person.open(`${GENERAL}/health`);
    const job = main.getByRole("listitem").filter({ hasText: "Episodes become facts" });
    await job.getByRole("button", { name: "Run now" }).click();
    await expect.poll(async () => (await person.api("GET", `/api${GENERAL}/today`)).waiting.backlog, PATIENCE).toBe(0);
    await job.getByRole("button", { name: "Run now" }).waitFor();
    expect(person.troubles()).toEqual([]);
  });

  it("a choice in the rail leads to every page, at 375 pixels from the bar below", async () => {
    const { page } = person;
    await person.open(GENERAL);
    const rail = page.getByRole("navigation", { name: "Butlers and pages" });
    for (const name of RAIL) {
      await rail.getByRole("link", { name: new RegExp(`^${name}`) }).click();
      await expect.poll(() => page.title(), PATIENCE).toContain(`· ${name} ·`);
    }
    await page.setViewportSize({ width: 375, height: 812 });
    const bar = page.getByRole("navigation", { name: "Pages", exact: true });
    await bar.getByRole("link", { name: "Facts" }).click();
    await page.waitForURL(/\/facts$/);
    await bar.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Health", exact: true }).click();
    await page.waitForURL(/\/health$/);
    await page.setViewportSize({ width: 1440, height: 900 });
    expect(person.troubles()).toEqual([]);
  });
};
