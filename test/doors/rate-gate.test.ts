/** Whoever goes on while told to wait is refused before the app sees the request; nobody else is, and not for longer than was said. */
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import type { Principal } from "../../src/doors/backend.ts";
import { rateGate } from "../../src/doors/http/access/rate-gate.ts";
import type { Refusal } from "../../src/doors/refusals.ts";

const loud: Principal = { name: "loud", tenant: "north", butler: "*", admin: false, voice: "agent" };
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function served(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("a caller over its rate is refused in front of the app for as long as it was told", async () => {
  let now = 0;
  let asked = 0;
  const noted: Refusal[] = [];
  const charged: string[] = [];
  const gate = rateGate({
    rates: { refused: ({ name }) => void charged.push(name) },
    refusals: { note: (refusal) => void noted.push(refusal) },
    nowMs: () => now,
  });
  const address = await served(
    gate.before((_, outgoing) => {
      asked += 1;
      outgoing.end("{}");
    }),
  );
  const tool = "/api/butlers/general/tools/memory_search";
  const ask = async (path: string, token: string) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const body = JSON.stringify({ query: "x".repeat(20_000) });
    const answer = await fetch(address + path, { method: "POST", headers, body });
    return { status: answer.status, retry: answer.headers.get("retry-after"), text: await answer.text() };
  };
  expect((await ask(tool, "bm_loud")).status).toBe(200);
  const over = { what: "This token", seconds: 2.2, every: true, tenant: false };
  gate.shut({ header: "Bearer bm_loud", path: tool, principal: loud, over });
  now = 900;
  const refused = await ask(tool, "bm_loud");
  expect(refused).toMatchObject({ status: 429, retry: "3" });
  const message = "This token is over its limit; try again in 3 seconds.";
  expect(JSON.parse(refused.text)).toEqual({ error: { code: "unavailable", message, field: "rate", retry_after: 3 } });
  now = 1_500;
  expect(await ask("/hooks/claude-code/Stop?butler=general", "bm_loud")).toMatchObject({ status: 429, retry: "2" });
  expect(asked).toBe(1);
  expect(noted).toEqual([
    { kind: "rate", door: "http", butler: "general", by: loud },
    { kind: "rate", door: "hook", butler: undefined, by: loud },
  ]);
  expect(charged).toEqual(["loud", "loud"]);
  // Probes, other tokens and MCP, whose refusals a model can read, take the usual way.
  for (const [path, token] of [
    ["/healthz", "bm_loud"],
    [tool, "bm_quiet"],
    ["/butlers/general/mcp", "bm_loud"],
  ] as const)
    expect((await ask(path, token)).status, path).toBe(200);
  now = 3_000;
  expect((await ask(tool, "bm_loud")).status).toBe(200);
  expect(asked).toBe(5);
});
