/** Over any history of speakers: what the user said is not taken away by lesser words, and nothing is better than its sources. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { type Trust, trustRank } from "../../src/engine/domain/learning/trust.ts";
import { effectiveConfidence } from "../../src/engine/domain/lifecycle/decay.ts";
import { consolidate } from "../../src/engine/memory/learn/consolidate.ts";
import { runJob } from "../support/job-runs.ts";
import { verifyInScratch } from "../support/scratch.ts";
import { fact, scripted } from "../support/scripted-extractor.ts";
import { type Guest, onOneRig } from "../support/tenants.ts";

const THRESHOLD = 0.2;
const voice = fc.constantFrom<Trust>("tool", "agent", "agent", "user");
const town = fc.constantFrom("Porto", "Graz", "Oslo", "Lima");
const predicate = fc.constantFrom("lives_in", "works_in");
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("fact" as const), voice, town, predicate }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("rule" as const), voice, town: fc.constant("Porto") }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("learn" as const), voice, town, predicate, by: voice }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("cite" as const), voice, town, predicate }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("later" as const), days: fc.constantFrom(1, 20, 60) }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

let serial = 0;
const says = (voice: Trust) => ({ as: { voice } });

async function take(g: Guest, one: Step): Promise<void> {
  if (one.kind === "later") return g.later(one.days);
  if (one.kind === "rule") {
    const told = { content: `Always greet people in ${one.town}.` };
    if (one.voice === "tool") await g.refused("memory_store_rule", told, says(one.voice));
    else await g.call("memory_store_rule", told, says(one.voice));
    return;
  }
  const told = { subject: "user", predicate: one.predicate, content: one.town };
  if (one.kind === "fact") {
    await g.call("memory_store_fact", told, says(one.voice));
    return;
  }
  const episode = { content: `${one.town} it is, ${one.predicate}, at the ${++serial}th time.` };
  const { id } = await g.call("memory_store_episode", episode, says(one.voice));
  if (one.kind === "cite") {
    await g.call("memory_store_fact", { ...told, source_episode_id: id }, says("agent"));
    return;
  }
  const answer = (label: string) => ({
    facts: [fact(one.predicate, one.town, [label])],
    rules: [{ content: `Never stay in ${one.town} for long.`, episodes: [label] }],
  });
  const { extractor } = scripted(({ episodes }) => answer(episodes.at(-1)?.label ?? "e1"));
  if (one.by !== "agent") await runJob(g, consolidate, { extractor });
  else {
    const { run_id, episodes } = await g.call("memory_consolidate", {}, says("agent"));
    await g.call("memory_consolidate", { run_id, ...answer(episodes.at(-1).label) }, says("agent"));
  }
}

interface Row {
  readonly id: string;
  readonly trust: Trust;
  readonly validity: string;
  readonly confidence: number;
  readonly decay_rate: number;
  readonly last_confirmed_at: Date;
}

const usersFacts = (g: Guest) =>
  g.db.query<Row>(
    `select id, trust, validity, confidence, decay_rate, last_confirmed_at from facts
     where tenant_id = $1 and trust = 'user' and validity in ('active', 'fading')`,
    [g.tenant],
  );
const isSeen = (row: Row, now: Date) => effectiveConfidence(row, now) >= THRESHOLD;
const speaks = (one: Step) => one.kind === "later" || one.voice === "user";

onOneRig(
  "laws of trust",
  (guest) => {
    it("hold whoever says what, and the stream replays to the same rows", async () => {
      const met = new Set<string>();
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 14 }), async (history) => {
          const g = guest();
          for (const one of history) {
            const before = await usersFacts(g);
            await take(g, one);
            if (speaks(one)) continue;
            for (const old of before) {
              const [now] = await g.db.query<Row>("select * from facts where id = $1", [old.id]);
              expect([now?.validity, now?.trust]).toEqual([old.validity, "user"]);
              expect(now?.last_confirmed_at).toEqual(old.last_confirmed_at);
              if (now && isSeen(old, g.now)) expect(isSeen(now, g.now)).toBe(true);
              expect(now?.confidence).toBeGreaterThanOrEqual(Math.min(old.confidence, 0.5));
            }
          }
          const rules = await g.db.query("select 1 as one from rules where tenant_id = $1 and trust = 'tool'", [
            g.tenant,
          ]);
          expect(rules).toEqual([]);
          const derived = await g.db.query<{ trust: Trust; sources: Trust[]; vouched: boolean }>(
            `select m.trust, array_agg(e.trust) as sources from memory_links l
             join episodes e on e.id = l.target_id
             join (select id, trust from facts union all select id, trust from rules) m on m.id = l.source_id
             where l.tenant_id = $1 and l.relation = 'derived_from'
               and not exists (select 1 from memory_events v where v.entity_id = m.id and v.payload #>> '{set,trust}' = 'user')
             group by m.id, m.trust`,
            [g.tenant],
          );
          for (const { trust, sources } of derived)
            expect(trustRank(trust)).toBeLessThanOrEqual(Math.min(...sources.map(trustRank)));
          for (const { event_type } of await g.events()) met.add(event_type);
        }),
        { numRuns: 20, seed: 20261115, endOnFailure: true },
      );
      const { db } = guest();
      const { equal, differences, orphans } = await verifyInScratch(db);
      expect([differences, orphans, equal]).toEqual([[], [], true]);
      expect([...met]).toEqual(
        expect.arrayContaining(["fact.echoed", "fact.contradicted", "fact.superseded", "rule.echoed", "fact.repeated"]),
      );
    });
  },
  { model: false },
);
