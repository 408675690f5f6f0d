/** Three daemons on one server, one killed in the middle of everything: nothing is lost, nothing is done twice, and the backlog drains. */
import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, inject, test, vi } from "vitest";
import { agent, butler, cleanUp, emptyHome, up } from "../support/owner-processes.ts";
import { PATIENCE } from "../support/patience.ts";
import { administer, withDatabase } from "../support/postgres.ts";

const url = inject("postgresUrl") ?? "";
const NAMES = ["a", "b"].map((letter) => `${letter}${randomBytes(4).toString("hex")}`);

afterAll(async () => {
  await cleanUp();
  if (url === "") return;
  await administer(url, async (client) => {
    for (const name of NAMES) await client.query(`drop database if exists "butler_${name}" with (force)`);
  });
});

const rows = <R>(name: string, text: string): Promise<R[]> =>
  administer(withDatabase(url, `butler_${name}`), async (client) => (await client.query(text)).rows as R[]);

const PEOPLE = ["Ann", "Bea", "Cid", "Dora", "Ed", "Fay"];
const TOWNS = ["Rome", "Oslo", "Paris", "Lima"];

describe.skipIf(url === "")("three daemons on one server", () => {
  test("one is killed: every episode is there once, learned from once, in order, and the rest do the work", async () => {
    const roster = join(emptyHome(), "roster");
    for (const name of NAMES) {
      mkdirSync(join(roster, name), { recursive: true });
      const schedule = `[butler.schedule]\nconsolidate = { cron = "*/2 * * * * *" }\n`;
      const extractor = `[modules.memory.extractor]\nprovider = "local"\n`;
      writeFileSync(join(roster, name, "butler.toml"), `[butler]\nname = "${name}"\n${schedule}${extractor}`);
    }
    const variables = { BUTLER_DATABASE_URL: url, BUTLER_ROSTER: roster };
    const homes = [emptyHome(), emptyHome(), emptyHome()];
    const daemons = await Promise.all(homes.map((home) => up(home, [], variables)));
    const told: string[] = [];
    let left = PEOPLE.length * TOWNS.length;
    /** Each daemon has a writer for each butler; who writes to the dead one gets another owner by itself. */
    const write = async (home: string, at: number) => {
      const clients = await Promise.all(NAMES.map((name) => agent(home, variables, ["--butler", name])));
      for (const [n, town] of TOWNS.entries())
        for (const person of PEOPLE.filter((_, index) => index % homes.length === at)) {
          const content = `${person} lives in ${town}. That was said as number ${n} of ${person}.`;
          for (const client of clients)
            for (let done = false; !done; ) {
              const input = { content, idempotency_key: `${person} ${n}` };
              done = await client.call("memory_store_episode", input).then(
                () => true,
                () => new Promise<boolean>((again) => setTimeout(() => again(false), 100)),
              );
            }
          told.push(content);
          left -= 1;
        }
    };
    const writing = Promise.all(homes.map(write));
    await vi.waitFor(() => expect(told.length).toBeGreaterThan(PEOPLE.length), PATIENCE);
    daemons[0]?.child.kill("SIGKILL");
    await daemons[0]?.ended;
    await writing;
    expect(left).toBe(0);

    // What the dead one held is free when its lease has ended; that time is not waited for.
    for (const name of NAMES) {
      await rows(name, "update job_runs set lease_until = now() where state = 'running'");
      await rows(name, "update consolidation_runs set lease_until = started_at where state = 'running'");
    }
    const pending = "select count(*)::int4 as n from episodes where consolidation_status = 'pending'";
    for (const name of NAMES) {
      await vi.waitFor(async () => expect(await rows(name, pending)).toEqual([{ n: 0 }]), {
        ...PATIENCE,
        interval: 500,
      });
      const stored = await rows<{ content: string }>(name, "select content from episodes");
      expect(stored.map(({ content }) => content).toSorted()).toEqual(told.toSorted());
      const twice = `select e, count(*) from consolidation_runs r, unnest(r.episode_ids) as e
        where r.state = 'done' group by e having count(*) > 1`;
      expect(await rows(name, twice)).toEqual([]);
      const disorder = `with seen as (
          select r.started_at, e.created_at, max(e.created_at) over (order by r.started_at range between unbounded preceding
            and '1 microsecond' preceding) as before
          from consolidation_runs r, unnest(r.episode_ids) as x join episodes e on e.id = x where r.state = 'done')
        select * from seen where before > created_at`;
      expect(await rows(name, disorder)).toEqual([]);
      const live =
        "select count(*)::int4 as n, count(distinct subject)::int4 as people from facts where validity = 'active'";
      const [facts] = await rows<{ n: number; people: number }>(name, live);
      expect(facts?.n).toBe(facts?.people);
      expect(facts?.people).toBeGreaterThan(0);
    }
    const [, home = ""] = homes;
    for (const name of NAMES)
      expect((await butler(home, ["replay", "--verify", "--butler", name], variables)).code).toBe(0);
  });
});
