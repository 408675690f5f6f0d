/** Two butlers in one daemon: what one is told, over any door and by any hook, is never found in the other's database. */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, inject, test, vi } from "vitest";
import { homeAt } from "../../src/daemon/home.ts";
import { requestOwner as ask } from "../../src/daemon/line/request.ts";
import { openPglite } from "../../src/engine/adapters/db/pglite.ts";
import type { Db } from "../../src/engine/adapters/db/port.ts";
import { openPostgres } from "../../src/engine/adapters/db/postgres.ts";
import { butler, cleanUp, emptyHome, up } from "../support/owner-processes.ts";
import { PATIENCE } from "../support/patience.ts";
import { transcript } from "../support/transcript.ts";

const NAMES = [`left_${process.pid}`, `right_${process.pid}`] as const;
const WRITES = 20;
const url = inject("postgresUrl");

afterAll(async () => {
  await cleanUp();
  if (url === undefined) return;
  const db = await openPostgres({ url, max: 1 });
  for (const name of NAMES) await db.exec(`drop database if exists "butler_${name}" with (force)`);
  await db.close();
});

interface Lane {
  readonly databaseUrl: string | undefined;
  open(home: string, name: string): Promise<Db>;
}

const LANES: Readonly<Record<string, Lane>> = {
  PGlite: { databaseUrl: undefined, open: (home, name) => openPglite({ dir: join(home, "butlers", name, "store") }) },
  PostgreSQL: {
    databaseUrl: url,
    open: (_, name) => {
      const place = new URL(url ?? "");
      place.pathname = `/butler_${name}`;
      return openPostgres({ url: place.href, max: 1 });
    },
  },
};

describe.each(Object.entries(LANES))("two butlers on %s", (lane, { databaseUrl, open }) => {
  test.skipIf(lane === "PostgreSQL" && url === undefined)("share nothing by accident", async () => {
    const home = emptyHome();
    const roster = join(home, "roster");
    for (const name of NAMES) {
      mkdirSync(join(roster, name), { recursive: true });
      writeFileSync(join(roster, name, "butler.toml"), `[butler]\nname = "${name}"\n\n[modules.memory]\n`);
    }
    const variables = {
      BUTLER_ROSTER: roster,
      ...(databaseUrl === undefined ? {} : { BUTLER_DATABASE_URL: databaseUrl }),
    };
    const rig = await up(home, [], variables);
    const headers = {
      authorization: `Bearer ${readFileSync(join(home, "token"), "utf8").trim()}`,
      "content-type": "application/json",
    };
    const post = async (path: string, body: object) => {
      const response = await fetch(`${rig.address}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
      expect([200, 204], await response.clone().text()).toContain(response.status);
      return response.status === 204 ? undefined : ((await response.json()) as Record<string, unknown>);
    };

    // A transcript is a file of this machine, which only a hook on the home's own socket may name.
    const hook = async (name: string, event: string, body: object) => {
      const path = `/hooks/claude-code/${event}?butler=${name}`;
      const { status } = await ask({
        socket: homeAt(home).socket,
        method: "POST",
        path,
        body,
        timeoutMs: PATIENCE.timeout,
      });
      expect([200, 204]).toContain(status);
    };

    // Everything of both at the same time, the session of the same name too.
    await Promise.all(
      NAMES.flatMap((name) => [
        ...Array.from({ length: WRITES }, (_, n) => {
          const tool = ["memory_store_episode", "memory_store_fact", "memory_store_rule"][n % 3];
          const content = `number ${n} belongs to ${name}`;
          const input = tool === "memory_store_fact" ? { subject: "thing", predicate: `n${n}`, content } : { content };
          return post(`/api/butlers/${name}/tools/${tool}`, input);
        }),
        session(name),
      ]),
    );

    async function session(name: string): Promise<void> {
      const said = transcript(join(home, `${name}.jsonl`), "same-session", join(home, "project"));
      const input = { session_id: "same-session", cwd: join(home, "project"), transcript_path: said.path };
      await hook(name, "SessionStart", input);
      said.user(`Please note that the session belongs to ${name}`);
      said.agent(`Noted for ${name}.`);
      await hook(name, "SessionEnd", input);
    }

    for (const name of NAMES) {
      const other = NAMES.find((one) => one !== name) ?? "";
      const search = async (query: string) => {
        const answer = await post(`/api/butlers/${name}/tools/memory_search`, { query, limit: 100, scope: "*" });
        return (answer?.results ?? []) as { content: string }[];
      };
      await vi.waitFor(
        async () => expect(JSON.stringify(await search("session belongs"))).toContain(`Noted for ${name}`),
        {
          ...PATIENCE,
          interval: 500,
        },
      );
      expect(JSON.stringify(await search(`belongs to ${other}`))).not.toContain(other);
    }
    await butler(home, ["stop"], variables);

    for (const name of NAMES) {
      const db = await open(home, name);
      const rows = await db.query<{ content: string }>(
        "select content from episodes union all select content from facts union all select content from rules",
      );
      await db.close();
      expect(rows).toHaveLength(WRITES + 1);
      expect(rows.filter(({ content }) => !content.includes(name))).toEqual([]);
    }
  });
});
