/** What a writer hands over to the read model is what the store would tell of the same memory, to the last bit. */
import fc from "fast-check";
import { expect, it, vi } from "vitest";
import { halfOf, halvesOf } from "../../src/engine/domain/read-model/halves.ts";
import type { ReadMemory } from "../../src/engine/domain/read-model/rows.ts";
import { readAs } from "../../src/engine/memory/read-model/given.ts";
import { asOwner } from "../../src/engine/memory/tenancy.ts";
import { readMemories } from "../../src/engine/store/read-model/rows.ts";
import { onEachStore } from "../support/stores.ts";

const texts = fc.oneof(
  fc.constantFrom("Did you water the roses?", "Yes? 😀", "ends with 😀", "?", "Ja!", "Äpfel und Birnen\nund Nüsse?!"),
  fc.string({ minLength: 1, maxLength: 60, unit: "grapheme" }),
);

onEachStore("what a writer hands over", (open) => {
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
