/**
 * Two tenants' tokens at the doors of a memory whose statements ask for no tenant: row security alone keeps them apart. The calls are those of the
 * hostile suite with real processes (`test/owner/hostile.test.ts`), over REST, MCP, hooks and the pages' API. `BUTLER_HOSTILE_TIMES=56` makes 10,080 of them on each store.
 */
import { type Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, it } from "vitest";
import type { Principal } from "../../src/doors/backend.ts";
import { blindDb } from "../support/blind-db.ts";
import { differences, holdings } from "../support/holdings.ts";
import { attempt, type Clients, dice } from "../support/hostile/attempts.ts";
import {
  type Attacker,
  bearer,
  lookingAt,
  maySee,
  plant,
  TENANTS,
  type Tenant,
  type World,
  wantedTokens,
} from "../support/hostile/world.ts";
import { PatientClient } from "../support/patient-client.ts";
import { serveRig } from "../support/served.ts";
import { onEachStore, openRig } from "../support/stores.ts";

const SHARED = "shared";
/** Of each tenant's tokens and of a cross-tenant admin, on each store. */
const TIMES = Number(process.env.BUTLER_HOSTILE_TIMES ?? 1);
const CALLS = TIMES * 60;
const ELEVATED = "access.elevated";

onEachStore("hostile callers, where no statement asks for a tenant", (open) => {
  it("get and change nothing of the other tenant", async () => {
    const options = { butler: SHARED, role: "memory", model: false } as const;
    const rig = await open(options);
    const blind = blindDb(rig.db);
    const blinded = await openRig(blind.db, options);
    const attackers = wantedTokens().map((one, n): Attacker => ({ ...one, token: `bm_${n}` }));
    const principals = attackers.map(({ token, ...who }): [string, Principal] => [
      token ?? "",
      { ...who, voice: "agent" },
    ]);
    const served = await serveRig(blinded, new Map(principals));
    const base = { address: served.address, socket: "", places: [SHARED, SHARED] as const };
    const world: World = {
      ...{ ...base, attackers, transcript: { path: "/nowhere.jsonl", word: "wqfilezx" } },
      planted: await plant(base, attackers, true),
    };
    const clients = new Map<string, Promise<Client>>();
    const clientOf: Clients = (who, place, looksAt) => {
      const key = `${who.name} ${looksAt}`;
      const known = clients.get(key) ?? connect(served.address, who, place, looksAt);
      clients.set(key, known);
      return known;
    };
    /** Once everything that hooks have left is stored, and what is done after an answer. */
    const held = async (tenant: Tenant) => {
      await served.sweep();
      await blinded.settled();
      return holdings(rig.db, tenant);
    };
    const leaks: string[] = [];
    const answers: Record<string, number> = {};
    let [allowed, looks] = [0, 0];
    const attack = async (seed: number, who: readonly Attacker[]) => {
      const d = dice(seed);
      for (let n = 0; n < CALLS; n++) {
        const caller = d.one(who);
        const one = attempt(d, world, caller, clientOf);
        const { status, text } = await one.run();
        answers[one.door] = (answers[one.door] ?? 0) + 1;
        if (status < 400) allowed += 1;
        const shown = world.planted.filter(({ word }) => text.includes(word));
        if (shown.some(({ tenant }) => tenant !== caller.tenant)) looks += 1;
        const foreign = shown.filter(
          (row) => row.tenant !== caller.tenant && !maySee(caller, one.project, row, one.looksAt),
        );
        if (foreign.length > 0 || status === 500)
          leaks.push(`${caller.name} ${one.door} ${one.words} → ${status} ${text.slice(0, 300)}`);
      }
      expect(leaks.slice(0, 5)).toEqual([]);
    };
    for (const [nth, tenant] of TENANTS.entries()) {
      const other = TENANTS[1 - nth] ?? tenant;
      const before = await held(other);
      await attack(
        4_000 + nth,
        attackers.filter((one) => one.tenant === tenant && one.crossTenant !== true),
      );
      expect(differences(before, await held(other))).toEqual([]);
    }
    expect(looks).toBe(0);

    // One who may look at another tenant changes nothing there but its stream, which tells of every look.
    const before = await held("south");
    await attack(
      4_100,
      attackers.filter(({ name }) => name === "north-cross-tenant"),
    );
    const after = await held("south");
    const told = (after.memory_events ?? []).filter((row) => row.includes(ELEVATED));
    const without = Object.entries(after).map(([table, rows]) => [
      table,
      rows.filter((row) => !row.includes(ELEVATED)),
    ]);
    expect(differences(before, Object.fromEntries(without))).toEqual([]);
    expect(looks).toBeGreaterThan(0);
    expect(told.length).toBeGreaterThanOrEqual(looks);

    expect(allowed).toBeGreaterThan(CALLS / 4);
    expect(answers.hook).toBeGreaterThan(CALLS / 3);
    expect(blind.rewritten.size).toBeGreaterThan(20);
    expect([...blind.missed]).toEqual([]);
    for (const client of clients.values()) await (await client).close();
    await served.close();
    await blinded.memory.close();
    if (TIMES > 1) console.info(JSON.stringify({ answers, allowed, looks, events: told.length }));
  });
});

async function connect(address: string, who: Attacker, place: string, looksAt: string | undefined): Promise<Client> {
  const client = new PatientClient({ name: "hostile", version: "1" });
  const requestInit = { headers: { ...bearer(who.token ?? ""), ...lookingAt(looksAt) } };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${address}/butlers/${place}/mcp?tools=full`), { requestInit }),
  );
  return client;
}
