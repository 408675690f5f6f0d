/** A real `butler up` over its life: the roster changes under it, its database goes away and comes back, and it stops in good order. */

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, inject, test, vi } from "vitest";
import { cleanUp, emptyHome, up } from "../support/owner-processes.ts";
import { PATIENCE } from "../support/patience.ts";
import { administer } from "../support/postgres.ts";

const url = inject("postgresUrl") ?? "";
const NAMES = [`first_${process.pid}`, `second_${process.pid}`] as const;

afterAll(async () => {
  await cleanUp();
  if (url === "") return;
  await administer(url, async (client) => {
    for (const name of NAMES) await client.query(`drop database if exists "butler_${name}" with (force)`);
  });
});

/** The way to the server, which can be cut. */
function wire(to: URL) {
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  let port = 0;
  return {
    async lay(): Promise<string> {
      server = createServer((socket) => {
        const far = connect(Number(to.port), to.hostname);
        for (const [one, other] of [
          [socket, far],
          [far, socket],
        ] as const) {
          sockets.add(one);
          one.on("error", () => other.destroy());
          one.on("close", () => sockets.delete(one));
          one.pipe(other);
        }
      });
      await new Promise<void>((done) => server?.listen(port, "127.0.0.1", done));
      port = (server.address() as AddressInfo).port;
      const near = new URL(to);
      near.port = String(port);
      return near.href;
    },
    async cut(): Promise<void> {
      const gone = new Promise((done) => server?.close(done));
      for (const socket of sockets) socket.destroy();
      await gone;
    },
  };
}

describe.skipIf(url === "")("butler up", () => {
  test("takes changes of the roster over, says unknown of a dead database, and stops in good order", async () => {
    const line = wire(new URL(url));
    const home = emptyHome();
    const roster = join(home, "roster");
    const write = (name: string, more = "") => {
      mkdirSync(join(roster, name), { recursive: true });
      writeFileSync(join(roster, name, "butler.toml"), `[butler]\nname = "${name}"\n${more}\n[modules.memory]\n`);
    };
    const [first, second] = NAMES;
    write(first);
    const rig = await up(home, ["--roster", roster], { BUTLER_DATABASE_URL: await line.lay() });
    const headers = {
      authorization: `Bearer ${readFileSync(join(home, "token"), "utf8").trim()}`,
      "content-type": "application/json",
    };
    const ready = async () => {
      const response = await fetch(`${rig.address}/readyz`, { headers });
      const { butlers, roster: fault } = (await response.json()) as {
        butlers: { name: string; store: string }[];
        roster?: string;
      };
      return {
        status: response.status,
        stores: Object.fromEntries(butlers.map((one) => [one.name, one.store])),
        fault,
      };
    };
    const stats = async (name: string) => {
      const path = `${rig.address}/api/butlers/${name}/tools/memory_stats`;
      const response = await fetch(path, { method: "POST", headers, body: "{}" });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    };
    expect((await stats(first)).body).toMatchObject({ episodes: { total: 0 } });
    expect(await ready()).toEqual({ status: 200, stores: { [first]: "open" }, fault: undefined });

    write(second);
    await vi.waitFor(
      async () => expect((await ready()).stores).toEqual({ [first]: "open", [second]: "closed" }),
      PATIENCE,
    );
    expect((await stats(second)).status).toBe(200);
    write(second, 'nmae = "x"\n');
    rig.child.kill("SIGHUP");
    await vi.waitFor(async () => expect((await ready()).fault).toContain("nmae"), PATIENCE);
    expect((await stats(second)).status).toBe(200);
    rmSync(join(roster, second), { recursive: true });
    await vi.waitFor(async () => expect((await ready()).stores).toEqual({ [first]: "open" }), PATIENCE);
    expect((await stats(second)).status).toBe(404);

    await line.cut();
    await vi.waitFor(
      async () => expect(await ready()).toMatchObject({ status: 503, stores: { [first]: "unknown" } }),
      PATIENCE,
    );
    expect(await stats(first)).toMatchObject({ status: 503, body: { error: { code: "unavailable" } } });
    expect((await fetch(`${rig.address}/healthz`)).status).toBe(200);
    await line.lay();
    await vi.waitFor(
      async () => expect(await ready()).toMatchObject({ status: 200, stores: { [first]: "open" } }),
      PATIENCE,
    );

    rig.child.kill("SIGTERM");
    expect((await rig.ended).code).toBe(0);
    await line.cut();
  });
});
