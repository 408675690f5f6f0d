/** `butler learning` as a person meets it: what has moved the reader's bars, starting again, and the examples as a corpus. Needs `npm run build`. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { butler, cleanUp, emptyHome } from "../support/owner-processes.ts";

afterAll(cleanUp);

const TOLD = [
  "always run the linter before you commit anything here",
  "never push directly to the main branch in this repo",
  "we use tabs and not spaces in this repo",
  "never touch the generated files by hand in this project",
  "our staging database listens on port 5433, not on the default one",
];

/** Of messages as transcripts tell them: nothing but the text. */
async function taught(home: string): Promise<void> {
  for (const text of TOLD)
    expect((await butler(home, ["memory_store_episode", "--content", text, "--speaker", "user"])).code).toBe(0);
  expect(await butler(home, ["job", "run", "consolidate"])).toMatchObject({ code: 0 });
}

// biome-ignore lint/suspicious/noExplicitAny: answers are checked by the assertions of each test, field by field.
type Json = any;

describe("butler learning", () => {
  test("shows what moved the bars, exports it as labelled messages, and starts again", async () => {
    const home = emptyHome();
    const json = async (args: readonly string[]): Promise<Json> =>
      JSON.parse((await butler(home, [...args, "--json"])).stdout);
    await taught(home);
    const before = await butler(home, ["learning"]);
    expect(before).toMatchObject({ code: 0 });
    expect(before.stdout).toMatch(/rule +70 % +70 % +as shipped/);
    expect(before.stdout).toContain("Nothing that the reader learned was forgotten");

    const { events } = await json(["memory_activity_stream", "--limit", "200"]);
    const read = events.filter(
      ({ event_type, payload }: Json) =>
        /^(?:fact|rule)\.stored$/.test(event_type) && /^reader-/.test(payload.row?.metadata?.learned?.by),
    );
    expect(read.length).toBeGreaterThanOrEqual(2);
    const [one, other] = read;
    await butler(home, ["memory_forget", "--id", one.entity_id]);
    await butler(home, ["memory_confirm", "--id", other.entity_id]);

    const shown = await butler(home, ["learning"]);
    expect(shown.stdout).toContain(`“${one.payload.row.content}” was forgotten`);
    expect(shown.stdout).toContain(`“${other.payload.row.content}” was confirmed`);
    expect((await json(["learning"])).examples.map(({ judgement }: Json) => judgement)).toEqual([
      "confirmed",
      "forgotten",
    ]);

    const file = join(home, "examples.jsonl");
    expect(await butler(home, ["learning", "export", "--out", file])).toMatchObject({ code: 0, stdout: "" });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        text: other.payload.row.content,
        keep: [{ part: other.payload.row.content, kind: other.payload.row.metadata.learned.kind }],
      },
      { text: one.payload.row.content, keep: [], like: "forgotten" },
    ]);
    expect((await butler(home, ["learning", "export"])).stdout).toBe(readFileSync(file, "utf8"));
    expect(await butler(home, ["learning", "export", "--out", file])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("exists already"),
    });
    const measured = await butler(home, ["bench", "learning", "--data", file]);
    expect(measured).toMatchObject({ code: 0, stdout: expect.stringContaining("examples: 2 messages") });

    expect((await butler(home, ["learning", "reset"])).stdout).toContain("starts again from the shipped bars");
    expect((await butler(home, ["learning", "reset"])).stdout).toContain("Nothing to reset");
    expect((await json(["learning"])).bars.every(({ bar, shipped }: Json) => bar === shipped)).toBe(true);
    expect((await butler(home, ["log", "--no-follow"])).stdout).toContain("as shipped again");
    expect(await butler(home, ["replay", "--verify"])).toMatchObject({ code: 0 });
  });

  test("says what is wrong with how it was called", async () => {
    const home = emptyHome();
    const refused = async (...args: string[]) => {
      const { code, stderr } = await butler(home, ["learning", ...args]);
      return [code, stderr];
    };
    expect(await refused("unlearn")).toEqual([2, expect.stringContaining("reset or export")]);
    expect(await refused("reset", "--out", "x")).toEqual([2, expect.stringContaining("butler learning export")]);
    expect(await refused("--limit", "many")).toEqual([2, expect.stringContaining("from 1 to 1000")]);
    expect(await refused("--butler", "nobody")).toEqual([3, expect.stringContaining("nobody")]);
    expect((await refused("export", "--out", join(home, "no", "such", "folder")))[0]).toBe(1);
    expect((await butler(home, ["learning", "--help"])).stdout).toContain("butler learning reset");
  });
});
