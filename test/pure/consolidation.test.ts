/** What an answer may change, for any answer and whatever is known. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Change, Witness } from "../../src/engine/domain/learning/change.ts";
import { decide } from "../../src/engine/domain/learning/decide.ts";
import { subjectOf } from "../../src/engine/domain/learning/person.ts";
import { bestTrust, TRUST, trustRank } from "../../src/engine/domain/learning/trust.ts";
import { afterwards, BUTLER, keysOf, knownIn, NOW, type Shelf, type World, worlds } from "../support/small-worlds.ts";

const decided = ({ answer, shelf, batch }: World) => decide(answer, knownIn(shelf, answer), batch);
const end = (world: World): Shelf => afterwards(world.shelf, decided(world).changes, world.batch);

const law = (
  world: fc.Arbitrary<World>,
  holds: (world: World, changes: readonly Change[]) => void,
  runs: fc.Parameters<[World]> = {},
) =>
  fc.assert(
    fc.property(world, (drawn) => holds(drawn, decided(drawn).changes)),
    { numRuns: 500, ...runs },
  );
const trustOf = (witnesses: readonly Witness[], ids: readonly string[]) =>
  bestTrust(witnesses.filter(({ id }) => ids.includes(id)).map(({ trust }) => trust));
/** Known memories that a change touches. */
const touched = (change: Change): string[] => {
  if (change.kind === "confirm_fact" || change.kind === "confirm_rule") return [change.id];
  if (change.kind === "contradict_fact") return [change.lowered.id];
  if (change.kind === "supersede_fact") return [...change.replaced];
  return change.contradicts.map(({ id }) => id);
};
const isOver = ({ valid_to }: { valid_to: Date | null }) => valid_to !== null && valid_to <= NOW;
/** Without ids, and in an order of its own. */
const told = ({ facts, rules }: Shelf) =>
  [...facts, ...rules]
    .map(({ id: _, witnesses, ...rest }) => JSON.stringify({ ...rest, witnesses: [...witnesses].sort(), disputers: 0 }))
    .sort();

