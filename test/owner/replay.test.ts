import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { answerReplay, askReplay } from "../../src/daemon/line/replay.ts";
import type { ReplayProgress, ReplayReport } from "../../src/engine/memory/past/replay.ts";
import type { Outcome } from "../../src/engine/tools/outcome.ts";
import { butler, fakeOwner, gate } from "../support/owner-fakes.ts";
import { PATIENCE } from "../support/patience.ts";

const REPORT: ReplayReport = {
  equal: true,
  events: 3,
  rows: { facts: 2 },
  differing: {},
  differences: [],
  orphans: [],
  receipts: { receipts: 0, faults: [] },
  checkpoints: { checkpoints: 0, faults: [] },
  cutShort: false,
};
const step = (done: number) => ({ what: "replaying events", done, total: 3 });

describe("an owner asked to replay", () => {
  test("compares the butler's store, and says how far it is", async () => {
    const { owner, seen } = fakeOwner({
      verify: async (_, tell) => {
        tell(step(1));
        return REPORT;
      },
    });
    const told: number[] = [];
    expect(await owner.verifyReplay("general", ({ done }) => told.push(done))).toEqual({ ok: true, answer: REPORT });
    expect(told).toEqual([1]);
    expect(seen.opened).toBe(1);
    await owner.close();
  });

  test("refuses a butler that is not there or keeps no memory, and tells failures as outcomes", async () => {
    const off = butler("silent", "[modules.memory]\nenabled = false\n");
    const { owner } = fakeOwner({
      roster: [butler("general"), off],
      verify: async () => {
        throw new Error("disk on fire");
      },
    });
    const refusal = async (name: string) => {
      const outcome = await owner.verifyReplay(name, () => undefined);
      return outcome.ok ? undefined : outcome.error;
    };
    expect(await refusal("nobody")).toMatchObject({ code: "not_found" });
    expect(await refusal("silent")).toMatchObject({ code: "unavailable", message: /has no memory/ });
    expect(await refusal("general")).toMatchObject({ code: "internal", message: /disk on fire/ });
    await owner.close();
  });

  test("gives up when the owner stops, so that a stop need not wait for it", async () => {
    const started = gate();
    const { owner, seen } = fakeOwner({
      verify: async (_, tell) => {
        started.open();
        for (let n = 0; ; n++) {
          tell(step(n));
          await new Promise((done) => setTimeout(done, 1));
        }
      },
    });
    const outcome = owner.verifyReplay("general", () => undefined);
    await started.passed;
    expect(owner.atRest()).toBe(false);
    await owner.close();
    expect(await outcome).toMatchObject({ ok: false, error: { code: "unavailable" } });
    expect(seen.closed).toBe(1);
  });
});

describe("a replay over the socket", () => {
  const closing: (() => void)[] = [];
  afterEach(() => {
    for (const close of closing.splice(0)) close();
  });

  async function serve(verify: (butler: string, tell: ReplayProgress) => Promise<Outcome>) {
    const folder = mkdtempSync(join(tmpdir(), "bh-"));
    const socket = join(folder, "s");
    const server: Server = createServer(async (incoming, outgoing) => {
      let text = "";
      for await (const chunk of incoming) text += chunk;
      await answerReplay(JSON.parse(text), outgoing, verify);
    });
    closing.push(() => {
      server.closeAllConnections();
      server.close();
      rmSync(folder, { recursive: true, force: true });
    });
    await new Promise<void>((done) => server.listen(socket, done));
    return { socket, server };
  }

  test("brings progress, then the outcome", async () => {
    const { socket } = await serve(async (name, tell) => {
      tell(step(2));
      return { ok: true, answer: { name } };
    });
    const told: unknown[] = [];
    expect(await askReplay(socket, "general", (at) => told.push(at))).toEqual({
      ok: true,
      answer: { name: "general" },
    });
    expect(told).toEqual([step(2)]);
  });

  test("says so when the owner dies in the middle", async () => {
    const under = gate();
    const { socket, server } = await serve(async (_, tell) => {
      tell(step(1));
      await under.passed;
      return { ok: true, answer: {} };
    });
    const asked = askReplay(socket, "general", () => server.closeAllConnections());
    await expect(asked).rejects.toMatchObject({ code: "unavailable", message: /went away/ });
    under.open();
  });

  test("ends the work when whoever asked has gone", async () => {
    const ended = vi.fn();
    const { socket } = await serve(async (_, tell) => {
      try {
        for (let n = 0; ; n++) {
          tell(step(n));
          await new Promise((done) => setTimeout(done, 1));
        }
      } catch (error) {
        ended(error);
        return { ok: false, error: { code: "unavailable", message: "gone" } };
      }
    });
    const left = askReplay(socket, "general", () => {
      throw new Error("I have seen enough");
    });
    await expect(left).rejects.toThrow("I have seen enough");
    await vi.waitFor(() => expect(ended).toHaveBeenCalledOnce(), PATIENCE);
  });
});
