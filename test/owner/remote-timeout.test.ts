/** A shared Memory Butler that accepts connections and never answers. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { remoteMemory } from "../../src/daemon/owner/remote-memory.ts";

test("a call that timed out is known by its code: the next ones do not wait again", async () => {
  const silent = createServer(() => undefined);
  await new Promise<void>((listening) => silent.listen(0, "127.0.0.1", listening));
  const { port } = silent.address() as AddressInfo;
  const remote = remoteMemory({
    url: `http://127.0.0.1:${port}/butlers/memory`,
    token: () => undefined,
    version: "1.0.0",
    answerMs: 200,
  });
  const call = { tool: "memory_stats", input: {}, idempotencyKey: "one" };
  try {
    const first = await remote.call(call);
    expect(first).toMatchObject({
      ok: false,
      error: { code: "unavailable", message: expect.stringContaining("cannot be reached (") },
    });
    expect(await remote.call({ ...call, idempotencyKey: "two" })).toBe(first);
  } finally {
    await remote.close();
    silent.closeAllConnections();
    silent.close();
  }
});
