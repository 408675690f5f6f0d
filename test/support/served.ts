/** A memory behind the real HTTP door, hooks and their spool included, in this process: on a port for callers with tokens, on another for this machine's own. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getRequestListener } from "@hono/node-server";
import { type Home, homeAt } from "../../src/daemon/home.ts";
import { pause } from "../../src/daemon/pause.ts";
import type { Backend, Principal } from "../../src/doors/backend.ts";
import { loopbackHosts } from "../../src/doors/http/guards.ts";
import { httpApp } from "../../src/doors/http/http.ts";
import { silentLog } from "../../src/engine/adapters/log.ts";
import { callTool } from "../../src/engine/tools/call.ts";
import { tools } from "../../src/engine/tools/index.ts";
import { hookAnswerer } from "../../src/hosts/hooks/answer-hook.ts";
import { createPickup } from "../../src/hosts/hooks/spool/pickup.ts";
import type { Rig } from "./stores.ts";

export interface Served {
  readonly address: string;
  /** As over the owner's socket: no token is asked for. */
  readonly ownAddress: string;
  readonly home: Home;
  /** Stores what hooks have left. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

export async function serveRig(rig: Rig, principals: ReadonlyMap<string, Principal>): Promise<Served> {
  const { butler, role, clock } = rig.memory;
  const local: Principal = { name: "host", tenant: "default", butler, admin: false, voice: "user" };
  const root = mkdtempSync(join(tmpdir(), "served-"));
  const home = homeAt(join(root, "home"));
  const invoke: Backend["invoke"] = (principal, _, request, following) =>
    callTool(rig.memory, principal, request, following);
  const common = { home, clock, log: silentLog };
  const pickup = createPickup({
    ...common,
    settleMs: 1,
    ingest: (by, _, project, episodes) =>
      invoke(by === "local" ? local : by, butler, {
        tool: "memory_ingest_batch",
        input: { episodes: [...episodes] },
        ...(project === undefined ? {} : { project }),
      }) as never,
  });
  let news = 0;
  const answer = hookAnswerer({
    ...{ ...common, pickup, invoke, limitMs: 600_000 },
    remembers: (name) => name === butler,
    // Another number each time: every hook looks for what was learned.
    notices: () => news++,
  });
  const ending = new AbortController();
  const serve = async (own: Principal | undefined) => {
    const backend: Backend = {
      butlers: async () => [{ name: butler, role, description: "" }],
      invoke,
      health: async () => ({ ok: true, version: "1", model: "", butlers: [{ name: butler, store: "open" }] }),
      hook: (principal, asked) => answer(principal, asked, own !== undefined),
    };
    const server = createServer();
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const { port } = server.address() as AddressInfo;
    const app = httpApp({
      ...{ backend, tools, log: silentLog, version: "1", signal: ending.signal, allowedHosts: loopbackHosts(port) },
      ...(own === undefined ? {} : { local: own }),
      authenticate: async (token) => principals.get(token),
    });
    server.on("request", getRequestListener(app.fetch));
    return { server, address: `http://127.0.0.1:${port}` };
  };
  const [port, socket] = [await serve(undefined), await serve(local)];
  return {
    address: port.address,
    ownAddress: socket.address,
    home,
    async sweep() {
      await pickup.sweep();
      while (pickup.busy()) await pause(5);
    },
    async close() {
      ending.abort();
      await pickup.stop();
      for (const { server } of [port, socket]) {
        server.closeAllConnections();
        server.close();
      }
      rmSync(root, { recursive: true, force: true });
    },
  };
}
