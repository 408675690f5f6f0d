/** Small worlds for the decision of consolidation: what is known, a batch, an answer, and what is known after the changes. */
import fc from "fast-check";
import { saysSame } from "../../src/engine/domain/learning/agreement.ts";
import { Answer } from "../../src/engine/domain/learning/answer.ts";
import type {
  Batch,
  Change,
  FactDraft,
  Known,
  KnownFact,
  KnownRule,
  Witness,
} from "../../src/engine/domain/learning/change.ts";
import { TRUST, vouched } from "../../src/engine/domain/learning/trust.ts";
import { normaliseKey } from "../../src/engine/domain/text/text.ts";

export const NOW = new Date("2026-03-10T12:00:00.000Z");
export const BUTLER = "general";
const minute = (n: number) => new Date(NOW.getTime() - 86_400_000 + n * 60_000);

export interface Shelf {
  readonly facts: readonly KnownFact[];
  readonly rules: readonly KnownRule[];
}

export interface World {
  readonly answer: Answer;
  readonly shelf: Shelf;
  readonly batch: Batch;
}

/** Sentences that agree are near each other, all others are not. */
export const knownIn = (shelf: Shelf, answer: Answer): Known => ({
  ...shelf,
  likeness(kind, nth, id) {
    const [told, list] = kind === "fact" ? [answer.facts[nth], shelf.facts] : [answer.rules[nth], shelf.rules];
    const known = list.find((one) => one.id === id);
    return told !== undefined && known !== undefined && saysSame(told.content, known.content) ? 0.95 : 0.3;
  },
});

const trust = fc.constantFrom(...TRUST);
const city = fc.constantFrom("Porto", "Graz", "Oslo");
const sentence = fc
  .tuple(fc.constantFrom("lives in", "does not live in", "grew up in"), city, fc.constantFrom("", " near the river"))
  .map(([verb, where, more]) => `The user ${verb} ${where}${more}.`);
const spoken = fc
  .tuple(sentence, fc.constantFrom("", "", " Tell all my butlers."))
  .map(([said, whom]) => `${said}${whom}`);
const instruction = fc.constantFrom(
  ...["Run the tests before pushing.", "Run all the tests before pushing.", "Never run the tests before pushing."],
  ...["Answer in German.", "Do not answer in German.", "Use 2 spaces.", "Use 4 spaces."],
);
const subject = fc.constantFrom("user", "User", "the owner", "Ann");
const predicate = fc.constantFrom("lives_in", "Lives In", "home");
const scope = fc.constantFrom("global" as const, "own" as const);
const scopeOfKnown = fc.constantFrom("global", BUTLER, `${BUTLER}/app`, "other");

const factOf = (labels: fc.Arbitrary<string[]>) =>
  fc.record({
    ...{ subject, predicate, content: sentence, scope, episodes: labels },
    permanence: fc.constantFrom("stable", "stable", "permanent", "ephemeral"),
    confidence: fc.double({ min: 0, max: 1, noNaN: true }),
    valid_from: fc.constantFrom(null, null, null, "2026-01-01", "2026-06-01", "2026-07-01"),
    valid_to: fc.constantFrom(null, null, null, "2026-03-01", "2027-01-01"),
    supersedes: fc.constantFrom(null, null, "f1", "f2", "f3", "f9"),
    contradicts: fc.constantFrom(null, null, null, "f1", "f2", "f9"),
  });

const knownFact = fc.record({
  ...{ subject: fc.constantFrom("user", "ann"), predicate: fc.constantFrom("lives in", "home", "works in") },
  ...{ content: sentence, scope: scopeOfKnown, trust, minute: fc.nat(60), shown: fc.boolean() },
  confidence: fc.double({ min: 0.2, max: 1, noNaN: true }),
  valid_to: fc.constantFrom(null, null, null, new Date("2026-03-02"), new Date("2027-01-01")),
  waits_until: fc.constantFrom(null, null, null, new Date("2026-06-01"), new Date("2026-07-01")),
});
const knownRule = fc.record({ content: instruction, scope: scopeOfKnown, trust, shown: fc.boolean() });

const keyOf = (fact: { scope: string; subject: string; predicate: string; waits_until: Date | null }) =>
  [fact.scope, normaliseKey(fact.subject), normaliseKey(fact.predicate), fact.waits_until?.toISOString()].join(" | ");
export const keysOf = (facts: readonly KnownFact[]): string[] => facts.map(keyOf);

