/** One butler of three does not answer: it is shown as unknown with the reason, never as zeros, and the others as they are. */
import { expect, it } from "vitest";
import type { Suite } from "../../support/browser/house.ts";
import { look } from "../../support/browser/look.ts";
import { PATIENCE } from "../../support/browser/person.ts";

export const silentButler: Suite = (house) => {
  it("is opening where a new store takes its time, and not well only where something is wrong", async () => {
    const person = await house().person();
    const { page } = person;
    const told: Record<string, object> = {
      general: { ok: false, store: "closed", conditions: [] },
      travel: { ok: false, store: "failed", conditions: [] },
    };
    await page.route("**/api/memory/health", async (route) => {
      const response = await route.fetch();
      const { butlers, ...rest } = await response.json();
      const changed = butlers.map((one: { name: string; answer?: object }) =>
        told[one.name] ? { ...one, answer: { ...one.answer, ...told[one.name] } } : one,
      );
      await route.fulfill({ response, json: { ...rest, butlers: changed } });
    });
    await person.open("/memory");
    const rail = page.getByRole("navigation", { name: "Butlers and pages" });
    await rail.getByRole("link", { name: /^general\s*, opening/ }).waitFor();
    await rail.getByRole("link", { name: /^travel\s*, not well/ }).waitFor();
    await page.unroute("**/api/memory/health");
    expect(person.troubles()).toEqual([]);
  });

  it("is unknown on the pages of all, and says why on its own", async () => {
    const person = await house().person();
    const { page } = person;
    const fact = { subject: "tea", predicate: "kind", content: "green tea from Uji" };
    await person.api("POST", "/api/butlers/general/tools/memory_store_fact", fact);
    await house().breakDown("travel");
    const travel = async () =>
      (await person.api("GET", "/api/memory/stats")).butlers.find(({ name }: { name: string }) => name === "travel");
    await expect.poll(async () => (await travel()).ok, PATIENCE).toBe(false);
    const { reason } = await travel();
    expect(reason.length).toBeGreaterThan(20);

    await person.open("/memory");
    const main = page.getByRole("main");
    const card = main.getByRole("listitem").filter({ hasText: "travel" });
    await card.getByText("unknown").waitFor();
    await card.getByText(reason).waitFor();
    expect(await card.getByText("0", { exact: true }).count()).toBe(0);
    await main.getByText("1 of 3 butlers did not answer").waitFor();
    await main.getByText("green tea from Uji").waitFor();
    const rail = page.getByRole("navigation", { name: "Butlers and pages" });
    await rail.getByRole("link", { name: /^travel\s*, unknown/ }).waitFor();
    expect(await look(page, house().store, "one-silent")).toEqual([]);

    await person.open("/memory/search?q=green+tea");
    await main.getByText("green tea from Uji").waitFor();
    await main.getByText(/travel did not answer/).waitFor();
    expect(person.troubles()).toEqual([]);

    person.expectTrouble(/(status|status of) 50[0-9]/);
    await page.goto("/butlers/travel/memory");
    await page.getByRole("alert").getByText(reason).waitFor();
    await page.getByRole("button", { name: "Try again" }).waitFor();
    expect(await look(page, house().store, "silent-itself")).toEqual([]);
    expect(person.troubles()).toEqual([]);
  });
};
