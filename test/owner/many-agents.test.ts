/** One owner, many agents: no write is lost or doubled, and nothing is left behind. */

import { afterAll, expect, test, vi } from "vitest";
import {
  type Agent,
  agent,
  butler,
  canListProcesses,
  cleanUp,
  emptyHome,
  ownerNote,
  processesOf,
} from "../support/owner-processes.ts";
import { PATIENCE } from "../support/patience.ts";

afterAll(cleanUp);

const LEAVES_SOON = { BUTLER_IDLE_SECONDS: "2" };

async function storeMany(one: Agent, name: string, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    await one.call("memory_store_episode", {
      butler: "general",
      content: `${name} saw thing number ${n}`,
      session_id: name,
    });
  }
}

async function episodes(home: string): Promise<number> {
  const { code, stdout, stderr } = await butler(home, ["stats", "--json"], LEAVES_SOON);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return (JSON.parse(stdout) as { episodes: { total: number } }).episodes.total;
}

async function nobodyLeft(home: string): Promise<void> {
  await vi.waitFor(() => expect(processesOf(home)).toEqual([]), { ...PATIENCE, interval: 200 });
}

test.skipIf(!canListProcesses)("twenty agents at once on an empty home", async () => {
  const home = emptyHome();
  const agents = await Promise.all(Array.from({ length: 20 }, () => agent(home, LEAVES_SOON)));
  await Promise.all(agents.map((one, n) => storeMany(one, `agent-${n}`, 50)));
  expect(await episodes(home)).toBe(1_000);
  expect(processesOf(home)).toContain(ownerNote(home)?.pid);
  await Promise.all(agents.map((one) => one.close()));
  await nobodyLeft(home);
});

test.skipIf(!canListProcesses)(
  "an owner that is killed in the middle is replaced, and no write is lost or doubled",
  async () => {
    const home = emptyHome();
    const agents = await Promise.all(Array.from({ length: 20 }, () => agent(home, LEAVES_SOON)));
    const ids = new Set<unknown>();
    let acknowledged = 0;
    let killed = 0;
    const killAt = [300, 700];
    await Promise.all(
      agents.map(async (one, n) => {
        for (let round = 0; round < 50; round++) {
          const input = { butler: "general", content: `agent ${n} round ${round}` };
          const answer = await one.call("memory_store_episode", input);
          // A repeated call must get the first one's answer: stored as a call of its own it would be told "duplicate".
          expect(answer.duplicate).toBe(false);
          ids.add(answer.id);
          acknowledged += 1;
          const pid = ownerNote(home)?.pid;
          if (acknowledged >= (killAt[killed] ?? Number.POSITIVE_INFINITY) && pid !== undefined) {
            killed += 1;
            process.kill(pid, "SIGKILL");
          }
        }
      }),
    );
    expect({ acknowledged, ids: ids.size, killed }).toEqual({ acknowledged: 1_000, ids: 1_000, killed: 2 });
    expect(await episodes(home)).toBe(1_000);
    await Promise.all(agents.map((one) => one.close()));
    await nobodyLeft(home);
  },
);

test.skipIf(!canListProcesses)("agents that are killed leave no owner behind", async () => {
  const home = emptyHome();
  const one = await agent(home, LEAVES_SOON);
  await storeMany(one, "doomed", 1);
  const owner = ownerNote(home)?.pid;
  for (const pid of processesOf(home)) if (pid !== owner) process.kill(pid, "SIGKILL");
  await nobodyLeft(home);
});
