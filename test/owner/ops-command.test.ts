/** `butler ops` as a person runs it: beside a daemon that is written to, and killed in the middle. Needs `npm run build`. */
import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, inject, test, vi } from "vitest";
import { agent, begin, butler, cleanUp, emptyHome, up } from "../support/owner-processes.ts";
import { PATIENCE } from "../support/patience.ts";
import { administer, withDatabase } from "../support/postgres.ts";

const url = inject("postgresUrl") ?? "";
const name = `o${randomBytes(4).toString("hex")}`;

afterAll(async () => {
  await cleanUp();
  if (url !== "")
    await administer(url, (client) => client.query(`drop database if exists "butler_${name}" with (force)`));
});

test("an embedded store has no need of parts, and says so", async () => {
  const home = emptyHome();
  for (const verb of ["plan", "partition"]) {
    const told = await butler(home, ["ops", verb]);
    expect([told.code, told.stdout]).toEqual([0, expect.stringContaining("no need to")]);
  }
  expect((await butler(home, ["ops"])).code).toBe(2);
});

describe.skipIf(url === "")("on a server", () => {
  test("the plan is told; a division that is killed goes on, and the daemon beside it loses nothing", async () => {
    const home = emptyHome();
    const roster = join(home, "roster");
    mkdirSync(join(roster, name), { recursive: true });
    writeFileSync(join(roster, name, "butler.toml"), `[butler]\nname = "${name}"\n[modules.memory]\n`);
    const variables = { BUTLER_DATABASE_URL: url, BUTLER_ROSTER: roster };
    const daemon = await up(home, [], variables);
    const client = await agent(home, variables, ["--butler", name]);
    const told: string[] = [];
    const store = async (content: string) => {
      await client.call("memory_store_episode", { content });
      told.push(content);
    };
    await store("The first heron was seen at the pond");

    const ops = (...args: string[]) => ["ops", ...args, "--butler", name];
    const plan = await butler(home, ops("plan"), variables);
    expect(plan.stdout, plan.stderr).toMatch(/memory_events: about [\d,]+ rows, .*not divided\n +Dividing pays from/);
    expect((await butler(home, ops("partition"), variables)).stdout).toContain("does not pay yet");

    const database = withDatabase(url, `butler_${name}`);
    const standing = () =>
      administer(database, async (admin) => {
        const { rows } = await admin.query<{ standing: string }>(
          `select relname || case when relkind = 'p' then ' divided' when exists (select from pg_constraint
             where conrelid = c.oid and conname = relname || '_until' and convalidated) then ' begun' else '' end as standing
           from pg_class c where oid in ('memory_events'::regclass, 'episodes'::regclass) order by relname desc`,
        );
        return rows.map((row) => row.standing);
      });
    /** Runs it until it stands there and cannot go on, and kills it. */
    const killedAt = (hold: string, wanted: string[]) =>
      administer(database, async (holder) => {
        await holder.query("begin");
        await holder.query(hold);
        const victim = begin(home, ops("partition", "--anyway"), variables);
        await vi.waitFor(async () => expect(await standing()).toEqual(wanted), PATIENCE);
        victim.child.kill("SIGKILL");
        expect((await victim.ended).code).toBe(null);
        await holder.query("rollback");
      });
    // Before the exchange of the first table, which takes this lock; then before the second, which somebody reads for long.
    await killedAt("select pg_advisory_xact_lock(3853314791062309107)", ["memory_events begun", "episodes"]);
    await killedAt("select from episodes", ["memory_events divided", "episodes"]);
    await store("The second heron was seen at the lake");

    const again = await butler(home, ops("partition", "--anyway"), variables);
    expect(again.code, again.stderr).toBe(0);
    expect(await standing()).toEqual(["memory_events divided", "episodes divided"]);
    await store("The third heron was seen at the sea");
    expect((await butler(home, ops("plan"), variables)).stdout).toMatch(
      /episodes: .*divided into 5 parts, ready until/,
    );
    const stored = await administer(
      database,
      async (admin) => (await admin.query("select content from episodes")).rows,
    );
    expect(stored.map(({ content }) => content).toSorted()).toEqual(told.toSorted());
    const replay = await butler(home, ["replay", "--verify", "--butler", name], variables);
    expect([replay.code, replay.stdout]).toEqual([0, expect.stringContaining("every row is the same")]);
    const job = await butler(home, ["job", "run", "partitions", "--butler", name], variables);
    expect(job.code, job.stderr).toBe(0);
    daemon.child.kill("SIGTERM");
    await daemon.ended;
  });
});
