/** A roster that changes while the owner runs, and health that tells the truth. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { loadRoster } from "../../src/daemon/roster/roster.ts";
import { watchRoster } from "../../src/daemon/roster/watch.ts";
import { silentLog } from "../../src/engine/adapters/log.ts";
import { MemoryError } from "../../src/engine/domain/errors.ts";
import { butler, everyone, fakeOwner, gate } from "../support/owner-fakes.ts";
import { PATIENCE } from "../support/patience.ts";

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const ask = { tool: "memory_stats", input: {} };
const TTL = "[modules.memory.episodes]\ndefault_ttl_days = 3\n";
const memory = (more = "") => `[modules.memory]\n${more}`;

describe("a changed roster", () => {
  it("leaves those alone that stayed, opens those that changed anew, and knows those that went no more", async () => {
    const { owner, seen } = fakeOwner({ roster: ["a", "b", "c"].map((name) => butler(name, memory())) });
    for (const name of ["a", "b", "c"]) await owner.invoke(everyone, name, ask);
    expect(seen).toMatchObject({ opened: 3, closed: 0 });
    const roster = [butler("a", memory()), butler("b", memory() + TTL), butler("d", memory())];
    expect(owner.reload(roster)).toEqual({ added: ["d"], changed: ["b"], removed: ["c"] });
    await vi.waitFor(() => expect(seen.closed).toBe(2), PATIENCE);
    expect(await owner.invoke(everyone, "a", ask)).toMatchObject({ ok: true, answer: { number: 1 } });
    expect(await owner.invoke(everyone, "b", ask)).toMatchObject({ ok: true, answer: { number: 4 } });
    expect(await owner.invoke(everyone, "c", ask)).toMatchObject({ ok: false, error: { code: "not_found" } });
    expect((await owner.butlers()).map(({ name }) => name)).toEqual(["a", "b", "d"]);
    await owner.close();
    expect(seen).toMatchObject({ opened: 4, closed: 4 });
  });

  it("waits for the calls under way before the changed butler's store is opened again", async () => {
    const held = gate();
    let opened = 0;
    let open = 0;
    const { owner } = fakeOwner({
      roster: [butler("a", memory())],
      open: async () => {
        opened += 1;
        open += 1;
        // Two at once would be two owners of one embedded store.
        expect(open).toBe(1);
        return {
          number: opened,
          embedder: undefined,
          close: async () => {
            open -= 1;
          },
        };
      },
      call: async ({ number }) => {
        if (number === 1) await held.passed;
        return { ok: true, answer: { number } };
      },
    });
    const first = owner.invoke(everyone, "a", ask);
    await vi.waitFor(() => expect(opened).toBe(1), PATIENCE);
    owner.reload([butler("a", memory() + TTL)]);
    const second = owner.invoke(everyone, "a", ask);
    held.open();
    expect(await first).toMatchObject({ answer: { number: 1 } });
    expect(await second).toMatchObject({ answer: { number: 2 } });
    await owner.close();
  });

  it("on disk comes into force by itself; a faulty one is told and changes nothing", async () => {
    const folder = mkdtempSync(join(tmpdir(), "roster-"));
    folders.push(folder);
    const write = (name: string, text: string) => {
      mkdirSync(join(folder, name), { recursive: true });
      writeFileSync(join(folder, name, "butler.toml"), text);
    };
    write("a", `[butler]\nname = "a"\n${memory()}`);
    const { owner } = fakeOwner({ roster: loadRoster(folder) });
    const watch = watchRoster({ folder, settingsFile: "", log: silentLog, apply: owner.reload, everyMs: 20 });
    const names = async () => (await owner.butlers()).map(({ name }) => name);
    write("b", `[butler]\nname = "b"\n${memory()}`);
    await vi.waitFor(async () => expect(await names()).toEqual(["a", "b"]), PATIENCE);
    write("b", '[butler]\nname = "b"\nnmae = "x"\n');
    await vi.waitFor(() => expect(watch.fault()).toMatch(/b\/butler\.toml.*nmae/s), PATIENCE);
    expect(await names()).toEqual(["a", "b"]);
    rmSync(join(folder, "b"), { recursive: true });
    await vi.waitFor(async () => expect(await names()).toEqual(["a"]), PATIENCE);
    expect(watch.fault()).toBeUndefined();
    watch.stop();
    await owner.close();
  });
});

describe("without a roster", () => {
  it("the butler.toml of the home comes into force by itself, and goes again", async () => {
    const folder = mkdtempSync(join(tmpdir(), "home-"));
    folders.push(folder);
    const settingsFile = join(folder, "butler.toml");
    const { owner } = fakeOwner({ roster: loadRoster(undefined, settingsFile) });
    const watch = watchRoster({ folder: undefined, settingsFile, log: silentLog, apply: owner.reload, everyMs: 20 });
    const provider = () => owner.roster().map(({ name, memory }) => `${name} ${memory.extractor.provider}`);
    expect(provider()).toEqual(["general local"]);
    writeFileSync(settingsFile, '[butler]\nname = "general"\n[modules.memory.extractor]\nprovider = "claude-cli"\n');
    await vi.waitFor(() => expect(provider()).toEqual(["general claude-cli"]), PATIENCE);
    writeFileSync(settingsFile, '[butler]\nname = "ada"\n[modules.memory]\n');
    await vi.waitFor(() => expect(watch.fault()).toMatch(/expected "general", the one butler/), PATIENCE);
    expect(provider()).toEqual(["general claude-cli"]);
    rmSync(settingsFile);
    await vi.waitFor(() => expect(provider()).toEqual(["general local"]), PATIENCE);
    expect(watch.fault()).toBeUndefined();
    watch.stop();
    await owner.close();
  });
});

describe("health", () => {
  const standing = async (options: Parameters<typeof fakeOwner>[0]) => {
    const { owner } = fakeOwner({
      roster: [butler("a", memory()), butler("off", memory("enabled = false\n"))],
      ...options,
    });
    await owner.invoke(everyone, "a", ask);
    const { ok, butlers } = await owner.health();
    await owner.close();
    return { ok, butlers };
  };

  it("says open only of a store that answers, and unknown of one that does not", async () => {
    expect(await standing({ probe: async () => 1 })).toEqual({
      ok: true,
      butlers: [
        { name: "a", store: "open" },
        { name: "off", store: "off" },
      ],
    });
    const dead = await standing({ probe: () => Promise.reject(new Error("connection refused")) });
    expect(dead).toMatchObject({ ok: false, butlers: [{ store: "unknown", reason: "connection refused" }, {}] });
    const silent = await standing({ probe: () => new Promise(() => undefined) });
    expect(silent).toMatchObject({
      ok: false,
      butlers: [{ store: "unknown", reason: expect.stringMatching(/no answer/) }, {}],
    });
  });

  it("says unknown of closed stores whose server cannot be reached, and failed of one that would not open", async () => {
    const reach = () => Promise.reject(new MemoryError("unavailable", "the server is down"));
    const { owner } = fakeOwner({ roster: [butler("a", memory())], reach });
    expect(await owner.health()).toMatchObject({
      ok: false,
      butlers: [{ store: "unknown", reason: "the server is down" }],
    });
    await owner.close();
    const broken = await standing({ open: () => Promise.reject(new Error("no space left")) });
    expect(broken).toMatchObject({ ok: false, butlers: [{ store: "failed", reason: "no space left" }, {}] });
  });
});
