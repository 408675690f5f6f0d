/** `butler replay --verify` as a person runs it. Needs `npm run build`. */
import { afterAll, expect, test } from "vitest";
import { homeAt } from "../../src/daemon/home.ts";
import { openPgliteExclusive } from "../../src/engine/adapters/db/pglite.ts";
import { butler, cleanUp, seededHome } from "../support/owner-processes.ts";

afterAll(cleanUp);

const SLOW_MS = 20 * 60_000;

test(
  "says 0 beside a living owner, and 4 with the difference when a row was changed behind its back",
  async () => {
    const home = await seededHome();
    const fact = JSON.stringify({ subject: "cat", predicate: "name", content: "Molly" });
    expect((await butler(home, ["call", "memory_store_fact", "--json", fact])).code).toBe(0);
    const good = await butler(home, ["replay", "--verify"]);
    expect([good.code, good.stdout]).toEqual([0, expect.stringMatching(/Replayed \d+ events .*every row is the same/)]);

    await butler(home, ["stop"]);
    const db = await openPgliteExclusive({ dir: homeAt(home).store("general") });
    await db.query("update facts set content = 'Polly'");
    await db.close();
    const bad = await butler(home, ["replay", "--verify"]);
    expect(bad.code).toBe(4);
    expect(bad.stdout).toContain("1 rows differ (1 in facts)");
    expect(bad.stdout).toMatch(/facts [0-9a-f-]{36} content: stored "Polly", replayed "Molly"/);
    const json = await butler(home, ["replay", "--verify", "--json"]);
    expect([json.code, JSON.parse(json.stdout)]).toMatchObject([
      4,
      { butler: "general", equal: false, differing: { facts: 1 } },
    ]);

    expect((await butler(home, ["replay"])).code).toBe(2);
    expect((await butler(home, ["replay", "--verify", "--butler", "nobody"])).code).toBe(3);
    await butler(home, ["stop"]);
  },
  SLOW_MS,
);
