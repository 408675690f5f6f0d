import { describe, expect, test, vi } from "vitest";
import { sharedModel } from "../../src/daemon/owner/shared-model.ts";
import type { Principal } from "../../src/doors/backend.ts";
import { silentLog } from "../../src/engine/adapters/log.ts";
import { MemoryError } from "../../src/engine/domain/errors.ts";
import type { Outcome, ToolRequest } from "../../src/engine/tools/outcome.ts";
import { butler, everyone, fakeEmbedder, fakeModel, fakeOwner, gate } from "../support/owner-fakes.ts";
import { PATIENCE } from "../support/patience.ts";

const call = { tool: "t", input: {} };
const ok = (number: number, model = false): Outcome => ({ ok: true, answer: { number, model } });

describe("stores", () => {
  test("calls at the same time open the store once", async () => {
    const { owner, seen } = fakeOwner();
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => owner.invoke(everyone, "general", call)));
    expect(outcomes).toEqual(Array.from({ length: 10 }, () => ok(1)));
    expect(seen.opened).toBe(1);
    await owner.close();
    expect(seen.closed).toBe(1);
  });

  test("an unused store is closed and opened again by the next call", async () => {
    const { owner, seen } = fakeOwner({ storeIdleMs: 10 });
    await owner.invoke(everyone, "general", call);
    await vi.waitFor(() => expect(seen.closed).toBe(1), PATIENCE);
    expect((await owner.health()).butlers).toEqual([{ name: "general", store: "closed" }]);
    expect(await owner.invoke(everyone, "general", call)).toEqual(ok(2));
    await owner.close();
  });

  test("a store is never closed while a call is under way", async () => {
    const slow = gate();
    const { owner, seen } = fakeOwner({
      storeIdleMs: 5,
      call: async (memory) => {
        await slow.passed;
        return ok(memory.number);
      },
    });
    const answer = owner.invoke(everyone, "general", call);
    await new Promise((done) => setTimeout(done, 60));
    expect(seen.closed).toBe(0);
    slow.open();
    expect(await answer).toEqual(ok(1));
    await vi.waitFor(() => expect(seen.closed).toBe(1), PATIENCE);
    await owner.close();
  });

  test("at rest neither a store nor a model is held, and the next call brings both back", async () => {
    const held = { models: 0 };
    const rested: number[] = [];
    const model = sharedModel({
      log: silentLog,
      locate: async () =>
        fakeModel(async () => {
          held.models += 1;
          return fakeEmbedder(() => {
            held.models -= 1;
          });
        }),
    });
    const { owner, seen } = fakeOwner({
      model: () => model,
      roster: [butler("a"), butler("b")],
      rested: () => void rested.push(held.models),
    });
    expect((await owner.health()).resting).toBe(true);
    for (const round of [1, 2]) {
      await Promise.all([owner.invoke(everyone, "a", call), owner.invoke(everyone, "b", call)]);
      expect((await owner.health()).resting).toBe(false);
      expect(held.models).toBe(1);
      await owner.rest();
      expect((await owner.health()).resting).toBe(true);
      expect(seen).toMatchObject({ opened: 2 * round, closed: 2 * round });
      // Told once each time, when the model is gone.
      expect(rested).toEqual(Array(round).fill(0));
    }
    await owner.close();
  });

  test("a rest that is asked for waits for the call under way, and a call that comes meanwhile is answered after it", async () => {
    const slow = gate();
    const begun = gate();
    const { owner, seen } = fakeOwner({
      call: async (memory) => {
        begun.open();
        await slow.passed;
        return ok(memory.number);
      },
    });
    const first = owner.invoke(everyone, "general", call);
    await begun.passed;
    const resting = owner.rest();
    const second = owner.invoke(everyone, "general", call);
    expect(seen.closed).toBe(0);
    slow.open();
    expect(await first).toEqual(ok(1));
    expect(await second).toEqual(ok(2));
    await resting;
    await owner.close();
  });

  test("a failure to open is an outcome, is shown by health, and is tried again", async () => {
    let broken = true;
    const { owner } = fakeOwner({
      open: async () => {
        if (broken) throw new MemoryError("integrity", "The store was made by a newer version.");
        return { number: 1, embedder: undefined, close: async () => undefined };
      },
    });
    expect(await owner.invoke(everyone, "general", call)).toEqual({
      ok: false,
      error: { code: "unavailable", message: "The store was made by a newer version." },
    });
    expect(await owner.health()).toMatchObject({
      ok: false,
      butlers: [{ name: "general", store: "failed", reason: "The store was made by a newer version." }],
    });
    broken = false;
    expect(await owner.invoke(everyone, "general", call)).toEqual(ok(1));
    expect(await owner.health()).toMatchObject({ ok: true, butlers: [{ store: "open" }] });
    await owner.close();
  });

  test("closing waits for calls under way and refuses new ones", async () => {
    const slow = gate();
    const { owner, seen } = fakeOwner({
      call: async (memory) => {
        await slow.passed;
        return ok(memory.number);
      },
    });
    const early = owner.invoke(everyone, "general", call);
    const closing = owner.close();
    expect(await owner.invoke(everyone, "general", call)).toMatchObject({ ok: false, error: { code: "unavailable" } });
    expect(seen.closed).toBe(0);
    slow.open();
    expect(await early).toEqual(ok(1));
    await closing;
    expect(seen).toMatchObject({ opened: 1, closed: 1 });
  });

  test("maintenance comes when writes have stopped, once, and not after reads", async () => {
    const { owner, seen } = fakeOwner({ quietMs: 20, writes: (tool) => tool === "write" });
    await owner.invoke(everyone, "general", { tool: "read", input: {} });
    await new Promise((done) => setTimeout(done, 60));
    expect(seen.maintained).toBe(0);
    for (let n = 0; n < 5; n++) await owner.invoke(everyone, "general", { tool: "write", input: {} });
    await vi.waitFor(() => expect(seen.maintained).toBe(1), PATIENCE);
    await owner.close();
    expect(seen.maintained).toBe(1);
  });

  test("a failing maintenance does not fail calls", async () => {
    const { owner } = fakeOwner({ quietMs: 1, maintain: () => Promise.reject(new Error("vacuum")) });
    await owner.invoke(everyone, "general", call);
    await new Promise((done) => setTimeout(done, 30));
    expect(await owner.invoke(everyone, "general", call)).toEqual(ok(1));
    await owner.close();
  });
});

