/** Spans tell of a moment what the steps of every line tell, in whatever order clocks put them; and no number of lines is too many. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { canonicalState, isLive, VALIDITY } from "../../src/engine/domain/lifecycle/lifecycle.ts";
import { MEMORY_TYPES } from "../../src/engine/domain/memory-types.ts";
import { kindOf } from "../../src/engine/domain/past/spans.ts";
import { openTimeline, type Standing, type Told } from "../../src/engine/domain/past/timeline.ts";
import { encodeForward } from "../../src/engine/domain/ranking/words/postings.ts";
import { openReadModel } from "../../src/engine/domain/read-model/model.ts";
import type { Call } from "../../src/engine/memory/memory.ts";
import { openGoneVectors } from "../../src/engine/memory/past/gone-vectors.ts";

const STANDING: Standing = {
  ...{ validity: "active", importance: 5, tags: [], created_at: 0, confidence: 1, decay_rate: 0, trust: "user" },
  ...{ last_confirmed_at: null, valid_to: null, waits_until: null, corroborated_at: null, expires_at: null },
  ...{ permanence: undefined, maturity: undefined, tier: undefined, session: undefined, ordinal: undefined },
  speaker: undefined,
};
const SCOPES = ["global", "project:shop"];
const SAID = ["one", "two words", "three other words"].map((text) => encodeForward(text.split(" ")));

const states = fc.constantFrom(...VALIDITY, "forgotten" as (typeof VALIDITY)[number]);
const what = { id: fc.constantFrom("a", "b", "c"), at: fc.nat(20), said: fc.constantFrom(...SAID) };
const stored = fc
  .record({ ...what, type: fc.constantFrom(...MEMORY_TYPES), scope: fc.constantFrom(...SCOPES), validity: states })
  .map(({ validity, ...rest }): Told => {
    const standing = { ...STANDING, validity };
    return { kind: "stored", key: undefined, asks: false, name: undefined, ...rest, standing };
  });
const set = fc
  .record({ ...what, validity: fc.option(states), rewords: fc.boolean() })
  .map(({ validity, rewords, said, id, at }): Told => {
    const change = validity === null ? { importance: 6 } : { validity };
    return { kind: "set", id, at, change, reworded: rewords, said: rewords ? said : undefined };
  });
const deleted = fc.record({ id: what.id, at: what.at }).map((one): Told => ({ kind: "deleted", ...one }));

it("spans tell who was live, where, and with which words", () => {
  const asked = fc.record({
    moment: fc.nat(21),
    types: fc.subarray([...MEMORY_TYPES], { minLength: 1 }),
    scopes: fc.option(fc.subarray(SCOPES), { nil: undefined }),
  });
  const told = fc.array(
    fc.oneof({ weight: 2, arbitrary: stored }, { weight: 4, arbitrary: set }, { weight: 1, arbitrary: deleted }),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(told, fc.array(asked, { minLength: 1, maxLength: 6 }), (events, questions) => {
      const timeline = openTimeline();
      timeline.apply(events);
      for (const { moment, types, scopes } of questions) {
        const alive = timeline.alive({ moment, types, scopes });
        const wanted = timeline.lines.flatMap((line) => {
          const then = timeline.at(line, moment);
          const isThere = then !== undefined && isLive(canonicalState(then.standing.validity));
          if (!isThere || !types.includes(then.type) || scopes?.includes(then.scope) === false) return [];
          return [{ nth: line.nth, kind: kindOf(then.type), place: then.words }];
        });
        const found = Array.from(alive.lines, (nth) => ({ nth, kind: alive.kinds[nth], place: alive.places[nth] }));
        expect(found).toEqual(wanted);
        expect(alive.kinds.filter((kind) => kind !== 0)).toHaveLength(wanted.length);
        for (const { nth, place } of wanted) expect(timeline.holders[place]).toBe(nth);
      }
    }),
    { numRuns: 600 },
  );
});

it("takes in more lines than a call may have arguments", async () => {
  const timeline = openTimeline();
  const many = 150_000;
  timeline.apply(
    (function* () {
      for (let n = 0; n < many; n++)
        yield {
          ...{ kind: "stored", id: `${n}`, at: n, type: "fact", scope: "global", key: undefined, asks: false },
          ...{ name: undefined, standing: STANDING, said: SAID[0] },
        } as Told;
    })(),
  );
  const model = openReadModel();
  const call = {
    caller: { tenant: "t" },
    memory: { readModel: { caughtUp: async () => model }, db: { query: async () => [] } },
  };
  const all = await openGoneVectors().caughtUp(call as unknown as Call, timeline, 1);
  expect(all?.slots.subarray(0, many).every((slot) => slot === -1)).toBe(true);
  expect(timeline.alive({ moment: many / 2, types: ["fact"], scopes: undefined }).lines).toHaveLength(many / 2 + 1);
});