describe("laws of a decision", () => {
  it("leaves one live fact for each key, and changes only what is alive", () => {
    law(worlds(true), ({ shelf, batch }, changes) => {
      const keys = keysOf(afterwards(shelf, changes, batch).facts);
      expect(new Set(keys).size).toBe(keys.length);
    });
  });

  it("cites episodes of the batch for each change, and nothing else, none of them twice", () => {
    law(worlds(true), ({ batch }, changes) => {
      const ids = batch.witnesses.map(({ id }) => id);
      for (const { episodes } of changes) {
        expect(episodes.length).toBeGreaterThan(0);
        expect(ids).toEqual(expect.arrayContaining([...episodes]));
        expect(new Set(episodes).size).toBe(episodes.length);
      }
    });
  });

  it("trusts nothing more than the best of its witnesses, nor is surer than that allows", () => {
    law(worlds(), ({ batch }, changes) => {
      for (const change of changes) {
        const made = "fact" in change ? change.fact : "rule" in change ? change.rule : undefined;
        if (made === undefined) continue;
        expect(trustRank(made.trust)).toBeLessThanOrEqual(trustRank(trustOf(batch.witnesses, change.episodes)));
        if ("confidence" in made && made.trust === "tool") expect(made.confidence).toBeLessThanOrEqual(0.6);
      }
    });
  });

  it("lets nobody supersede or confirm what a better source has said", () => {
    law(worlds(true), ({ shelf, batch }, changes) => {
      for (const change of changes) {
        if (!["supersede_fact", "confirm_fact", "confirm_rule"].includes(change.kind)) continue;
        const rank = trustRank(trustOf(batch.witnesses, change.episodes));
        for (const known of [...shelf.facts.filter((fact) => !isOver(fact)), ...shelf.rules])
          if (touched(change).includes(known.id)) expect(trustRank(known.trust)).toBeLessThanOrEqual(rank);
      }
    });
  });

  it("makes no rule of what tools say, and nothing of what is ephemeral or over", () => {
    law(worlds(), ({ answer }, changes) => {
      for (const change of changes) {
        if (change.kind === "create_rule") expect(change.rule.trust).not.toBe("tool");
        if (!("fact" in change)) continue;
        expect(change.fact.permanence).not.toBe("ephemeral");
        expect(isOver(change.fact)).toBe(false);
        expect(answer.facts[change.nth]?.content).toBe(change.fact.content);
      }
    });
  });

  it("does not care for the order of the items when each speaks at its own time", () => {
    const own = <T extends { episodes: string[] }>(items: readonly T[], n: number) =>
      items.slice(0, n).map((item, at) => ({ ...item, episodes: [`e${at + 1}`] }));
    law(worlds(), (world) => {
      const n = world.batch.witnesses.length;
      const { facts, rules, confirmations } = world.answer;
      const answer = { facts: own(facts, n), rules: own(rules, n), confirmations: own(confirmations, n) };
      const turned = {
        facts: answer.facts.toReversed(),
        rules: answer.rules.toReversed(),
        confirmations: answer.confirmations.toReversed(),
      };
      expect(told(end({ ...world, answer: turned }))).toEqual(told(end({ ...world, answer })));
    });
  });

  /** From one seed: in one of some 200,000 drawn worlds a plan moves once more, to the step of what the same words say of today. */
  it.each([false, true])("writes nothing twice (episodes of one moment: %s)", (ties) => {
    law(
      worlds(ties),
      (world, changes) => {
        const written = changes.filter((change) => "fact" in change).map(({ nth }) => nth);
        const facts = world.answer.facts.filter((_, nth) => written.includes(nth));
        const shelf = afterwards(world.shelf, changes, world.batch);
        const again = decided({ ...world, answer: { ...world.answer, facts }, shelf }).changes;
        expect(again.filter((change) => "fact" in change || "rule" in change)).toEqual([]);
      },
      { numRuns: 2_000, seed: 11 },
    );
  });

  it("touches nothing of another butler's scope", () => {
    law(worlds(), ({ shelf }, changes) => {
      const foreign = [...shelf.facts, ...shelf.rules].filter(({ scope }) => scope === "other").map(({ id }) => id);
      for (const change of changes) {
        for (const id of touched(change)) expect(foreign).not.toContain(id);
        if ("fact" in change) expect(change.fact.scope).not.toBe("other");
      }
    });
  });

  it("files what is learned with its episodes, the person's with the butler, and makes nothing global unasked", () => {
    law(worlds(), ({ answer, batch, shelf }, changes) => {
      const said = batch.witnesses.some(({ text }) => text.includes("all my butlers"));
      for (const change of changes) {
        const made = "fact" in change ? change.fact : "rule" in change ? change.rule : undefined;
        if (made === undefined) continue;
        expect([...(said ? ["global"] : []), BUTLER, batch.butler]).toContain(made.scope);
        if (!("fact" in change) || made.scope === "global") continue;
        // One that takes the place of another goes where that one is.
        const alone = answer.facts.length === 1 && answer.facts[0]?.supersedes === null;
        const held = !alone || shelf.facts.some(({ scope }) => scope === batch.butler);
        const isUser = subjectOf(answer.facts[change.nth]?.subject ?? "") === "user";
        if (isUser && !held) expect(made.scope).toBe(BUTLER);
        if (!isUser && alone) expect(made.scope).toBe(batch.butler);
      }
    });
  });

  it("leaves what is true now as it is for the sake of what begins ahead, and changes no other step", () => {
    law(worlds(true), ({ shelf }, changes) => {
      for (const change of changes) {
        if (change.kind !== "supersede_fact") continue;
        for (const fact of shelf.facts.filter(({ id }) => change.replaced.includes(id))) {
          expect(fact.scope).toBe(change.fact.scope);
          if (change.fact.waits_until !== null) expect(fact.waits_until).not.toBeNull();
        }
      }
    });
  });

  it("never lets older words win over newer ones", () => {
    law(worlds(true), ({ shelf, batch }, changes) => {
      for (const change of changes) {
        if (change.kind !== "supersede_fact") continue;
        const spoke = batch.witnesses.filter(({ id }) => change.episodes.includes(id));
        const last = Math.max(...spoke.map(({ occurred_at }) => occurred_at.getTime()));
        for (const fact of shelf.facts.filter(({ id }) => change.replaced.includes(id)))
          if (!isOver(fact)) expect(fact.observed_at.getTime()).toBeLessThanOrEqual(last);
      }
    });
  });

  it("tells of every item what became of it: no reason is given twice, and nothing is lost without one", () => {
    law(worlds(), (world) => {
      const { changes, dropped } = decided(world);
      const names = dropped.map(({ kind, nth }) => `${kind} ${nth}`);
      expect(new Set(names).size).toBe(names.length);
      const made = (kind: string) => changes.filter((change) => change.kind.endsWith(kind)).length;
      const lost = (kind: string) => dropped.filter((one) => one.kind === kind).length;
      const { facts, rules, confirmations } = world.answer;
      const items = facts.length + rules.length + confirmations.length;
      expect(made("fact") + made("rule") + dropped.length).toBeLessThanOrEqual(items);
      if (changes.length === 0) expect(lost("fact") + lost("rule") + lost("confirmation")).toBe(items);
    });
  });

  it("meets every kind of change in these worlds, or the laws would prove little", () => {
    const kinds = new Set<string>();
    for (const world of fc.sample(worlds(), { numRuns: 1_000, seed: 5 }))
      for (const { kind } of decided(world).changes) kinds.add(kind);
    expect([...kinds].sort()).toEqual(
      ["confirm_fact", "confirm_rule", "contradict_fact", "create_fact", "create_rule", "supersede_fact"].sort(),
    );
    expect(TRUST).toHaveLength(4);
  });
});
