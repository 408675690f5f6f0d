/** What a writer hands over to the read model is what the store would tell of the same memory, to the last bit. */
import fc from "fast-check";
import { expect, it, vi } from "vitest";
import { halfOf, halvesOf } from "../../src/engine/domain/read-model/halves.ts";
import type { ReadMemory } from "../../src/engine/domain/read-model/rows.ts";
import { countsAs, readAs } from "../../src/engine/memory/read-model/given.ts";
import { allCounted } from "../../src/engine/memory/recall/reference.ts";
import { asOwner } from "../../src/engine/memory/tenancy.ts";
import { readCounts } from "../../src/engine/store/read-model/counts.ts";
import { readMemories } from "../../src/engine/store/read-model/rows.ts";
import { onEachStore } from "../support/stores.ts";

const texts = fc.oneof(
  fc.constantFrom("Did you water the roses?", "Yes? 😀", "ends with 😀", "?", "Ja!", "Äpfel und Birnen\nund Nüsse?!"),
  fc.string({ minLength: 1, maxLength: 60, unit: "grapheme" }),
);

onEachStore("what a writer hands over", (open) => {
  it("equals the counts of readings that the store has", async () => {
    const rig = await open();
    for (let day = 1; day <= 3; day++)
      await rig.call("memory_store_episode", { content: `On day ${day} the roses bloomed.` });
    await rig.call("memory_store_fact", { subject: "roses", predicate: "colour", content: "The roses are red." });
    await rig.call("memory_store_rule", { content: "Water the roses in the evening." });
    const expecting = vi.spyOn(rig.memory.readModel, "expectCounts");
    for (let time = 0; time < 3; time++) {
      await rig.call("memory_search", { query: "When did the roses bloom?", min_relevance: 0 });
      await rig.call("memory_context", { trigger_prompt: "the roses" });
      await allCounted(rig.memory);
    }
    const handed = expecting.mock.calls.at(-1)?.[0] ?? [];
    expecting.mockRestore();
    expect(handed.length).toBeGreaterThan(3);
    const version = rig.memory.versions.serving?.version as number;
    const ids = [...new Set(handed.map(({ id }) => id))];
    const stored = await readCounts(asOwner(rig.memory, "read model"), ids, version);
    for (const id of ids) {
      const [given] = countsAs(
        handed.filter((row) => row.id === id),
        version,
      );
      const read = stored.find((row) => row.id === id);
      expect(given?.reference_count).toBeGreaterThan(1);
      expect({ ...given, visibleUntil: given?.visibleUntil ?? read?.visibleUntil }).toEqual(read);
    }
  });

  it("equals what is read from the store", async () => {
    const rig = await open();
    const expecting = vi.spyOn(rig.memory.readModel, "expect");
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            content: texts.filter((text) => text.trim() !== ""),
            importance: fc.option(fc.double({ min: 0, max: 10, noNaN: true }), { nil: undefined }),
            tags: fc.array(fc.constantFrom("work", "home", "a b"), { maxLength: 3 }),
            session_id: fc.option(fc.constantFrom("s1", "s2"), { nil: undefined }),
            speaker: fc.option(fc.constantFrom("Ann Lee", "assistant"), { nil: undefined }),
            occurred_at: fc.option(fc.constant("2026-01-02T03:04:05.678Z"), { nil: undefined }),
          }),
          { minLength: 1, maxLength: 6 },
        ),
        async (episodes) => {
          await Promise.all(episodes.map((one) => rig.call("memory_store_episode", JSON.parse(JSON.stringify(one)))));
        },
      ),
      { numRuns: 15 },
    );
    const handed = expecting.mock.calls.flatMap(([given]) => given);
    expecting.mockRestore();
    expect(handed.length).toBeGreaterThan(10);
    const version = rig.memory.versions.serving?.version as number;
    const stored = await readMemories(
      asOwner(rig.memory, "read model"),
      handed.map(({ row }) => row.id),
      version,
    );
    const plain = (memory: ReadMemory) => ({
      ...memory,
      words: memory.words && { ...memory.words, x: [...memory.words.x] },
      vector: memory.vector && {
        ...memory.vector,
        halves: [...memory.vector.halves],
        tokens: memory.vector.tokens && [...memory.vector.tokens],
      },
    });
    for (const [at, given] of handed.entries())
      expect(plain(readAs(given, version))).toEqual(plain(stored[at] as ReadMemory));
  });

  it("rounds to halves as the store does", async () => {
    const rig = await open();
    const all = Array.from({ length: 0x7c00 }, (_, bits) => halfOf(bits));
    const between = all.slice(1).flatMap((value, i) => {
      const middle = Math.fround((value + (all[i] as number)) / 2);
      return [middle, -middle, Math.fround(middle * 1.0001), Math.fround(middle * 0.9999)];
    });
    const numbers = [...all, ...between];
    for (let at = 0; at < numbers.length; at += 4096) {
      const part = Float32Array.from(numbers.slice(at, at + 4096));
      const [row] = await asOwner(rig.memory, "read model").query<{ halves: Uint8Array }>(
        "select substring(halfvec_send($1::halfvec) from 5) as halves",
        [`[${part.join(",")}]`],
      );
      expect(Buffer.from(halvesOf(part)).equals(Buffer.from(row?.halves ?? []))).toBe(true);
    }
  });
});
