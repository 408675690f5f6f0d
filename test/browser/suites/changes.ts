/** Changing what is known: each small, with its reason, seen at once, and taken back by Undo. */
import { beforeAll, expect, it } from "vitest";
import type { Suite } from "../../support/browser/house.ts";
import { look } from "../../support/browser/look.ts";
import { type Answer, PATIENCE, type Person } from "../../support/browser/person.ts";

const MEMORY = "/butlers/health/memory";
const TOOLS = "/api/butlers/health/tools";

export const changes: Suite = (house) => {
  let person: Person;
  beforeAll(async () => {
    person = await house().person();
  });
  const store = (tool: string, input: object): Promise<Answer> => person.api("POST", `${TOOLS}/${tool}`, input);
  const memory = async (id: string): Promise<Answer> =>
    (await person.api("GET", `/api${MEMORY}/memories/${id}`)).memory;
  const change = () => person.page.getByRole("group", { name: "Change this memory" });
  const toast = (words: string) =>
    person.page
      .getByRole("listitem")
      .filter({ hasText: words, has: person.page.getByRole("button", { name: "Dismiss" }) });

  it("a correction supersedes the fact, shows the new one, and Undo brings the old words back", async () => {
    const { page } = person;
    const told = { subject: "dns", predicate: "provider", content: "Cloudflare", tags: ["ops"] };
    const { id } = await store("memory_store_fact", told);
    await person.open(`${MEMORY}/m/${id}`);
    await change().getByRole("button", { name: "Correct" }).click();
    await page.getByLabel("What is true instead").fill("Route 53");
    await page.getByLabel(/^Why/).fill("We moved in March.");
    expect(await look(page, house().store)).toEqual([]);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { level: 1 }).getByText("Route 53").waitFor();
    expect(page.url()).not.toContain(id);
    expect(await memory(id)).toMatchObject({ state: "superseded" });
    const now = page.url().split("/").at(-1) ?? "";
    expect(await memory(now)).toMatchObject({ content: "Route 53", supersedes_id: id, tags: ["ops"], trust: "user" });
    await toast("Now: Route 53").waitFor();
    expect(await look(page, house().store, "corrected")).toEqual([]);
    await toast("Now: Route 53").getByRole("button", { name: "Undo" }).click();
    await expect.poll(async () => (await memory(now)).state, PATIENCE).toBe("superseded");
    const { facts } = await person.api("GET", `/api${MEMORY}/facts?subject=dns`);
    expect(facts).toMatchObject([{ content: "Cloudflare", replaced: 2 }]);
    expect(person.troubles()).toEqual([]);
  });

  it("what came of an event is shown as a tree and undone, and Undo brings it back", async () => {
    const { page } = person;
    const told = { subject: "mail", predicate: "provider" };
    const old = await store("memory_store_fact", { ...told, content: "Postfix" });
    const { id } = await store("memory_store_fact", { ...told, content: "evil.example" });
    await person.open(`${MEMORY}/m/${id}`);
    await page.getByRole("button", { name: "Undo what came of this" }).first().click();
    const dialog = page.getByRole("dialog", { name: "What would be undone" });
    await dialog.getByText("mail provider: Postfix").waitFor();
    expect(await dialog.textContent()).toMatch(/1 memory taken back, 1 memory back again/);
    expect(await look(page, house().store, "undo")).toEqual([]);
    expect(await memory(id)).toMatchObject({ state: "active" });
    await dialog.getByRole("button", { name: "Undo all of it" }).click();
    await toast("Undone").waitFor();
    expect([(await memory(id)).state, (await memory(old.id)).state]).toEqual(["retracted", "active"]);
    await toast("Undone").getByRole("button", { name: "Undo" }).click();
    await expect.poll(async () => (await memory(id)).state, PATIENCE).toBe("active");
    expect(person.troubles()).toEqual([]);
  });

  it("each event of the activity that can be undone is, after a look at what goes with it", async () => {
    const { page } = person;
    const told = { subject: "chat", predicate: "provider" };
    const old = await store("memory_store_fact", { ...told, content: "Matrix" });
    const { id } = await store("memory_store_fact", { ...told, content: "poisoned.example" });
    await person.open(`${MEMORY}/activity`);
    const line = page
      .getByRole("listitem")
      .filter({ hasText: "poisoned.example" })
      .filter({ hasText: "fact · changed" });
    await line.getByRole("button", { name: "Undo…" }).click();
    const dialog = page.getByRole("dialog", { name: "What would be undone" });
    await dialog.getByText("chat provider: Matrix").waitFor();
    expect(await look(page, house().store, "undo-of-an-event")).toEqual([]);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    expect(await memory(id)).toMatchObject({ state: "active" });
    await line.getByRole("button", { name: "Undo…" }).click();
    await dialog.getByRole("button", { name: "Undo all of it" }).click();
    await toast("Undone: 1 memory taken back, 1 memory back again").waitFor();
    expect([(await memory(id)).state, (await memory(old.id)).state]).toEqual(["retracted", "active"]);
    expect(person.troubles()).toEqual([]);
  });

  it("forgetting takes it out of sight at once, with its reason; Undo and Restore bring it back", async () => {
    const { page } = person;
    const { id } = await store("memory_store_fact", { subject: "office", predicate: "floor", content: "the third" });
    await person.open(`${MEMORY}/m/${id}`);
    await change().getByRole("button", { name: "Forget" }).click();
    await page.getByLabel(/Why forget it/).fill("We have moved out.");
    await page.getByRole("button", { name: "Forget" }).click();
    await toast("Forgotten").waitFor();
    expect(await memory(id)).toMatchObject({ state: "retracted", forget_reason: "We have moved out." });
    await toast("Forgotten").getByRole("button", { name: "Undo" }).click();
    await expect.poll(async () => (await memory(id)).state, PATIENCE).toBe("active");
    await change().getByRole("button", { name: "Forget" }).click();
    await page.getByRole("button", { name: "Forget" }).click();
    await change().getByRole("button", { name: "Restore" }).click();
    await expect.poll(async () => (await memory(id)).state, PATIENCE).toBe("active");
    await change().getByRole("button", { name: "Confirm" }).waitFor();
    expect(person.troubles()).toEqual([]);
  });

  it("a confirmation can be taken back until it is sent", async () => {
    const { page } = person;
    const { id } = await store("memory_store_fact", { subject: "parking", predicate: "place", content: "number 12" });
    const confirmed = async () =>
      (await person.api("GET", `/api${MEMORY}/activity?event=fact.confirmed`)).events.filter(
        ({ entity_id }: Answer) => entity_id === id,
      ).length;
    await person.open(`${MEMORY}/m/${id}`);
    await change().getByRole("button", { name: "Confirm" }).click();
    await toast("Confirmed").getByRole("button", { name: "Undo" }).click();
    await toast("Confirmed").waitFor({ state: "detached" });
    await change().getByRole("button", { name: "Confirm" }).click();
    await toast("Confirmed").getByRole("button", { name: "Dismiss" }).click();
    await expect.poll(confirmed, PATIENCE).toBe(1);
    await change().getByRole("button", { name: "Confirm" }).click();
    await toast("Confirmed").waitFor();
    // Leaving the page sends it.
    await page.goto("/memory");
    await expect.poll(confirmed, PATIENCE).toBe(2);
    expect(person.troubles()).toEqual([]);
  });

  it("a rule is marked helpful or harmful, with what it did", async () => {
    const { page } = person;
    const { id } = await store("memory_store_rule", { content: "Restart the queue when it is long." });
    await person.open(`${MEMORY}/m/${id}`);
    await change().getByRole("button", { name: "Helpful" }).click();
    await toast("Marked as helpful").getByRole("button", { name: "Dismiss" }).click();
    await expect.poll(async () => (await memory(id)).success_count, PATIENCE).toBe(1);
    await change().getByRole("button", { name: "Harmful" }).click();
    await page.getByLabel(/What harm did it do/).fill("It lost two payments.");
    await page.getByRole("button", { name: "Mark harmful" }).click();
    await toast("Marked as harmful").getByRole("button", { name: "Dismiss" }).click();
    await expect.poll(async () => (await memory(id)).harmful_count, PATIENCE).toBe(1);
    const { rules } = await person.api("GET", `/api${MEMORY}/rules`);
    expect(rules).toMatchObject([{ id, marks: [{}, { outcome: "harmful", note: "It lost two payments." }] }]);
    expect(person.troubles()).toEqual([]);
  });

  it("what a tool said waits on Today until somebody confirms or forgets it", async () => {
    const { page } = person;
    for (const content of ["otter", "beaver"]) {
      const heard = { content: `The host is called ${content}.`, speaker: "tool", session_id: "page" };
      const { id: source_episode_id } = await store("memory_store_episode", heard);
      await store("memory_store_fact", { subject: content, predicate: "is a host", content, source_episode_id });
    }
    await person.open(MEMORY);
    const section = page.getByRole("region", { name: "To review" });
    const item = (words: string) => section.getByRole("listitem").filter({ hasText: words });
    await item("otter")
      .getByText(/a tool’s output · kept out of context blocks/)
      .waitFor();
    expect(await look(page, house().store, "review")).toEqual([]);
    await item("otter").getByRole("button", { name: "Confirm" }).click();
    await toast("Confirmed").getByRole("button", { name: "Dismiss" }).click();
    await item("otter").waitFor({ state: "detached" });
    await item("beaver").getByRole("button", { name: "Forget" }).click();
    await item("beaver").waitFor({ state: "detached" });
    await expect.poll(async () => (await person.api("GET", `/api${MEMORY}/review`)).items, PATIENCE).toEqual([]);
    expect(await section.count()).toBe(0);
    expect(person.troubles()).toEqual([]);
  });

  it("a token is made for a role, replaced and revoked, and its secret is shown once", async () => {
    const { page } = person;
    await person.open(`${MEMORY}/settings`);
    const made = page.getByRole("status").getByText(/shown once/);
    const list = async () =>
      (await person.api("GET", `/api${MEMORY}/tokens`)).tokens.filter(({ name }: Answer) => name === "kitchen");
    await page.getByLabel("Name of a new token").fill("kitchen");
    await page.getByLabel("It may").selectOption("reader");
    await page.getByLabel("Ends after days").fill("30");
    await page.getByRole("button", { name: "Make it" }).click();
    await made.waitFor();
    const first = await page.getByRole("status").textContent();
    expect(await list()).toMatchObject([{ role: "reader", reader: true, expires: expect.any(String) }]);
    expect(await look(page, house().store, "tokens")).toEqual([]);
    await page.getByRole("button", { name: "Replace kitchen" }).click();
    await expect
      .poll(async () => (await page.getByRole("status").first().textContent()) !== first, PATIENCE)
      .toBe(true);
    expect(await list()).toMatchObject([{ role: "reader" }]);
    await page.getByRole("button", { name: "Revoke kitchen" }).click();
    await expect.poll(list, PATIENCE).toEqual([]);
    expect(person.troubles()).toEqual([]);
  });

  it("a reader is told so, and is offered nothing to change", async () => {
    const { id } = await store("memory_store_fact", { subject: "gate", predicate: "opens", content: "at eight" });
    const reader = await house().person({ as: "reader" });
    await reader.open(`${MEMORY}/m/${id}`);
    await reader.page.getByText("you are signed in as a reader").waitFor();
    expect(await reader.page.getByRole("group", { name: "Change this memory" }).count()).toBe(0);
    expect(await look(reader.page, house().store)).toEqual([]);
    expect(reader.troubles()).toEqual([]);
  });
};
