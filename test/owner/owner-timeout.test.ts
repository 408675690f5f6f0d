/** A question to an owner that listens and says nothing. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { requestOwner as ask } from "../../src/daemon/line/request.ts";

test("the time that was waited is told in whole milliseconds", async () => {
  const folder = mkdtempSync(join(tmpdir(), "bs-"));
  const socket = join(folder, "owner.sock");
  const silent = createServer(() => undefined);
  await new Promise<void>((listening) => silent.listen(socket, listening));
  try {
    const asked = ask({ socket, method: "GET", path: "/owner/status", timeoutMs: 118.834_273 });
    await expect(asked).rejects.toThrow(/^no answer within 119 ms$/);
  } finally {
    silent.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
