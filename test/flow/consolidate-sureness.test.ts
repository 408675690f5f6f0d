/** What the local extractor learns carries who found it and how sure that was; said again, it is surer. */
import { expect, it } from "vitest";
import { localExtractor } from "../../src/engine/adapters/extractor/local.ts";
import type { Extractor } from "../../src/engine/adapters/extractor/port.ts";
import { consolidate } from "../../src/engine/memory/learn/consolidate.ts";
import { runJob } from "../support/job-runs.ts";
import { fact, hinting, scripted } from "../support/scripted-extractor.ts";
import { onEachStore, type Rig } from "../support/stores.ts";

const told = (rig: Rig, content: string) => rig.call("memory_store_episode", { content, speaker: "user" });
const learned = async (rig: Rig, extractor: Extractor = localExtractor()) => {
  await runJob(rig, consolidate, { extractor });
  return rig.db.query<{ content: string; confidence: number; validity: string; learned: Record<string, unknown> }>(
    `select content, confidence, validity, metadata -> 'learned' as learned from facts
     union all select content, confidence, validity, metadata -> 'learned' from rules order by content`,
  );
};
const search = async (rig: Rig, query: string) =>
  (await rig.call("memory_search", { query, types: ["fact", "rule"] })).results.map(
    ({ content }: { content: string }) => content,
  );

onEachStore("sureness", (open) => {
  it("each item says who found it, and how sure that was", async () => {
    const rig = await open({ model: false });
    await told(rig, "My name is Ada.");
    await told(rig, "we never use default exports in this repo");
    expect(await learned(rig)).toMatchObject([
      { content: "The user's name is Ada.", learned: { by: "patterns" } },
      { content: expect.stringMatching(/never use default exports/i), learned: expect.anything() },
    ]);
    const script = scripted((m) => ({ facts: [fact("city", "The user lives in Graz.", [m.episodes[0]!.label])] }));
    await told(rig, "I live in Graz.");
    const all = await learned(rig, script.extractor);
    expect(all.find(({ content }) => content.includes("Graz"))?.learned).toEqual({ by: "anthropic/scripted" });
  });

  it("what is said again rises, and is not learned twice", async () => {
    const rig = await open({ model: false });
    await told(rig, "the staging database is on port 5433");
    const [before] = await learned(rig);
    await told(rig, "btw the staging database is on port 5433");
    const after = await learned(rig);
    expect(after).toHaveLength(1);
    expect(after[0]!.confidence).toBeGreaterThan(before!.confidence);
  });

  it("a correction finds what was learned before it, in another run", async () => {
    const rig = await open({ model: false });
    await told(rig, "the test database is on 5433 and not 5432, start it with docker compose");
    await learned(rig);
    await told(rig, "the port of the test database changed by the way, it is 5544 now");
    const facts = await learned(rig);
    expect(
      facts
        .filter(({ validity }) => validity === "active")
        .map(({ content }) => content)
        .join(),
    ).toContain("5544");
    expect(facts.filter(({ content }) => content.includes("5433")).map(({ validity }) => validity)).toEqual([
      "superseded",
    ]);
  });

  it("a hint is told to nobody until it is said again", async () => {
    const rig = await open({ model: false });
    const hinted = hinting("rule", (label) => ({ rules: [{ content: "Squash before merging.", episodes: [label] }] }));
    await told(rig, "squash before merging i guess");
    expect(await learned(rig, hinted)).toMatchObject([{ confidence: 0.15, learned: { hint: true, sureness: 0.55 } }]);
    expect(await search(rig, "squash before merging")).toEqual([]);
    const [{ id = "" } = {}] = await rig.db.query<{ id: string }>("select id from rules");
    const { steps } = await rig.call("memory_why", { id, query: "squash before merging" });
    const words = steps.map((one: { words: string }) => one.words).join("\n");
    expect(words).toContain("found by reader-1, 55 % sure that it is a rule worth keeping");
    expect(words).toContain("heard once, and a second saying confirms it");
    await told(rig, "squash before merging please");
    expect(await learned(rig, hinted)).toMatchObject([{ confidence: 0.5 }]);
    expect(await search(rig, "squash before merging")).toEqual(["Squash before merging."]);
  });

  it("a hint that a person confirms, or stores by themselves, is told", async () => {
    const rig = await open({ model: false });
    const hinted = hinting("fact", (label) => ({ facts: [fact("editor", "The user edits with vim.", [label])] }));
    await told(rig, "vim it is, maybe");
    await learned(rig, hinted);
    expect(await search(rig, "edits with vim")).toEqual([]);
    await rig.call("memory_store_fact", { subject: "user", predicate: "editor", content: "The user edits with vim." });
    expect(await search(rig, "edits with vim")).toHaveLength(1);
  });
});
