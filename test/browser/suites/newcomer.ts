/** Somebody who has just started the daemon: one click, and each of the five questions is answered in at most three actions. */
import { expect, it } from "vitest";
import type { Suite } from "../../support/browser/house.ts";
import { look, vitals } from "../../support/browser/look.ts";

/** Nobody has used it yet. */
const BUTLER = "travel";
const MEMORY = `/butlers/${BUTLER}/memory`;
const MOST_ACTIONS = 3;

export const newcomer: Suite = (house) => {
  it("sees what to do, fills an empty memory by one click, and finds every answer", async () => {
    const person = await house().person();
    const { page } = person;
    const { layoutShift, bytes } = await vitals(page);
    expect([layoutShift <= 0.1, bytes <= 300 * 1024]).toEqual([true, true]);
    expect(await look(page, house().store, "newcomer-fleet")).toEqual([]);
    const rail = page.getByRole("navigation", { name: "Butlers and pages" });
    const main = page.getByRole("main");
    const sentence = page.getByRole("heading", { level: 1 });

    await rail.getByRole("link", { name: new RegExp(`^${BUTLER}`) }).click();
    await sentence.getByText(`${BUTLER} knows nothing yet.`).waitFor();
    await main.getByText("butler install claude-code").waitFor();
    expect(await look(page, house().store, "newcomer-empty")).toEqual([]);
    await main.getByRole("button", { name: /example memories/ }).click();
    await sentence.getByText(/Learned \d+ facts and \d+ rules today/).waitFor();
    // Offered when the story has been told to its end.
    await main.getByRole("button", { name: "Take them away" }).waitFor();
    await main.getByRole("link", { name: "2 memories to review" }).waitFor();
    expect(await look(page, house().store, "newcomer-filled")).toEqual([]);

    let actions = 0;
    const act = async (work: Promise<unknown>) => {
      actions += 1;
      await work;
    };
    const answered = async (question: string, work: () => Promise<void>) => {
      actions = 0;
      await page.goto(MEMORY);
      await sentence.getByText(/Learned/).waitFor();
      await work();
      expect([question, actions <= MOST_ACTIONS]).toEqual([question, true]);
    };
    await answered("What does it know?", async () => {
      await act(rail.getByRole("link", { name: /^Facts/ }).click());
      await main.getByText("Kubernetes in Frankfurt, three nodes").waitFor();
    });
    await answered("What did it learn today?", async () => {
      await main.getByText("Send the label printers ZPL, never a PDF.").first().waitFor();
    });
    await answered("Why did my agent say that?", async () => {
      await act(page.keyboard.press("/"));
      await page.keyboard.type("approves releases Petra");
      await act(page.keyboard.press("Enter"));
      await act(main.getByRole("link", { name: /Petra, head of operations/ }).click());
      const source = page.getByRole("region", { name: "Where it comes from, what came of it" });
      await source
        .getByText(/Petra has to approve each release/)
        .first()
        .waitFor();
    });
    await answered("How do I correct it?", async () => {
      await act(
        main
          .getByRole("link", { name: /Send the label printers ZPL/ })
          .first()
          .click(),
      );
      await act(page.getByRole("button", { name: "Correct" }).click());
      await page.getByLabel("What is true instead").fill("Send the label printers ZPL or EPL, never a PDF.");
      await act(page.getByRole("button", { name: "Save" }).click());
      await sentence.getByText("ZPL or EPL").waitFor();
    });
    await answered("Is it well?", async () => {
      await rail.getByRole("link", { name: new RegExp(`^${BUTLER}\\s*, (well|not well)`) }).waitFor();
    });
    await page.goto(MEMORY);
    await main.getByRole("button", { name: "Take them away" }).click();
    await sentence.getByText(`${BUTLER} knows nothing yet.`).waitFor();
    expect(person.troubles()).toEqual([]);
  });
};