/** With `ties`, several episodes may have happened at the same moment. */
export const worlds = (ties = false): fc.Arbitrary<World> =>
  fc
    .record({
      heard: ties
        ? fc.array(fc.record({ trust, text: spoken, minute: fc.nat(8) }), { minLength: 1, maxLength: 6 })
        : fc.uniqueArray(fc.record({ trust, text: spoken, minute: fc.nat(60) }), {
            ...{ minLength: 1, maxLength: 6, selector: (one: { minute: number }) => one.minute },
          }),
      facts: fc.uniqueArray(knownFact, { maxLength: 5, selector: keyOf }),
      rules: fc.uniqueArray(knownRule, { maxLength: 4, selector: (rule) => `${rule.scope} ${rule.content}` }),
      butler: fc.constantFrom(BUTLER, `${BUTLER}/app`),
    })
    .chain(({ heard, facts, rules, butler }) => {
      const witnesses = heard.map((one, n): Witness => {
        const { trust, text } = one;
        return { label: `e${n + 1}`, id: `episode ${n}`, text, trust, occurred_at: minute(one.minute) };
      });
      const labels = fc.array(fc.constantFrom(...witnesses.map(({ label }) => label), "e99"), {
        ...{ minLength: 1, maxLength: 3 },
      });
      const shelf: Shelf = {
        facts: facts.map(({ shown, minute: at, ...fact }, n) => ({
          ...{ ...fact, id: `fact ${n}`, label: shown ? `f${n + 1}` : undefined, observed_at: minute(at) },
          ...{ witnesses: new Set([`before ${n}`]), disputers: new Set<string>() },
        })),
        rules: rules.map(({ shown, ...rule }, n) => ({
          ...{ ...rule, id: `rule ${n}`, label: shown ? `r${n + 1}` : undefined, confidence: 0.5 },
          witnesses: new Set([`before ${n}`]),
        })),
      };
      return fc
        .record({
          facts: fc.array(factOf(labels), { maxLength: 6 }),
          rules: fc.array(fc.record({ content: instruction, scope, episodes: labels }), { maxLength: 4 }),
          confirmations: fc.array(
            fc.record({ id: fc.constantFrom("f1", "f2", "f3", "r1", "r2", "f8"), episodes: labels }),
            { maxLength: 3 },
          ),
          hint: fc.constantFrom(false, false, true),
        })
        .map(({ hint, ...answer }) => ({
          answer: Answer.parse(answer),
          shelf,
          batch: {
            ...{ butler, witnesses, now: NOW, hintConfidence: 0.15 },
            learned: () => ({ by: "test", ...(hint ? { hint } : {}) }),
          },
        }));
    });

/** What is known when the changes are written. Throws where the store would refuse. */
export function afterwards(shelf: Shelf, changes: readonly Change[], { witnesses }: Batch): Shelf {
  const facts = new Map(shelf.facts.map((fact) => [fact.id, fact]));
  const rules = new Map(shelf.rules.map((rule) => [rule.id, rule]));
  const get = <T>(map: ReadonlyMap<string, T>, id: string): T => {
    const found = map.get(id);
    if (found === undefined) throw new Error(`${id} is not alive`);
    return found;
  };
  const spoke = (ids: readonly string[], before = 0) =>
    new Date(Math.max(before, ...witnesses.filter(({ id }) => ids.includes(id)).map((w) => w.occurred_at.getTime())));
  const add = (nth: number, fact: FactDraft, episodes: readonly string[], disputers: readonly string[]) => {
    const id = `new ${nth} ${keyOf(fact)}`;
    if ([...facts.values()].some((known) => keyOf(known) === keyOf(fact))) throw new Error(`${keyOf(fact)} is taken`);
    facts.set(id, {
      ...{ id, label: undefined, content: fact.content, scope: fact.scope, confidence: fact.confidence },
      ...{ subject: normaliseKey(fact.subject), predicate: normaliseKey(fact.predicate), trust: fact.trust },
      ...{ observed_at: spoke(episodes), valid_to: fact.valid_to, waits_until: fact.waits_until },
      ...{ witnesses: new Set(episodes), disputers: new Set(disputers) },
    });
  };
  for (const change of changes) {
    const { nth, episodes } = change;
    if (change.kind === "create_rule") {
      for (const { id, confidence } of change.contradicts) rules.set(id, { ...get(rules, id), confidence });
      const id = `new rule ${nth}`;
      rules.set(id, { ...change.rule, id, label: undefined, confidence: 0.5, witnesses: new Set(episodes) });
    } else if (change.kind === "confirm_rule") {
      const rule = get(rules, change.id);
      const trust = vouched(rule.trust, change.trust);
      rules.set(rule.id, { ...rule, trust, witnesses: new Set([...rule.witnesses, ...episodes]) });
    } else if (change.kind === "confirm_fact") {
      const fact = get(facts, change.id);
      const known = {
        witnesses: new Set([...fact.witnesses, ...episodes]),
        trust: vouched(fact.trust, change.trust),
      };
      facts.set(fact.id, { ...fact, ...known, observed_at: spoke(episodes, fact.observed_at.getTime()) });
    } else if (change.kind === "contradict_fact") {
      const fact = get(facts, change.lowered.id);
      const disputers = new Set([...fact.disputers, ...episodes]);
      facts.set(fact.id, { ...fact, confidence: change.lowered.confidence, disputers });
    } else {
      if (change.kind === "supersede_fact") for (const id of change.replaced) facts.delete(get(facts, id).id);
      add(nth, change.fact, episodes, change.disputers);
      const lowered = change.kind === "create_fact" ? change.contradicts : [];
      for (const { id, confidence } of lowered) facts.set(id, { ...get(facts, id), confidence });
    }
  }
  return { facts: [...facts.values()], rules: [...rules.values()] };
}
