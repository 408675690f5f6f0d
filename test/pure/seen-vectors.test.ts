/** The list of visible vectors is kept between questions: it must be that of the moment, after any changes and at any time. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { openVectors } from "../../src/engine/domain/read-model/vectors.ts";

const slot = fc.integer({ min: 0, max: 9 });
const moment = fc.oneof(fc.integer({ min: 0, max: 12 }), fc.constant(Number.POSITIVE_INFINITY));
const shelf = fc.integer({ min: 1, max: 3 });
const times = { visible: moment, live: moment };
const step = fc.oneof(
  fc.record({ kind: fc.constant("put" as const), slot, sk: shelf, ...times }),
  fc.record({ kind: fc.constant("see" as const), slot, ...times }),
  fc.record({ kind: fc.constant("drop" as const), slot }),
  fc.record({
    kind: fc.constantFrom("ask" as const, "ask" as const, "write over" as const),
    sks: fc.uniqueArray(shelf, { minLength: 1 }),
    after: fc.integer({ min: 0, max: 12 }),
    faded: fc.boolean(),
  }),
);

it("what is visible is told as if it were looked up anew", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const vectors = openVectors();
      const held = new Map<number, { sk: number; visible: number; live: number }>();
      for (const one of steps) {
        if (one.kind === "put") {
          const { sk, visible, live } = one;
          const vector = { sk, visibleUntil: visible, halves: new Uint8Array(16), pieces: 1, tokens: undefined };
          vectors.put(one.slot, vector, live);
          held.set(one.slot, { sk, visible, live });
        } else if (one.kind === "see") {
          const known = held.get(one.slot);
          if (known === undefined) continue;
          vectors.see(one.slot, one.visible, one.live);
          held.set(one.slot, { ...known, visible: one.visible, live: one.live });
        } else if (one.kind === "drop") {
          vectors.drop(one.slot);
          held.delete(one.slot);
        } else {
          const { sks, after, faded } = one;
          const found = vectors.seen(sks, after, faded, one.kind === "write over");
          const wanted = [...held].filter(
            ([, { sk, visible, live }]) => sks.includes(sk) && (faded ? live : visible) > after,
          );
          expect([...found].sort()).toEqual(wanted.map(([at]) => at).sort());
          if (one.kind === "write over") found.fill(-1);
        }
      }
    }),
    { numRuns: 500 },
  );
});
