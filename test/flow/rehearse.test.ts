/** Blocks that are made for nobody after a start: they find what a prompt would find, and leave nothing behind. */
import { expect, it, vi } from "vitest";
import type { Call, Memory } from "../../src/engine/memory/memory.ts";
import { noModel } from "../../src/engine/memory/read-model/follow.ts";
import { openRehearsal } from "../../src/engine/memory/recall/rehearse.ts";
import { memoryOf } from "../../src/engine/memory/tenancy.ts";
import { PATIENCE } from "../support/patience.ts";
import { onEachStore, type Rig } from "../support/stores.ts";

const SAID = [
  "The deployment runs on Fridays at four.",
  "The roses need water twice a week.",
  "We chose Postgres because of its extensions.",
];

async function tellAll(rig: Rig): Promise<void> {
  for (const content of SAID) await rig.call("memory_store_episode", { content });
}

const left = async (rig: Rig) => {
  await rig.settled();
  const [events] = await rig.db.query("select count(*)::int as n from memory_events");
  return {
    events,
    read: await rig.db.query("select id, reference_count, last_referenced_at from episodes order by id"),
  };
};

const callOf = (memory: Memory, { now }: Rig): Call => ({
  memory: memoryOf(memory, "default"),
  caller: {
    ...{ tenant: "default", butler: "general", admin: false, actor: "test", voice: "user", session: undefined },
  } as unknown as Call["caller"],
  now,
  request: undefined,
  idempotencyKey: undefined,
});

onEachStore("a rehearsal", (open) => {
  it("follows the first question, asks by what that found, and counts nothing", async () => {
    const rig = await open({ rehearses: true });
    await tellAll(rig);
    const embedded = vi.spyOn(rig.memory.embedder ?? expect.fail("no model"), "embed");
    await rig.call("memory_search", { query: "When is the deployment?" });
    const before = await left(rig);
    const texts = () => embedded.mock.calls.flat(2).map(String);
    await vi.waitFor(() => expect(SAID.every((said) => texts().includes(said))).toBe(true), PATIENCE);
    await rig.memory.rehearsal.stop();
    expect(await left(rig)).toEqual(before);
    embedded.mockRestore();
  });

  it("waits while somebody is being answered", async () => {
    const rig = await open();
    await tellAll(rig);
    await rig.memory.readModel.load(rig.memory.versions.serving?.version, "default");
    let looks = 0;
    const traffic = {
      // Before and after each pause: others have called in the first three that had nobody under way.
      get calls() {
        return Math.min(looks, 8);
      },
      get underWay() {
        return ++looks < 5 ? 1 : 0;
      },
    };
    const memory = Object.create(rig.memory, { traffic: { value: traffic } }) as Memory;
    const embedded = vi.spyOn(memory.embedder ?? expect.fail("no model"), "embed");
    const rehearsal = openRehearsal();
    rehearsal.begin(callOf(memory, rig), SAID[0] ?? "");
    await vi.waitFor(() => expect(embedded).toHaveBeenCalled(), PATIENCE);
    expect(looks).toBeGreaterThanOrEqual(9);
    await rehearsal.stop();
    embedded.mockRestore();
  });

  it("is not made where the store answers itself, nor after the end", async () => {
    const rig = await open();
    await tellAll(rig);
    const embedded = vi.spyOn(rig.memory.embedder ?? expect.fail("no model"), "embed");
    const caughtUp = vi.fn(noModel.caughtUp);
    const alone = Object.create(rig.memory, { readModel: { value: { ...noModel, caughtUp } } }) as Memory;
    const [tried, ended] = [openRehearsal(), openRehearsal()];
    tried.begin(callOf(alone, rig), "roses");
    await vi.waitFor(() => expect(caughtUp).toHaveBeenCalled(), PATIENCE);
    await tried.stop();
    ended.begin(callOf(rig.memory, rig), "roses");
    await ended.stop();
    expect(embedded).not.toHaveBeenCalled();
    embedded.mockRestore();
  });
});
