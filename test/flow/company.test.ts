/** Which calls are taken for readers', before whom episodes give way (test/pure/groups.test.ts, test/pure/traffic.test.ts). */
import { expect, it, vi } from "vitest";
import { onEachStore } from "../support/stores.ts";

onEachStore("readers", (open) => {
  it("are those who call a tool that changes nothing", async () => {
    const rig = await open();
    const begun = vi.spyOn(rig.memory.traffic, "begin");
    await rig.call("memory_store_episode", { content: "The lease ends in May." });
    await rig.call("memory_search", { query: "lease" });
    await rig.call("memory_context", { trigger_prompt: "When does the lease end?" });
    await rig.call("memory_stats", {});
    expect(begun.mock.calls).toEqual([[false], [true], [true], [true]]);
    expect(rig.memory.traffic.underWay).toBe(0);
    begun.mockRestore();
  });
});
