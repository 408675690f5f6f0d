/** Sessions of the read model: what one of them said is left out as looking at every row would leave it out. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { openLookups } from "../../src/engine/domain/read-model/lookups.ts";
import type { ReadRow } from "../../src/engine/domain/read-model/rows.ts";

const NAMES = ["s1", "s2", null] as const;

const turn = (tenant_id: string, scope: string, session_id: string | null, ordinal: number | null): ReadRow =>
  ({ type: "episode", tags: [], speaker: null, tenant_id, scope, session_id, ordinal }) as unknown as ReadRow;

it("leaves out the episodes of a session in all scopes of its tenant, and keeps the order of the others", () => {
  const row = fc
    .tuple(fc.constantFrom("t1", "t2"), fc.constantFrom("a", "b"), fc.constantFrom(...NAMES), fc.option(fc.nat(5)))
    .map((parts) => turn(...parts));
  const change = fc.tuple(fc.nat(12), fc.option(row));
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), fc.constantFrom("t1", "t2"), (changes, tenant) => {
      const lookups = openLookups();
      const held = new Map<number, ReadRow>();
      for (const [slot, next] of changes) {
        const before = held.get(slot);
        if (before !== undefined) lookups.drop(slot, before);
        held.delete(slot);
        if (next === null) continue;
        lookups.put(slot, next);
        held.set(slot, next);
      }
      const slots = [...held.keys()].filter((slot) => held.get(slot)?.tenant_id === tenant);
      for (const session of ["s1", "s2", "unknown"]) {
        const left = slots.filter((slot) => held.get(slot)?.session_id !== session);
        expect([...lookups.outside(tenant, session, Int32Array.from(slots))]).toEqual(left);
      }
    }),
  );
});
