/** A call to a shared Memory Butler is followed through both processes: progress comes back, a cancel goes on. */
import { serve } from "@hono/node-server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RemoteMemory, remoteMemory } from "../../src/daemon/owner/remote-memory.ts";
import { httpApp } from "../../src/doors/http/http.ts";
import { silentLog } from "../../src/engine/adapters/log.ts";
import type { Progress } from "../../src/engine/memory/following.ts";
import { anyone, fakeHost, fakeTools } from "../support/fake-host.ts";
import { gate } from "../support/owner-fakes.ts";

const begun = gate();
const stopped = gate();
let remote: RemoteMemory;
let close: () => void;

beforeAll(async () => {
  const host = fakeHost();
  const app = httpApp({
    backend: {
      ...host,
      async invoke(principal, butler, request, following) {
        for (const done of [1, 2]) following?.progress?.({ done, total: 2, message: "steps done" });
        if (request.tool === "memory_recall") {
          following?.signal?.addEventListener("abort", stopped.open);
          begun.open();
          await stopped.passed;
        }
        return host.invoke(principal, butler, request, following);
      },
    },
    tools: fakeTools,
    authenticate: async () => anyone,
    allowedHosts: ["127.0.0.1"],
    log: silentLog,
    version: "1.2.3",
  });
  const port = await new Promise<number>((listening) => {
    const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, (info) => listening(info.port));
    close = () => server.close();
  });
  const url = `http://127.0.0.1:${port}/butlers/general`;
  remote = remoteMemory({ url, token: () => "any", version: "1.0.0" });
});

afterAll(async () => {
  await remote.close();
  close();
});

test("its steps are told in order", async () => {
  const steps: Progress[] = [];
  const call = { tool: "memory_search", input: { query: "tea" } };
  const outcome = await remote.call(call, { progress: (step) => steps.push(step) });
  expect(outcome).toMatchObject({ ok: true });
  // The last step may be overtaken by the result.
  expect(steps[0]).toEqual({ done: 1, total: 2, message: "steps done" });
});

test("it is stopped there when it is cancelled here, and the next call is answered", async () => {
  const cancel = new AbortController();
  const outcome = remote.call({ tool: "memory_recall", input: { topic: "tea" } }, { signal: cancel.signal });
  await begun.passed;
  cancel.abort();
  await stopped.passed;
  expect(await outcome).toMatchObject({ ok: false, error: { message: expect.stringContaining("cancelled") } });
  expect(await remote.call({ tool: "memory_search", input: { query: "tea" } })).toMatchObject({ ok: true });
});
