/** The real tools behind the doors: one embedded store in memory, on a fixed clock, with every door on top of it. */

import { PassThrough } from "node:stream";
import { type ServerType, serve } from "@hono/node-server";
import { type CallToolResult, type Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Backend, Principal } from "../../src/doors/backend.ts";
import { loopbackHosts } from "../../src/doors/http/guards.ts";
import { httpApp } from "../../src/doors/http/http.ts";
import { openPglite } from "../../src/engine/adapters/db/pglite.ts";
import type { Db } from "../../src/engine/adapters/db/port.ts";
import { openOnnxEmbedder } from "../../src/engine/adapters/embedder/onnx.ts";
import { silentLog } from "../../src/engine/adapters/log.ts";
import { callTool } from "../../src/engine/tools/call.ts";
import { tools } from "../../src/engine/tools/index.ts";
import type { Outcome } from "../../src/engine/tools/outcome.ts";
import { testModel } from "./model.ts";
import { PatientClient } from "./patient-client.ts";
import { migratedSnapshot, openRig, type Rig } from "./stores.ts";
import { serveLocalLine } from "./thin-line.ts";

export const admin: Principal = { name: "owner", tenant: "default", butler: "*", admin: true, voice: "user" };
export const plain: Principal = { name: "agent", tenant: "default", butler: "general", admin: false, voice: "agent" };

const PRINCIPALS: Readonly<Record<string, Principal>> = { admin, plain };
export type Token = "admin" | "plain";

export interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers are checked by the assertions of each test, field by field.
  readonly body: any;
}

export interface RealHost {
  readonly rig: Rig;
  readonly host: Backend;
  /** One POST to a tool; `body` goes out as it is, so that it need not be JSON. */
  post(tool: string, body: string, options?: { token?: Token; headers?: Record<string, string> }): Promise<Reply>;
  /** The official client over HTTP on a real port. */
  overHttp(options?: { token?: Token; toolset?: "core" | "full" }): Promise<Client>;
  /** Raw lines to the stdio door and back, without a process. */
  overLines(options?: { maxLineBytes?: number }): Lines;
  close(): Promise<void>;
}

export interface Lines {
  send(line: string): void;
  /** The next message from the server. */
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  next(): Promise<any>;
  close(): Promise<void>;
}

export async function openRealHost(options: { model?: boolean } = {}): Promise<RealHost> {
  const rig = await openRig(await openPglite({ dir: undefined, snapshot: await migratedSnapshot() }), {
    model: false,
  });
  const closing: (() => Promise<unknown>)[] = [() => rig.memory.close()];
  if (options.model) {
    const embedder = await openOnnxEmbedder(await testModel());
    closing.push(() => embedder.close());
    await rig.memory.adopt(embedder);
  }
  const host: Backend = {
    butlers: async () => [{ name: "general", role: "butler", description: "Does everything." }],
    invoke: (principal, _butler, request, following) => callTool(rig.memory, principal, request, following),
    health: async () => ({ ok: true, version: "1.2.3", model: "test", butlers: [{ name: "general", store: "open" }] }),
  };
  let hosts = loopbackHosts(4270);
  const app = httpApp({
    backend: host,
    tools,
    authenticate: async (token) => PRINCIPALS[token],
    allowedHosts: () => hosts,
    log: silentLog,
    version: "1.2.3",
  });

  let listening: Promise<{ server: ServerType; base: string }> | undefined;
  const listen = () => {
    listening ??= new Promise((resolve) => {
      const server = serve(
        { fetch: app.fetch, port: 0, hostname: "127.0.0.1", serverOptions: { keepAliveTimeout: 75_000 } },
        ({ port }) => {
          hosts = [...hosts, ...loopbackHosts(port)];
          closing.push(() => new Promise((done) => server.close(done)));
          resolve({ server, base: `http://127.0.0.1:${port}` });
        },
      );
    });
    return listening;
  };

  return {
    rig,
    host,
    async post(tool, body, { token = "plain", headers = {} } = {}) {
      const response = await app.request(`/api/butlers/general/tools/${tool}`, {
        method: "POST",
        body,
        headers: {
          host: "127.0.0.1:4270",
          "content-type": "application/json",
          authorization: `Bearer ${token}`,
          ...headers,
        },
      });
      return { status: response.status, body: await response.json() };
    },
    async overHttp({ token = "plain", toolset = "full" } = {}) {
      const { base } = await listen();
      const client = new PatientClient({ name: "test", version: "1" });
      const address = new URL(`${base}/butlers/general/mcp?tools=${toolset}`);
      await client.connect(
        new StreamableHTTPClientTransport(address, { requestInit: { headers: { Authorization: `Bearer ${token}` } } }),
      );
      closing.push(() => client.close());
      return client;
    },
    overLines({ maxLineBytes } = {}) {
      const stdin = new PassThrough();
      const stdout = new PassThrough();
      const door = serveLocalLine({
        tools,
        toolset: "full",
        butler: "general",
        version: "1.2.3",
        call: (request, following) => host.invoke(plain, "general", request, following),
        stdin,
        stdout,
        maxLineBytes,
      });
      return {
        send: (line) => stdin.write(`${line}\n`),
        next: lineReader(stdout),
        close: async () => (await door).close(),
      };
    },
    async close() {
      await rig.settled();
      for (const close of closing.splice(0).toReversed()) await close();
    },
  };
}

function lineReader(stream: PassThrough): () => Promise<unknown> {
  const lines = (async function* () {
    let text = "";
    for await (const chunk of stream.setEncoding("utf8")) {
      text += chunk;
      for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n")) {
        yield text.slice(0, at);
        text = text.slice(at + 1);
      }
    }
  })();
  return async () => JSON.parse((await lines.next()).value ?? "null");
}

/** What a tool call through MCP came to, in the form of the other doors. */
export function outcomeOf(result: CallToolResult): Outcome {
  const content = result.structuredContent as Record<string, unknown>;
  return result.isError ? ({ ok: false, error: content.error } as Outcome) : { ok: true, answer: content };
}

/** Rows of every table, to show that a refused call left nothing behind. */
export async function rowCounts(db: Db): Promise<Record<string, string>> {
  const tables = await db.query<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE' order by 1",
  );
  const each = tables.map(({ name }) => `select '${name}' as name, count(*)::text as rows from "${name}"`);
  const counts = await db.query<{ name: string; rows: string }>(each.join(" union all "));
  return Object.fromEntries(counts.map(({ name, rows }) => [name, rows]));
}
