/**
 * Other people's tokens at every door: two tenants with six kinds of token each, a neighbour in the same tenant, an agent on
 * the local socket, and one who may look at other tenants try to read and change what is not theirs. Nothing foreign comes back, and no foreign row changes.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, describe, expect, inject, test, vi } from "vitest";
import { homeAt } from "../../src/daemon/home.ts";
import { openPglite } from "../../src/engine/adapters/db/pglite.ts";
import type { Db } from "../../src/engine/adapters/db/port.ts";
import { openPostgres } from "../../src/engine/adapters/db/postgres.ts";
import { type Attempt, attempt, type Clients, dice, UNKNOWN } from "../support/hostile/attempts.ts";
import {
  type Answer,
  type Attacker,
  bearer,
  lookingAt,
  makeTokens,
  maySee,
  overPort,
  plant,
  send,
  TENANTS,
  type Tenant,
  type World,
} from "../support/hostile/world.ts";
import { butler, cleanUp, emptyHome, up, type Variables } from "../support/owner-processes.ts";
import { PATIENCE } from "../support/patience.ts";
import { PatientClient } from "../support/patient-client.ts";
import { transcript } from "../support/transcript.ts";

const OWN = "ada";
const SHARED = "shared";
const url = inject("postgresUrl");

afterAll(async () => {
  await cleanUp();
  if (url === undefined) return;
  const db = await openPostgres({ url, max: 1 });
  for (const name of [OWN, SHARED]) await db.exec(`drop database if exists "butler_${name}" with (force)`);
  await db.close();
});

/** `BUTLER_HOSTILE_TIMES=8` makes some 11,600 calls on the embedded store, 14 some 10,500 on a server. */
const TIMES = Number(process.env.BUTLER_HOSTILE_TIMES ?? 1);

interface Lane {
  readonly databaseUrl: string | undefined;
  /** Calls of each group of attackers. */
  readonly calls: Readonly<Record<"tenant" | "neighbour" | "local" | "across", number>>;
  open(home: string, name: string): Promise<Db>;
}

const LANES: Readonly<Record<string, Lane>> = {
  PGlite: {
    databaseUrl: undefined,
    calls: { tenant: TIMES * 450, neighbour: TIMES * 200, local: TIMES * 200, across: TIMES * 150 },
    open: (home, name) => openPglite({ dir: homeAt(home).store(name) }),
  },
  PostgreSQL: {
    databaseUrl: url,
    calls: { tenant: TIMES * 250, neighbour: TIMES * 100, local: TIMES * 60, across: TIMES * 90 },
    open: (_, name) => {
      const place = new URL(url ?? "");
      place.pathname = `/butler_${name}`;
      return openPostgres({ url: place.href, max: 1 });
    },
  },
};

/** Everything that is kept for a tenant. */
const TABLES = [
  "consolidation_runs",
  "episode_references",
  "episodes",
  "facts",
  "idempotency_keys",
  "memory_events",
  "memory_links",
  "rule_applications",
  "rules",
];

const BY_ID: readonly (readonly [method: string, route: string])[] = [
  ["GET", "memories/:id"],
  ["GET", "memories/:id?as_of=2031-05-05T12:00:00Z"],
  ["GET", "memories/:id/why?query=gate"],
  ["GET", "runs/:id"],
  ["POST", "memories/:id/confirm"],
  ["POST", "memories/:id/forget"],
  ["POST", "memories/:id/restore"],
  ["POST", "memories/:id/helpful"],
  ["POST", "memories/:id/correct"],
];

type Rows = Readonly<Record<string, readonly string[]>>;
/** By place and tenant. */
type Seen = ReadonlyMap<string, Rows>;

const EVERYBODY = ["north", "south", "default"] as const;
const limitedTo = (seen: Seen, tenants: readonly Tenant[]): Seen =>
  new Map([...seen].filter(([name]) => tenants.some((tenant) => name.endsWith(`: ${tenant}`))));