describe("who may ask", () => {
  const roster = [butler("general"), butler("health"), butler("memory", 'role = "memory"')];
  const token = { name: "t", tenant: "default", butler: "health", admin: false, voice: "agent" } as const;

  test("a token of one butler opens that one and the memory butler only", async () => {
    const { owner } = fakeOwner({ roster });
    expect(await owner.invoke(token, "health", call)).toMatchObject({ ok: true });
    expect(await owner.invoke(token, "memory", call)).toMatchObject({ ok: true });
    expect(await owner.invoke(token, "general", call)).toMatchObject({ ok: false, error: { code: "forbidden" } });
    await owner.close();
  });

  test("an unknown butler is named with the choices", async () => {
    const { owner } = fakeOwner({ roster });
    const outcome = await owner.invoke(everyone, "cook", call);
    expect(outcome).toMatchObject({
      ok: false,
      error: { code: "not_found", message: expect.stringContaining("general, health, memory") },
    });
    await owner.close();
  });

  test("a butler without memory says so", async () => {
    const { owner, seen } = fakeOwner({ roster: [butler("general", "[modules.memory]\nenabled = false")] });
    expect(await owner.invoke(everyone, "general", call)).toMatchObject({ ok: false, error: { code: "unavailable" } });
    expect(seen.opened).toBe(0);
    await owner.close();
  });
});

describe("a memory that a service keeps", () => {
  const asked: ToolRequest[] = [];
  const { owner } = fakeOwner({
    roster: [butler("ada", 'tenant = "family"\n[modules.memory]\nservice = "http://127.0.0.1:1/butlers/memory"\n')],
    remote: () => ({
      url: "http://127.0.0.1:1/",
      call: async (request) => {
        asked.push(request);
        return { ok: true, answer: {} };
      },
      probe: async () => undefined,
      close: async () => undefined,
    }),
  });
  const request = { tool: "memory_search", input: { query: "tea" } };
  const everywhere = { tool: "memory_search", input: { query: "tea", scope: "*" } };
  const ada: Principal = { ...everyone, tenant: "family", butler: "ada", admin: false };

  test.each([
    ["of another tenant, though it is an admin's", "ada", everyone, request],
    ["of another tenant, made for this very butler", "ada", { ...ada, tenant: "elsewhere" }, request],
    ["that may not read all scopes, though the service's own may", "ada", ada, everywhere],
  ] as const)("is not asked for a local token %s", async (_, name, who, what) => {
    const before = asked.length;
    expect(await owner.invoke(who, name, what)).toMatchObject({ ok: false, error: { code: "forbidden" } });
    expect(asked).toHaveLength(before);
  });

  test("is asked for its own", async () => {
    const before = asked.length;
    expect(await owner.invoke(ada, "ada", request)).toMatchObject({ ok: true });
    expect(await owner.invoke({ ...ada, butler: "*", admin: true }, "ada", everywhere)).toMatchObject({ ok: true });
    expect(asked).toHaveLength(before + 2);
  });
});

