/** Jobs as people meet them: `butler job`, and daemons that do what was missed. Needs `npm run build`. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test, vi } from "vitest";
import { cleanUp, butler as command, emptyHome, ownerNote, up } from "../support/owner-processes.ts";
import { PATIENCE } from "../support/patience.ts";

afterAll(cleanUp);

describe("butler job", () => {
  test("lists, runs, tries without changing, and looks back", async () => {
    const home = emptyHome();
    const early = { BUTLER_NOW: "2026-01-01T00:00:00Z" };
    const late = { BUTLER_NOW: "2027-01-01T00:00:00Z" };
    const fact = ["memory_store_fact", "--subject", "user", "--predicate", "mood", "--permanence", "ephemeral"];
    expect((await command(home, [...fact, "--content", "tired"], early)).code).toBe(0);
    const states = async () => {
      const { stdout } = await command(home, ["stats", "--json"], late);
      return (JSON.parse(stdout) as { facts: { by_state: Record<string, number> } }).facts.by_state;
    };

    const listed = await command(home, ["job", "list"], early);
    expect(listed.stdout).toMatch(/decay_sweep +0 3 \* \* \* +never/);

    const tried = await command(home, ["job", "run", "decay_sweep", "--dry-run"], late);
    expect(tried).toMatchObject({ code: 0 });
    expect(tried.stdout).toContain("Nothing was changed");
    expect((await states()).active).toBe(1);

    const ran = await command(home, ["job", "run", "decay_sweep", "--json"], late);
    expect(ran.code).toBe(0);
    expect(JSON.parse(ran.stdout)).toMatchObject({
      job: "decay_sweep",
      state: "done",
      dry_run: false,
      report: { changed: 1 },
    });
    expect((await states()).active ?? 0).toBe(0);

    const looked = await command(home, ["job", "history", "--limit", "5"], late);
    expect(looked.stdout).toMatch(/decay_sweep +manual +done/);
    const none = await command(home, ["job", "history", "--job", "promote"], late);
    expect(none.stdout).toBe("No job has run yet.\n");

    expect((await command(home, ["job", "run", "nap"], late)).code).toBe(2);
    expect((await command(home, ["job", "run"], late)).code).toBe(2);
    expect((await command(home, ["job", "history", "--limit", "many"], late)).code).toBe(2);
    expect((await command(home, ["job", "run", "decay_sweep", "--butler", "nobody"], late)).code).toBe(3);
    await command(home, ["stop"]);
  });
});

describe("a daemon", () => {
  test("runs what it missed when it comes up, keeps a note of it, and closes the store again", async () => {
    const home = emptyHome();
    await command(home, ["remember", "long ago"], { BUTLER_NOW: "2026-01-01T00:00:00Z" });
    await command(home, ["stop"]);
    const daemon = await up(home);
    const runs = async () => {
      const { stdout } = await command(home, ["job", "history", "--json"]);
      return (JSON.parse(stdout) as { runs: { job: string; trigger: string; state: string }[] }).runs;
    };
    await vi.waitFor(async () => expect((await runs()).length).toBeGreaterThanOrEqual(3), {
      ...PATIENCE,
      interval: 500,
    });
    for (const job of ["promote", "decay_sweep", "episode_cleanup"])
      expect((await runs()).filter((run) => run.job === job)).toMatchObject([{ trigger: "missed", state: "done" }]);
    expect(
      Object.keys(JSON.parse(readFileSync(join(home, "run", "schedule.json"), "utf8")).general.last).sort(),
    ).toContain("decay_sweep");
    await command(home, ["stop"]);
    await daemon.ended;
    expect(ownerNote(home)).toBeUndefined();
  });

  test("that a client started runs what was missed too, and leaves when it is done", async () => {
    const home = emptyHome();
    await command(home, ["remember", "long ago"], { BUTLER_NOW: "2026-01-01T00:00:00Z" });
    await command(home, ["stop"]);
    expect((await command(home, ["stats"], { BUTLER_IDLE_SECONDS: "2" })).code).toBe(0);
    await vi.waitFor(() => expect(ownerNote(home)).toBeUndefined(), { ...PATIENCE, interval: 200 });
    const notes = JSON.parse(readFileSync(join(home, "run", "schedule.json"), "utf8"));
    expect(Object.keys(notes.general.last).toSorted()).toEqual([
      "consolidate",
      "decay_sweep",
      "episode_cleanup",
      "hygiene",
      "partitions",
      "promote",
      "retention",
    ]);
  });
});
