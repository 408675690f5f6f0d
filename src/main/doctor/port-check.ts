/** Whether the HTTP port is served by this owner, free, or used by another program. */

import { createServer } from "node:net";
import type { OwnerNote } from "../../daemon/owner/owner-file.ts";
import { errorCode, reasonOf } from "../../engine/domain/errors.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

const ANSWER_MS = 3_000;

export async function checkPort(host: string, port: number, owner: OwnerNote | undefined): Promise<Finding> {
  if (owner?.address) return checkAddress(owner.address);
  if (port === 0) return ok("port", "any free one (BUTLER_PORT is 0)");
  const code = await tryListen(host, port);
  if (code === undefined) return ok("port", `${port} on ${host} is free for butler up`);
  const remedy = "Choose another with BUTLER_PORT or butler up --port; local commands do not need it.";
  if (code === "EADDRINUSE") return warn("port", `${port} on ${host} is used by another program`, remedy);
  return warn("port", `${host}:${port} cannot be listened on (${code})`, "Check BUTLER_HOST and BUTLER_PORT.");
}

async function checkAddress(address: string): Promise<Finding> {
  try {
    const response = await fetch(`${address}/healthz`, { signal: AbortSignal.timeout(ANSWER_MS) });
    await response.body?.cancel();
    if (response.ok) return ok("port", `${address} is ours and answers`);
    return fail("port", `${address}/healthz answers ${response.status}`, "butler stop, then butler up.");
  } catch (error) {
    return fail("port", `${address} does not answer: ${reasonOf(error)}`, "butler stop, then butler up.");
  }
}

function tryListen(host: string, port: number): Promise<string | undefined> {
  return new Promise((done) => {
    const server = createServer();
    server.once("error", (error) => done(errorCode(error) ?? reasonOf(error)));
    server.listen({ host, port, exclusive: true }, () => server.close(() => done(undefined)));
  });
}