async function rowsOf(db: Db, tenant: Tenant): Promise<Rows> {
  const kept: Record<string, string[]> = {};
  for (const table of TABLES) {
    const rows = await db.query<{ row: string }>(
      `select to_jsonb(t)::text as row from ${table} t where tenant_id = $1 order by 1`,
      [tenant],
    );
    kept[table] = rows.map(({ row }) => row);
  }
  return kept;
}

type Made = Attempt & { readonly caller: Attacker };

const isLook = (row: string) => row.includes('"access.elevated"');
const withoutLooks = (rows: Rows): Rows =>
  Object.fromEntries(Object.entries(rows).map(([table, kept]) => [table, kept.filter((row) => !isLook(row))]));

/** Rows of these tables that lie in a scope, without what counts over all of a tenant. */
const inScope = (rows: Rows, scope: string): string[] =>
  ["episodes", "facts", "rules"].flatMap((table) =>
    (rows[table] ?? []).filter((row) => {
      const read = JSON.parse(row) as { scope?: string; butler?: string };
      return (read.scope ?? read.butler)?.split("/", 1)[0] === scope;
    }),
  );

describe.each(Object.entries(LANES))("hostile callers on %s", (lane, { databaseUrl, calls, open }) => {
  test.skipIf(lane === "PostgreSQL" && url === undefined)("get and change nothing foreign", async () => {
    const home = emptyHome();
    const roster = join(home, "roster");
    for (const [name, role] of [
      [OWN, ""],
      [SHARED, 'role = "memory"\n'],
    ] as const) {
      mkdirSync(join(roster, name), { recursive: true });
      writeFileSync(join(roster, name, "butler.toml"), `[butler]\nname = "${name}"\n${role}\n[modules.memory]\n`);
    }
    const variables: Variables = {
      BUTLER_ROSTER: roster,
      // Nothing is due while the clock stands still: what changes, a call has changed.
      BUTLER_NOW: "2031-05-05T12:00:00Z",
      ...(databaseUrl === undefined ? {} : { BUTLER_DATABASE_URL: databaseUrl }),
    };
    const tokens = await makeTokens(home, variables);
    const fileWord = "wqfilezx";
    const said = transcript(join(home, "mine.jsonl"), "evening", join(home, "project"));
    said.user(`Please note that the harbour gate code is violet thunder, says ${fileWord}`);
    said.agent("Noted.");

    let rig = await up(home, [], variables);
    const base = { address: rig.address, socket: homeAt(home).socket, places: [OWN, SHARED] as const };
    const planted = await plant(base, tokens);
    let world: World = { ...base, attackers: tokens, planted, transcript: { path: said.path, word: fileWord } };

    const clients = new Map<string, Promise<Client>>();
    const clientOf: Clients = (who, place, looksAt) => {
      const key = `${world.address} ${who.name} ${place} ${looksAt}`;
      const known = clients.get(key) ?? connect(world.address, who, place, looksAt);
      clients.set(key, known);
      return known;
    };

    /** Stops, looks at the rows of every tenant, and starts again. What is seen after one group of attackers is what was there before the next. */
    async function look(): Promise<Seen> {
      const ends = await Promise.allSettled(clients.values());
      clients.clear();
      for (const end of ends) if (end.status === "fulfilled") await end.value.close();
      await butler(home, ["stop"], variables);
      const seen = new Map<string, Rows>();
      for (const place of [OWN, SHARED]) {
        const db = await open(home, place);
        for (const tenant of EVERYBODY) seen.set(`${place}: ${tenant}`, await rowsOf(db, tenant));
        await db.close();
      }
      rig = await up(home, [], variables);
      world = { ...world, address: rig.address };
      return seen;
    }

    const leaks: string[] = [];
    const answers = { rest: 0, mcp: 0, hook: 0, page: 0, socket: 0 };
    let allowed = 0;
    /** Answers with something of another tenant. */
    let looks = 0;
    async function attack(seed: number, who: readonly Attacker[], n: number): Promise<void> {
      const d = dice(seed);
      const attempts = Array.from({ length: n }, () => {
        const caller = d.one(who);
        return { caller, ...attempt(d, world, caller, clientOf) };
      });
      const four = [0, 1, 2, 3].map(async (first) => {
        for (let at = first; at < attempts.length; at += 4) {
          const one = attempts[at];
          if (one === undefined) break;
          check(one, await one.run());
          answers[one.door] += 1;
        }
      });
      await Promise.all(four);
    }
    function check({ caller: who, project, looksAt, ...one }: Made, { status, text }: Answer): void {
      const words = `${who.name} ${one.door} ${one.words}`;
      if (status < 400) allowed += 1;
      if (status >= 500 && status !== 503) leaks.push(`status ${status}: ${words} → ${text.slice(0, 300)}`);
      const shown = world.planted.filter(({ word }) => text.includes(word));
      if (shown.some(({ tenant }) => tenant !== who.tenant)) looks += 1;
      for (const one of shown)
        if (!maySee(who, project, one, looksAt))
          leaks.push(`${one.tenant}, ${one.scope} (${one.type}): ${words} → ${text.slice(0, 300)}`);
      // The transcript of this machine's user is nobody's who comes with a token.
      if (who.token !== undefined && text.includes(fileWord))
        leaks.push(`transcript: ${words} → ${text.slice(0, 300)}`);
    }
    /** What hooks left to be taken in has been, once a word that came after it is found. */
    async function settled(tenant: Tenant): Promise<void> {
      const who = tokens.find(({ name }) => name === `${tenant}-one-butler`);
      const headers = bearer(who?.token ?? "");
      const word = `settled${tenant}${answers.hook}`;
      const body = {
        session_id: `last-${word}`,
        cwd: "/",
        prompt: `Tell me about ${word} please`,
        prompt_response: `${word} it is.`,
      };
      const told = await send(overPort(world), { path: `/hooks/gemini/AfterAgent?butler=${SHARED}`, body, headers });
      expect([200, 204], told.text).toContain(told.status);
      await vi.waitFor(
        async () => {
          const path = `/api/butlers/${SHARED}/tools/memory_search`;
          const body = { query: word, mode: "keyword", scope: "*" };
          const found = await send(overPort(world), { path, body, headers: adminOf(tenant) });
          expect(found.text).toContain(word);
        },
        { ...PATIENCE, interval: 250 },
      );
    }
    /** What a tenant's admin is told in numbers. */
    async function numbersOf(tenants: readonly Tenant[]): Promise<string[]> {
      const told: string[] = [];
      for (const tenant of tenants.filter((one) => one !== "default"))
        for (const route of ["stats", "counts", "scopes", "subjects", "today", "review", "dead-letters"]) {
          const path = `/api/butlers/${SHARED}/memory/${route}`;
          const { status, text } = await send(overPort(world), { method: "GET", path, headers: adminOf(tenant) });
          expect(status, path).toBe(200);
          told.push(`${tenant} ${route} ${text}`);
        }
      return told;
    }
    /** Word for word: an id of somebody else is answered as one that nobody has. */
    async function foreignIsUnknown(headers: Record<string, string>, tenant: Tenant): Promise<void> {
      const nobody = "01990000-0000-7000-8000-000000000000";
      const ask = async (id: string, method: string, route: string) => {
        const path = `/api/butlers/${SHARED}/memory/${route.replace(":id", id)}`;
        const body = method === "GET" ? {} : { body: route.endsWith("correct") ? { content: "x" } : {} };
        const { status, text } = await send(overPort(world), { method, path, headers, ...body });
        return `${status} ${text.replaceAll(id, "an id")}`;
      };
      for (const [method, route] of BY_ID) {
        const expected = await ask(nobody, method, route);
        for (const { id } of world.planted.filter((one) => one.tenant !== tenant && one.place === SHARED).slice(0, 6))
          expect(await ask(id, method, route), route).toBe(expected);
      }
    }
    const adminOf = (tenant: Tenant) =>
      bearer(tokens.find(({ name }) => name === `${tenant}-every-butler-admin`)?.token ?? "");

    // Each tenant's six tokens against everybody else.
    let seen = await look();
    for (const [nth, tenant] of TENANTS.entries()) {
      const others = EVERYBODY.filter((one) => one !== tenant);
      const before = limitedTo(seen, others);
      const numbers = await numbersOf(others);
      const who = tokens.filter((one) => one.tenant === tenant && !/neighbour|cross-tenant/.test(one.name));
      await attack(1_000 + nth, who, calls.tenant);
      await settled(tenant);
      await foreignIsUnknown(adminOf(tenant), tenant);
      expect(leaks.slice(0, 5)).toEqual([]);
      expect(await numbersOf(others)).toEqual(numbers);
      seen = await look();
      expect(limitedTo(seen, others)).toEqual(before);
    }

    // One butler without rights against another of the same tenant.
    const neighbour = (): string[] => [...limitedTo(seen, ["north"]).values()].flatMap((rows) => inScope(rows, "bob"));
    const before = neighbour();
    expect(before.length).toBeGreaterThan(0);
    await attack(
      2_000,
      tokens.filter(({ name }) => name === "north-one-butler"),
      calls.neighbour,
    );
    await settled("north");
    expect(leaks.slice(0, 5)).toEqual([]);
    seen = await look();
    expect(neighbour()).toEqual(before);

    // An agent on the socket against both tenants of tokens.
    const foreign = limitedTo(seen, TENANTS);
    const local: Attacker = { name: "local", tenant: "default", butler: OWN, admin: false, token: undefined };
    await attack(3_000, [local], calls.local);
    expect(leaks.slice(0, 5)).toEqual([]);
    expect(limitedTo(await look(), TENANTS)).toEqual(foreign);

    // One who may look at other tenants: nothing there changes but the stream, which tells of every look.
    const others = ["south", "default"] as const;
    // A second look: what the agent's hooks left may have been taken in since.
    const untouched = limitedTo(await look(), others);
    expect(looks).toBe(0);
    await attack(
      5_000,
      tokens.filter(({ name }) => name === "north-cross-tenant"),
      calls.across,
    );
    await settled("north");
    expect(leaks.slice(0, 5)).toEqual([]);
    const after = limitedTo(await look(), others);
    const told = [...after.values()].flatMap(({ memory_events = [] }) => memory_events.filter(isLook)).length;
    expect(new Map([...after].map(([name, rows]) => [name, withoutLooks(rows)]))).toEqual(untouched);
    expect(looks).toBeGreaterThan(0);
    expect(told).toBeGreaterThanOrEqual(looks);

    for (const headers of UNKNOWN)
      for (const path of [
        `/api/butlers/${SHARED}/tools/memory_stats`,
        `/hooks/gemini/AfterAgent?butler=${SHARED}`,
        `/butlers/${SHARED}/mcp`,
      ])
        expect((await send(overPort(world), { path, body: {}, headers })).status, path).toBe(401);

    // Attempts that are all refused for their form would show nothing.
    const total = Object.values(answers).reduce((sum, n) => sum + n, 0);
    expect(total).toBe(calls.tenant * TENANTS.length + calls.neighbour + calls.local + calls.across);
    expect(allowed).toBeGreaterThan(total / 4);
    for (const door of ["rest", "mcp", "hook", "page", "socket"] as const)
      expect(answers[door], door).toBeGreaterThan(50);
    if (TIMES > 1) console.info(JSON.stringify({ total, allowed, looks, told, ...answers }));
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
