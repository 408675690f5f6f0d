/** A large batch is cancelled in the middle, over stdio and over HTTP, with real processes: its rows stop, and everything else goes on. */

import { readFileSync } from "node:fs";
import { type Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, describe, expect, test } from "vitest";
import { homeAt } from "../../src/daemon/home.ts";
import { openPglite } from "../../src/engine/adapters/db/pglite.ts";
import { gate } from "../support/owner-fakes.ts";
import { butler, cleanUp, mcpClient, ownerNote, seededHome, up } from "../support/owner-processes.ts";
import { PatientClient } from "../support/patient-client.ts";

afterAll(cleanUp);

const ROWS = 500;
const batch = (word: string, rows = ROWS) => ({
  name: "memory_ingest_batch",
  arguments: { episodes: Array.from({ length: rows }, (_, at) => ({ content: `The ${word} of day ${at} was long.` })) },
});

type Connect = (home: string, cancel: AbortSignal) => Promise<Client>;

const overStdio: Connect = (home) => mcpClient(home);

/** Requests carry no session: one is cancelled by closing it. */
const overHttp: Connect = async (home, cancel) => {
  const { address: base } = await up(home);
  const client = new PatientClient({ name: "test-agent", version: "1.0.0" });
  const headers = { Authorization: `Bearer ${readFileSync(homeAt(home).tokenFile, "utf8").trim()}` };
  const closing: typeof fetch = (url, init) =>
    String(init?.body).includes("The night of") ? fetch(url, { ...init, signal: cancel }) : fetch(url, init);
  const address = new URL(`${base}/butlers/general/mcp`);
  await client.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers }, fetch: closing }));
  return client;
};

describe.each([
  ["stdio", overStdio],
  ["HTTP", overHttp],
])("over %s", (_door, connect) => {
  test("progress grows, a cancelled batch leaves no row, and what was committed stays", async () => {
    const home = await seededHome();
    const cancel = new AbortController();
    const client = await connect(home, cancel.signal);
    const seen: number[] = [];
    const whole = await client.callTool(batch("march", 40), {
      onprogress: ({ progress, total, message }) => {
        seen.push(progress);
        expect(total).toBe(40);
        expect(message).toBeTruthy();
      },
    });
    expect(whole.isError).toBeFalsy();
    // The last step may be overtaken by the result, after which a client listens no more.
    expect(seen.slice(0, 18)).toEqual(Array.from({ length: 18 }, (_, at) => (at + 1) * 2));

    const owner = ownerNote(home)?.pid ?? 0;
    const begun = gate();
    const ended = client.callTool(batch("night"), { signal: cancel.signal, onprogress: begun.open }).then(
      () => "answered",
      () => "given up",
    );
    await begun.passed;
    // While the owner is stopped nothing can be stored; when it goes on, the cancel is there.
    process.kill(owner, "SIGSTOP");
    cancel.abort();
    expect(await ended).toBe("given up");
    await settled(client);
    process.kill(owner, "SIGCONT");

    const found = await client.callTool({ name: "memory_search", arguments: { query: "how long was the march" } });
    expect(found.isError).toBeFalsy();
    await client.close();
    await butler(home, ["stop"]);
    expect(ownerNote(home)).toBeUndefined();
    const db = await openPglite({ dir: homeAt(home).store("general") });
    try {
      const rows = await db.query<{ word: string; n: number }>(
        "select split_part(content, ' ', 2) as word, count(*)::int4 as n from episodes group by 1",
      );
      expect(rows).toEqual([{ word: "march", n: 40 }]);
    } finally {
      await db.close();
    }
  });

  /** The line has read the cancel: it answers in order. An HTTP request is closed by then. */
  async function settled(client: Client): Promise<void> {
    if (connect === overStdio) await client.ping();
    else await new Promise((done) => setImmediate(done));
  }
});
