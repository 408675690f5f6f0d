/** Finding one's way: keys, filters that are part of the address, a chain, one memory with its evidence, an earlier day. */
import { beforeAll, expect, it } from "vitest";
import type { Suite } from "../../support/browser/house.ts";
import { look } from "../../support/browser/look.ts";
import { PATIENCE, type Person } from "../../support/browser/person.ts";

const MEMORY = "/butlers/travel/memory";

export const reading: Suite = (house) => {
  let person: Person;
  beforeAll(async () => {
    person = await house().person();
    await person.api("POST", `/api${MEMORY}/examples`);
  });

  it("keys: / searches, j and k walk, Enter opens, g goes, ? tells", async () => {
    const { page } = person;
    await person.open(MEMORY);
    await page.keyboard.press("/");
    await expect.poll(() => page.evaluate(() => document.activeElement?.id), PATIENCE).toBe("search");
    // Keys are for the page, not for whoever is typing.
    await page.keyboard.type("hosted at Kubernetes?");
    expect(await page.getByRole("dialog").count()).toBe(0);
    await page.keyboard.press("Enter");
    await page.waitForURL(/search\?q=hosted/);
    await page.getByText("Kubernetes in Frankfurt, three nodes").first().waitFor();
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute("href"));
    const rows = page.getByRole("main").locator("[data-row]");
    // What happens meanwhile may change the order, and a row that moves loses the focus: then it is walked again.
    const walked = async () => {
      await page.getByRole("heading", { level: 1 }).click();
      const [first, second] = [await rows.nth(0).getAttribute("href"), await rows.nth(1).getAttribute("href")];
      const met: (string | null | undefined)[] = [];
      for (const key of ["j", "j", "k"]) {
        await page.keyboard.press(key);
        met.push(await focused());
      }
      return met.map((one) => [first, second].indexOf(one ?? null));
    };
    await expect.poll(walked, PATIENCE).toEqual([0, 1, 0]);
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/m\//);
    await page.keyboard.press("?");
    const help = page.getByRole("dialog", { name: "Keys" });
    await help.waitFor();
    expect(await look(page, house().store)).toEqual([]);
    await page.keyboard.press("Escape");
    await help.waitFor({ state: "hidden" });
    await page.keyboard.press("g");
    await page.keyboard.press("f");
    await page.waitForURL(/\/facts$/);
    expect(person.troubles()).toEqual([]);
  });

  it("a filter is part of the address: it holds after a reload, and going back takes it away", async () => {
    const { page } = person;
    await person.open(`${MEMORY}/facts`);
    const facts = page.getByRole("list", { name: "Facts" });
    await facts.getByText("Kubernetes in Frankfurt").waitFor();
    await page
      .getByRole("group", { name: "Filters" })
      .getByRole("button", { name: /^state/ })
      .click();
    await page.getByRole("menuitemradio", { name: "superseded" }).click();
    await page.waitForURL(/state=superseded/);
    await facts.getByText("one virtual machine in Vienna").waitFor();
    await facts.getByText("Kubernetes in Frankfurt").waitFor({ state: "detached" });
    await page.reload();
    await facts.getByText("one virtual machine in Vienna").waitFor();
    expect(await facts.getByText("Kubernetes in Frankfurt").count()).toBe(0);
    await page.goBack();
    await facts.getByText("Kubernetes in Frankfurt").waitFor();
    await page.getByRole("searchbox", { name: "Facts with these words" }).fill("idempotency");
    await page.keyboard.press("Enter");
    await page.waitForURL(/q=idempotency/);
    await facts.getByText("32 characters; longer ones").waitFor();
    await facts.getByText("Kubernetes in Frankfurt").waitFor({ state: "detached" });
    await page.goto(`${page.url()}&state=fading`);
    await page.getByText("No fact is like that.").waitFor();
    await page.getByRole("button", { name: "Clear" }).click();
    expect(person.troubles()).toEqual([]);
  });

  it("earlier values of a fact open in place, and lead to what each was", async () => {
    const { page } = person;
    await person.open(`${MEMORY}/facts`);
    const row = page.getByRole("listitem").filter({ hasText: "Kubernetes in Frankfurt" });
    await row.getByRole("button", { name: "2 earlier values" }).click();
    const chain = row.getByRole("list", { name: /Values over time/ });
    await chain.getByText("one virtual machine in Vienna").waitFor();
    expect(await chain.getByRole("listitem").count()).toBe(3);
    expect(await look(page, house().store)).toEqual([]);
    await chain.getByText("one virtual machine in Vienna").click();
    await page.waitForURL(/\/m\//);
    await page.getByRole("heading", { level: 1 }).getByText("one virtual machine in Vienna").waitFor();
    expect(person.troubles()).toEqual([]);
  });

  it("one memory shows its source, its life and whether it would be told", async () => {
    const { page } = person;
    const { facts } = await person.api("GET", `/api${MEMORY}/facts?q=Petra+approve`);
    const told = facts.find(({ content }: { content: string }) => content === "Petra, head of operations");
    await person.open(`${MEMORY}/m/${told.id}`);
    const source = page.getByRole("region", { name: "Where it comes from, what came of it" });
    await source
      .getByText(/Releases go to the tills every Thursday/)
      .first()
      .waitFor();
    const life = page.getByRole("region", { name: "Its life" });
    await life.getByText("learned").waitFor();
    await life.getByText("confirmed").waitFor();
    await page.getByPlaceholder("A question or prompt …").fill("Who approves the next release?");
    await page.getByRole("button", { name: "Ask" }).click();
    await page.getByText(/^(Yes|No)\.$/).waitFor();
    expect(await look(page, house().store, "one-memory")).toEqual([]);
    await source.getByRole("link", { name: /Releases go to the tills/ }).click();
    await page
      .getByRole("heading", { level: 1 })
      .getByText(/Releases go to the tills/)
      .waitFor();
    expect(await look(page, house().store, "one-episode")).toEqual([]);
    expect(person.troubles()).toEqual([]);
  });

  it("an earlier day is shown under a band, on every page, until one goes back to now", async () => {
    const { page } = person;
    await person.open(`${MEMORY}/facts`);
    await page.getByRole("button", { name: /choose a day/ }).click();
    await page.getByRole("button", { name: "A week ago" }).click();
    await page.waitForURL(/as_of=/);
    const band = page.getByRole("status").filter({ hasText: "As of" });
    await band.waitFor();
    // The examples were told today: a week ago nothing was known.
    await page.getByText("Kubernetes in Frankfurt").waitFor({ state: "detached" });
    expect(await look(page, house().store, "facts-a-week-ago")).toEqual([]);
    await page.getByRole("navigation", { name: "Butlers and pages" }).getByRole("link", { name: "Activity" }).click();
    await page.waitForURL(/activity\?as_of=/);
    await band.waitFor();
    await band.getByRole("button", { name: "back to now" }).click();
    await band.waitFor({ state: "detached" });
    expect(page.url()).not.toContain("as_of");
    expect(person.troubles()).toEqual([]);
  });

  it("what does not exist is said so, with a way on", async () => {
    const { page } = person;
    person.expectTrouble(/40[04]/);
    await page.goto(`${MEMORY}/nothing/here`);
    await page.getByText("There is no such page.").waitFor();
    await page.goto(`${MEMORY}/m/01990000-0000-7000-8000-000000000000`);
    await page.getByRole("alert").getByText("Not found.").waitFor();
    await page.goto("/butlers/nobody/memory");
    await page.getByRole("alert").waitFor();
    expect(await look(page, house().store)).toEqual([]);
    expect(person.troubles()).toEqual([]);
  });

  it("what happens elsewhere appears without a reload", async () => {
    const { page } = person;
    await person.open(MEMORY);
    const tool = "/api/butlers/travel/tools/memory_store_fact";
    await person.api("POST", tool, { subject: "tea", predicate: "kind", content: "sencha from Uji" });
    await page.getByRole("main").getByText("sencha from Uji").waitFor();
    expect(person.troubles()).toEqual([]);
  });
};
