/** Two homes on one PostgreSQL server, each with its daemon: every slot of every job runs once, also when one is killed. */

import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, inject, test, vi } from "vitest";
import { butler, cleanUp, emptyHome, up } from "../support/owner-processes.ts";
import { PATIENCE } from "../support/patience.ts";
import { administer, withDatabase } from "../support/postgres.ts";

const url = inject("postgresUrl") ?? "";
const name = `twins-${randomBytes(6).toString("hex")}`;
const database = `butler_${name}`;

afterAll(async () => {
  await cleanUp();
  if (url !== "") await administer(url, (client) => client.query(`drop database if exists "${database}" with (force)`));
});

const EVERY_S = 4;
const CRON = `*/${EVERY_S} * * * * *`;
const JOBS = ["promote", "decay_sweep", "episode_cleanup"];

interface Run {
  readonly job: string;
  readonly slot: Date;
  readonly trigger: string;
  readonly state: string;
  readonly attempt: number;
}

const runs = () =>
  administer(withDatabase(url, database), async (client) => {
    const { rows } = await client.query<Run>(
      "select job, slot, trigger, state, attempt from job_runs where slot is not null order by job, slot, attempt",
    );
    return rows;
  });

/** What a daemon says that it ran, as job and slot. */
const ranBy = (stderr: string) =>
  stderr
    .split("\n")
    .filter((line) => line.includes('"a job ran"'))
    .map((line) => JSON.parse(line) as { job: string; slot: string })
    .map(({ job, slot }) => `${job} ${slot}`);

describe.skipIf(url === "")("two daemons on one server", () => {
  test("every slot runs once, and the one that is left goes on when the other is killed", async () => {
    const roster = join(emptyHome(), "roster");
    mkdirSync(join(roster, name), { recursive: true });
    const schedule = JOBS.map((job) => `${job} = { cron = "${CRON}" }`).join("\n");
    const toml = `[butler]\nname = "${name}"\n[butler.schedule]\n${schedule}\n[modules.memory]\n`;
    writeFileSync(join(roster, name, "butler.toml"), toml);
    const variables = { BUTLER_DATABASE_URL: url, BUTLER_ROSTER: roster, BUTLER_LOG: "info" };
    const [one, other] = [emptyHome(), emptyHome()];
    const first = await up(one, [], variables);
    expect((await butler(one, ["remember", "the first memory"], variables)).code).toBe(0);
    const second = await up(other, [], variables);

    let said = "";
    second.child.stderr?.on("data", (chunk: string) => {
      said += chunk;
    });
    const enough = async (n: number) => {
      const slots = new Set((await runs()).map(({ slot }) => slot.getTime()));
      expect(slots.size, `the second daemon said last: ${said.slice(-1_500)}`).toBeGreaterThanOrEqual(n);
    };
    await vi.waitFor(() => enough(5), { ...PATIENCE, interval: 1_000 });
    first.child.kill("SIGKILL");
    const killed = await first.ended;
    const before = new Set((await runs()).map(({ slot }) => slot.getTime())).size;
    await vi.waitFor(() => enough(before + 3), { ...PATIENCE, interval: 1_000 });
    expect((await butler(other, ["stop"], variables)).code).toBe(0);
    const stopped = await second.ended;

    const told = [killed, stopped].map(({ stderr }) => ranBy(stderr));
    expect(told.flat().length).toBeGreaterThanOrEqual(3 * JOBS.length);
    expect(new Set(told.flat()).size).toBe(told.flat().length);

    const all = await runs();
    for (const job of JOBS) {
      const mine = all.filter((run) => run.job === job);
      expect(mine.length).toBeGreaterThanOrEqual(3);
      const slots = mine.map(({ slot, attempt }) => `${slot.toISOString()} ${attempt}`);
      expect(new Set(slots).size).toBe(slots.length);
      // A run after the first attempt is one whose process was killed; nothing that was done is done again.
      const done = mine.filter(({ state }) => state === "done").map(({ slot }) => slot.getTime());
      expect(new Set(done).size).toBe(done.length);
      // No slot is left out unnoticed: after a gap the next run stands for it, and says so.
      for (const [index, run] of mine.entries()) {
        const previous = mine[index - 1];
        if (previous && run.slot.getTime() - previous.slot.getTime() > EVERY_S * 1_000)
          expect(run.trigger).toBe("missed");
      }
    }
  });
});
