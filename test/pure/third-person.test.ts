/** What the user says of themselves in an order is written down of the user. */
import { describe, expect, test } from "vitest";
import { instruction } from "../../src/engine/adapters/extractor/local/patterns/instructions.ts";
import { saidOfThem } from "../../src/engine/adapters/extractor/local/phrases.ts";

describe("orders in which the user speaks of themselves", () => {
  test.each([
    ["Always show me what I had before", "Always show the user what the user had before."],
    ["Always keep the name I asked for", "Always keep the name the user asked for."],
    ["Never delete a file I don't mention", "Never delete a file the user doesn't mention."],
    ["Never delete what I never asked you to delete", "Never delete what the user never asked you to delete."],
    ["Always use the shell I always use", "Always use the shell the user always uses."],
    ["Never push what I haven't reviewed", "Never push what the user hasn't reviewed."],
    ["Always say which file I need to open", "Always say which file the user needs to open."],
    ["Never assume I'm at work", "Never assume the user is at work."],
    ["Always ask before you use what I've written", "Always ask before you use what the user has written."],
    ["Never run what I can't undo", "Never run what the user can't undo."],
  ])("%s", (said, made) => {
    expect(instruction(said)?.made).toBe(made);
  });

  test("no past or modal verb gets an s", () => {
    for (const verb of ["had", "said", "asked", "would", "was", "went", "tried"]) expect(saidOfThem(verb)).toBe(verb);
    const present = ["use", "go", "try", "have", "am", "need", "do"].map(saidOfThem);
    expect(present).toEqual(["uses", "goes", "tries", "has", "is", "needs", "does"]);
  });
});
