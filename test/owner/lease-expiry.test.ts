/**
 * Two owners on one server, one killed in the middle of learning: what it held is the other's when its leases have really ended, and not
 * before. The lease of the job is the database's time and is waited for; that of the shard is the owners' time, which is fixed.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, inject, test, vi } from "vitest";
import { begin, butler, cleanUp, emptyHome, ownerNote } from "../support/owner-processes.ts";
import { PATIENCE } from "../support/patience.ts";
import { administer, withDatabase } from "../support/postgres.ts";

const url = inject("postgresUrl") ?? "";
const name = `l${randomBytes(4).toString("hex")}`;
const LEASE_SECONDS = 15;

/** A model that is asked and never answers. */
const silent = createServer(() => undefined);

afterAll(async () => {
  await cleanUp();
  silent.closeAllConnections();
  silent.close();
  if (url !== "")
    await administer(url, (client) => client.query(`drop database if exists "butler_${name}" with (force)`));
});

function homeWith(extractor: string) {
  const home = emptyHome();
  const roster = join(home, "roster");
  mkdirSync(join(roster, name), { recursive: true });
  const toml = [
    `[butler]\nname = "${name}"`,
    `[modules.memory.jobs]\nlease_seconds = ${LEASE_SECONDS}`,
    `[modules.memory.extractor]\n${extractor}`,
  ];
  writeFileSync(join(roster, name, "butler.toml"), `${toml.join("\n")}\n`);
  const at = (time: string) => ({
    ...{ BUTLER_DATABASE_URL: url, BUTLER_ROSTER: roster, BUTLER_NOW: `2026-05-01T${time}Z`, TEST_KEY: "none" },
  });
  return { home, at };
}

const rows = (text: string) =>
  administer(withDatabase(url, `butler_${name}`), async (client) => (await client.query(text)).rows);

describe.skipIf(url === "")("the leases of a killed owner", () => {
  test("hold while it lives and for their time, and then another owner learns what it was at, once", async () => {
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const dying = homeWith(
      `provider = "openai-compatible"\nmodel = "m"\nbase_url = "http://127.0.0.1:${port}"\napi_key_env = "TEST_KEY"\nprefilter = false`,
    );
    const other = homeWith('provider = "local"');
    const learn = ["job", "run", "consolidate", "--butler", name];
    const said = await butler(dying.home, ["remember", "I live in Porto.", "--butler", name], dying.at("12:00:00"));
    expect(said.code, said.stderr).toBe(0);

    const asked = once(silent, "request");
    const running = begin(dying.home, learn, dying.at("12:00:00"));
    await asked;
    const [held] = await rows("select id, lease_until from job_runs where state = 'running'");
    // It says that it lives: by then its first lease would be nearly over, and the run is still its own.
    await vi.waitFor(async () => {
      const [now] = await rows("select id, lease_until from job_runs where state = 'running'");
      expect(now?.id).toBe(held?.id);
      expect(now?.lease_until.getTime()).toBeGreaterThan(held?.lease_until.getTime());
    }, PATIENCE);
    const refused = await butler(other.home, learn, other.at("12:04:00"));
    expect([refused.code, refused.stderr]).toEqual([expect.any(Number), expect.stringContaining("running right now")]);
    expect(refused.code).not.toBe(0);

    process.kill(ownerNote(dying.home)?.pid ?? 0, "SIGKILL");
    running.child.kill("SIGKILL");
    await running.ended;
    // The job's lease ends by itself. The shard's has not ended at four past: what the dead one was at is left alone.
    const early = await vi.waitFor(
      async () => {
        const tried = await butler(other.home, learn, other.at("12:04:00"));
        expect(tried.stderr).not.toContain("running right now");
        return tried;
      },
      { ...PATIENCE, interval: 500 },
    );
    expect([early.code, early.stdout]).toEqual([0, expect.stringContaining("is being consolidated elsewhere")]);
    const status = "select consolidation_status as status from episodes";
    expect(await rows(status)).toEqual([{ status: "pending" }]);
    const late = await butler(other.home, learn, other.at("12:06:00"));
    expect(late.code, late.stderr).toBe(0);
    expect(await rows(status)).toEqual([{ status: "consolidated" }]);
    expect(await rows("select state, provider from consolidation_runs order by started_at")).toEqual([
      { state: "lost", provider: "openai-compatible" },
      { state: "done", provider: "local" },
    ]);
    expect(await rows("select state, error from job_runs order by started_at, state")).toEqual([
      { state: "failed", error: "the process that ran it ended" },
      { state: "done", error: null },
      { state: "done", error: null },
    ]);
    expect(await rows("select content from facts")).toHaveLength(1);
  });
});