describe("the shared model", () => {
  test("answers come without a model while it is fetched, and with it once it has arrived", async () => {
    const fetched = gate();
    const model = sharedModel({
      log: silentLog,
      locate: async () => undefined,
      pull: async () => {
        await fetched.passed;
        return fakeModel(async () => fakeEmbedder());
      },
    });
    const { owner, seen } = fakeOwner({ model: () => model });
    expect(await owner.invoke(everyone, "general", call)).toEqual(ok(1, false));
    expect((await owner.health()).model).toContain("being fetched");
    fetched.open();
    await vi.waitFor(async () => expect(await owner.invoke(everyone, "general", call)).toEqual(ok(1, true)), {
      ...PATIENCE,
    });
    expect(seen).toMatchObject({ opened: 1, closed: 0 });
    expect((await owner.health()).model).toBe("fake int8");
    await owner.close();
  });

  test("a failed fetch is told and tried again later", async () => {
    let attempts = 0;
    const model = sharedModel({
      log: silentLog,
      retryPullMs: 5,
      locate: async () => undefined,
      pull: async () => {
        attempts += 1;
        if (attempts === 1) throw new Error("no network");
        return fakeModel(async () => fakeEmbedder());
      },
    });
    const { owner } = fakeOwner({ model: () => model });
    await owner.invoke(everyone, "general", call);
    await vi.waitFor(
      async () => expect(await owner.invoke(everyone, "general", call)).toMatchObject({ answer: { model: true } }),
      PATIENCE,
    );
    expect(attempts).toBe(2);
    await owner.close();
  });

  test("a slow loading holds up only those who embed", async () => {
    const loading = gate();
    const model = sharedModel({
      log: silentLog,
      locate: async () =>
        fakeModel(async () => {
          await loading.passed;
          return fakeEmbedder();
        }),
    });
    const { owner } = fakeOwner({
      model: () => model,
      call: async (memory, _, request) => {
        if (request.tool === "embeds") await memory.embedder?.embed("x", "query");
        return ok(memory.number, memory.embedder !== undefined);
      },
    });
    const embeds = owner.invoke(everyone, "general", { tool: "embeds", input: {} });
    expect(await owner.invoke(everyone, "general", { tool: "plain", input: {} })).toEqual(ok(1, true));
    loading.open();
    expect(await embeds).toEqual(ok(1, true));
    await owner.close();
  });

  test("two stores share one model, which goes when both are closed and comes back with the next", async () => {
    const seen = { loaded: 0, closed: 0 };
    const model = sharedModel({
      log: silentLog,
      locate: async () =>
        fakeModel(async () => {
          seen.loaded += 1;
          return fakeEmbedder(() => {
            seen.closed += 1;
          });
        }),
    });
    const { owner } = fakeOwner({ model: () => model, roster: [butler("a"), butler("b")], storeIdleMs: 20 });
    await Promise.all([owner.invoke(everyone, "a", call), owner.invoke(everyone, "b", call)]);
    expect(seen).toEqual({ loaded: 1, closed: 0 });
    await vi.waitFor(() => expect(seen).toEqual({ loaded: 1, closed: 1 }), PATIENCE);
    await owner.invoke(everyone, "a", call);
    expect(seen.loaded).toBe(2);
    await owner.close();
    expect(seen.closed).toBe(2);
  });

  test("a model whose bytes are wrong is not used, and health says so", async () => {
    const model = sharedModel({ log: silentLog, locate: () => Promise.reject(new Error("wrong sha256")) });
    const { owner } = fakeOwner({ model: () => model });
    expect(await owner.invoke(everyone, "general", call)).toEqual(ok(1, false));
    expect((await owner.health()).model).toBe("none: wrong sha256");
    await owner.close();
  });
});
