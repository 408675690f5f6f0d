/**
 * Two tenants' tokens at the doors of a memory whose statements ask for no tenant: row security alone keeps them apart. The calls are those of the
 * hostile suite with real processes (`test/owner/hostile.test.ts`), over REST, MCP and the pages' API. `BUTLER_HOSTILE_TIMES=84` makes 10,080 of them on each store.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { type Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, it } from "vitest";
import type { Backend, Principal } from "../../src/doors/backend.ts";
import { loopbackHosts } from "../../src/doors/http/guards.ts";
import { httpApp } from "../../src/doors/http/http.ts";
import { silentLog } from "../../src/engine/adapters/log.ts";
import { callTool } from "../../src/engine/tools/call.ts";
import { tools } from "../../src/engine/tools/index.ts";
import { blindDb } from "../support/blind-db.ts";
import { holdings } from "../support/holdings.ts";
import { attempt, dice } from "../support/hostile/attempts.ts";
import { type Attacker, bearer, plant, TENANTS, type World, wantedTokens } from "../support/hostile/world.ts";
import { PatientClient } from "../support/patient-client.ts";
import { onEachStore, openRig, type Rig } from "../support/stores.ts";

const SHARED = "shared";
/** Of each tenant, on each store. */
const CALLS = Number(process.env.BUTLER_HOSTILE_TIMES ?? 1) * 60;

async function serve(rig: Rig, attackers: readonly Attacker[]) {
  const principals = new Map(
    attackers.map(({ token, ...who }): [string, Principal] => [token ?? "", { ...who, voice: "agent" }]),
  );
  const backend: Backend = {
    butlers: async () => [{ name: SHARED, role: "memory", description: "" }],
    invoke: (principal, _, request, following) => callTool(rig.memory, principal, request, following),
    health: async () => ({ ok: true, version: "1", model: "", butlers: [{ name: SHARED, store: "open" }] }),
  };
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  const ending = new AbortController();
  const app = httpApp({
    ...{ backend, tools, log: silentLog, version: "1", signal: ending.signal, allowedHosts: loopbackHosts(port) },
    authenticate: async (token) => principals.get(token),
  });
  server.on("request", getRequestListener(app.fetch));
  return {
    address: `http://127.0.0.1:${port}`,
    close() {
      ending.abort();
      server.closeAllConnections();
      server.close();
    },
  };
}

onEachStore("hostile callers, where no statement asks for a tenant", (open) => {
  it("get and change nothing of the other tenant", async () => {
    const options = { butler: SHARED, role: "memory", model: false } as const;
    const rig = await open(options);
    const blind = blindDb(rig.db);
    const blinded = await openRig(blind.db, options);
    const attackers = wantedTokens().map((one, n): Attacker => ({ ...one, token: `bm_${n}` }));
    const served = await serve(blinded, attackers);
    const base = { address: served.address, socket: "", places: [SHARED, SHARED] as const };
    const world: World = {
      ...{ ...base, attackers, transcript: { path: "/nowhere.jsonl", word: "wqfilezx" } },
      planted: await plant(base, attackers, true),
    };
    const clients = new Map<string, Promise<Client>>();
    const clientOf = (who: Attacker, place: string) => {
      const known = clients.get(who.name) ?? connect(served.address, who, place);
      clients.set(who.name, known);
      return known;
    };
    const leaks: string[] = [];
    let allowed = 0;
    for (const [nth, tenant] of TENANTS.entries()) {
      await blinded.settled();
      const other = TENANTS[1 - nth] ?? tenant;
      const before = await holdings(rig.db, other);
      const d = dice(4_000 + nth);
      const who = attackers.filter((one) => one.tenant === tenant);
      for (let n = 0; n < CALLS; n++) {
        const caller = d.one(who);
        const one = attempt(d, world, caller, clientOf);
        const { status, text } = await one.run();
        if (status < 400) allowed += 1;
        const foreign = world.planted.filter((row) => row.tenant === other && text.includes(row.word));
        if (foreign.length > 0 || status === 500)
          leaks.push(`${caller.name} ${one.door} ${one.words} → ${status} ${text.slice(0, 300)}`);
      }
      await blinded.settled();
      expect(leaks.slice(0, 5)).toEqual([]);
      expect(await holdings(rig.db, other)).toEqual(before);
    }
    expect(allowed).toBeGreaterThan(CALLS / 4);
    expect(blind.rewritten.size).toBeGreaterThan(20);
    expect([...blind.missed]).toEqual([]);
    for (const client of clients.values()) await (await client).close();
    served.close();
    await blinded.memory.close();
  });
});

async function connect(address: string, who: Attacker, place: string): Promise<Client> {
  const client = new PatientClient({ name: "hostile", version: "1" });
  const requestInit = { headers: bearer(who.token ?? "") };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${address}/butlers/${place}/mcp?tools=full`), { requestInit }),
  );
  return client;
}
