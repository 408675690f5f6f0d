/** Random lives: whatever is called in whatever order, and however time moves, these laws hold. */
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Db } from "../../src/engine/adapters/db/port.ts";
import { mayHappen, next, type Transition, type Validity } from "../../src/engine/domain/lifecycle/lifecycle.ts";
import { effectiveness } from "../../src/engine/domain/lifecycle/maturity.ts";
import { TIERS, type Tier } from "../../src/engine/domain/lifecycle/tiers.ts";
import type { Job } from "../../src/engine/memory/keep/job.ts";
import { jobs } from "../../src/engine/memory/keep/jobs.ts";
import { foldShelf } from "../../src/engine/store/index/fold.ts";
import { verifyLexical } from "../../src/engine/store/index/lexical-check.ts";
import { runJob } from "../support/job-runs.ts";
import { verifyInScratch } from "../support/scratch.ts";
import { type Guest, onOneRig } from "../support/tenants.ts";

interface Life {
  readonly g: Guest;
  readonly ids: string[];
  readonly rules: string[];
  readonly episodes: string[];
}

interface Step {
  readonly name: string;
  /** How it may change the state of a memory that was there before. */
  readonly may: readonly Transition[];
  run(life: Life): Promise<void>;
}

const oneOf = <T>(list: readonly T[], at: number): T | undefined => list[at % Math.max(1, list.length)];
const place = fc.nat(40);
const words = fc.constantFrom("Berlin", "berlin.", "Hamburg", "Rome in spring");
/** What long-lived episodes leave a fact or a rule of. */
const stated = fc.constantFrom("Ann lives in Rome.", "Always ask before deleting.");

type List = "ids" | "rules" | "episodes";

const telling = (tool: string, may: readonly Transition[], input: object, list: List = "ids"): Step => ({
  name: `${tool} ${JSON.stringify(input)}`,
  may,
  async run(life) {
    const { id } = await life.g.call(tool, input);
    for (const known of [life.ids, life[list]]) if (!known.includes(id)) known.push(id);
  },
});

const tell = (tool: string, may: readonly Transition[], input: fc.Arbitrary<object>, list: List = "ids") =>
  input.map((drawn) => telling(tool, may, drawn, list));

/** May be refused, if the state does not allow it; a refusal must change nothing, which the caller checks. */
const ask = (tool: string, may: readonly Transition[], input: fc.Arbitrary<(life: Life) => object | undefined>) =>
  fc.tuple(input, fc.nat(9)).map(
    ([inputOf, n]): Step => ({
      name: tool,
      may,
      async run(life) {
        const given = inputOf(life);
        if (given === undefined) return;
        const outcome = await life.g.outcome(tool, given, n === 0 ? { idempotencyKey: "one key for all" } : {});
        if (!outcome.ok) expect(["integrity", "conflict", "not_found", "invalid_input"]).toContain(outcome.error.code);
      },
    }),
  );

const anyId = place.map(
  (at) =>
    ({ ids }: Life) =>
      ids.length === 0 ? undefined : { id: oneOf(ids, at) },
);
const mark = fc.tuple(place, fc.option(fc.constantFrom("s1", "s2"), { nil: undefined })).map(
  ([at, session_id]) =>
    ({ rules }: Life) =>
      rules.length === 0
        ? undefined
        : { rule_id: oneOf(rules, at), ...(session_id === undefined ? {} : { session_id }) },
);

/** Everything that a job may touch, a word for each table. */
async function fingerprint(db: Db): Promise<Record<string, unknown>> {
  const tables = `episodes facts rules rule_applications memory_links episode_references memory_events embeddings
    embedding_versions lex_doc lex_block lex_long shelves idempotency_keys job_runs`;
  const [row] = await db.query(
    `select ${tables
      .split(/\s+/)
      .map((t) => `(select md5(string_agg(t::text, ',' order by t::text)) from ${t} t) as ${t}`)
      .join(", ")}`,
  );
  return row ?? {};
}

const MAY_OF: Readonly<Record<string, readonly Transition[]>> = {
  // What is active again, because a threshold or a confirmation says so, has been confirmed.
  decay_sweep: ["fade", "expire", "confirm"],
  // What has faded, or was only a hint, is said again; or something else is said in its place.
  consolidate: ["confirm", "supersede"],
};

/** Run twice, and the second time must change nothing. It works for all tenants: earlier lives too, at an earlier time. */
const work = (job: Job): Step => ({
  name: job.name,
  may: MAY_OF[job.name] ?? [],
  async run({ g }) {
    expect(await runJob(g, job), job.name).toMatchObject({ complete: true });
    const once = await fingerprint(g.db);
    expect(await runJob(g, job), `${job.name} again`).toMatchObject({ complete: true, changed: 0 });
    expect(await fingerprint(g.db), `${job.name} again`).toEqual(once);
  },
});

const quiet = (name: string, run: Step["run"]): Step => ({ name, may: [], run });
const reads = fc.constantFrom(
  quiet("search", async ({ g }) => void (await g.call("memory_search", { query: "berlin in spring" }))),
  quiet("context", async ({ g }) => void (await g.call("memory_context", { trigger_prompt: "Rome" }))),
  quiet("fold", async ({ g }) => {
    for (const { sk } of await g.db.query<{ sk: number }>("select sk from shelves where tenant_id = $1", [g.tenant]))
      await foldShelf(g.db, sk, 5);
  }),
);
const waiting = (days: number) => quiet(`wait ${days}`, async ({ g }) => g.later(days));
const wait = fc.constantFrom(0.1, 3, 8, 40, 150).map(waiting);

/** Read by two sessions on as many days as asked, which is what raises an episode. */
const wanting = (at: number, days: number) =>
  quiet(`wanted on ${days} days`, async ({ g, episodes }) => {
    const id = oneOf(episodes, at);
    for (let day = 0; id !== undefined && day < days; day++) {
      if (day > 0) g.later(1);
      for (const session of ["s1", "s2"]) await g.outcome("memory_get", { id }, { session });
    }
  });
const wanted = fc.tuple(place, fc.constantFrom(1, 2, 3)).map(([at, days]) => wanting(at, days));

/** What consolidation will tell, for everything there is. */
const learned = quiet("consolidated", async ({ g }) => {
  await g.db.query(
    `with learned as (
       update episodes set consolidation_status = 'consolidated'
       where tenant_id = $1 and consolidation_status <> 'consolidated' returning id, butler)
     insert into memory_events (id, tenant_id, butler, scope, event_type, entity_type, entity_id, occurred_at, actor, payload)
     select gen_random_uuid(), $1, butler, butler, 'episode.consolidated', 'episode', id, $2, 'test',
       '{"set": {"consolidation_status": "consolidated"}}' from learned`,
    [g.tenant, g.now],
  );
});

const facts = fc.record(
  {
    subject: fc.constantFrom("user", "User", "team"),
    predicate: fc.constantFrom("lives_in", "Lives In"),
    content: words,
    scope: fc.constantFrom("global", "general"),
    permanence: fc.constantFrom("permanent", "volatile", "ephemeral"),
    valid_to: fc.constantFrom("2020-01-01", "2026-03-20", "2030-01-01"),
  },
  { requiredKeys: ["subject", "predicate", "content"] },
);
const episodes = fc.record(
  { content: fc.oneof(words, stated), session_id: fc.constantFrom("s1", "s2") },
  { requiredKeys: ["content"] },
);
const notes = fc.record({ content: fc.oneof(words, stated), tier: fc.constantFrom(...TIERS) });
const step = fc.oneof(
  { weight: 5, arbitrary: tell("memory_store_fact", ["confirm", "supersede"], facts) },
  { weight: 3, arbitrary: tell("memory_store_episode", [], episodes, "episodes") },
  { weight: 2, arbitrary: tell("memory_store", [], notes, "episodes") },
  { weight: 2, arbitrary: tell("memory_store_rule", ["confirm", "restore"], fc.record({ content: words }), "rules") },
  { weight: 2, arbitrary: ask("memory_mark_helpful", ["confirm"], mark) },
  { weight: 3, arbitrary: ask("memory_mark_harmful", ["confirm", "restore"], mark) },
  { weight: 2, arbitrary: ask("memory_confirm", ["confirm"], anyId) },
  { weight: 3, arbitrary: ask("memory_forget", ["retract"], anyId) },
  { weight: 3, arbitrary: ask("memory_restore", ["restore"], anyId) },
  { weight: 1, arbitrary: ask("memory_get", [], anyId) },
  { weight: 5, arbitrary: fc.constantFrom(...jobs).map(work) },
  { weight: 3, arbitrary: wanted },
  { weight: 1, arbitrary: fc.constant(learned) },
  { weight: 2, arbitrary: reads },
  { weight: 4, arbitrary: wait },
);

interface State {
  readonly id: string;
  readonly validity: Validity;
  readonly tier: Tier | null;
  readonly maturity: string | null;
  /** An episode that was learned from or is not to be, or whose time is over and that does not wait for it. */
  readonly may_go: boolean;
}

const ALL = `select id, validity, tier, null as maturity, consolidation_status = 'consolidated'
      or (expires_at <= $2 and (consolidation_status <> 'pending' or validity <> 'active')) as may_go
    from episodes where tenant_id = $1
  union all select id, validity, null, null, false from facts where tenant_id = $1
  union all select id, validity, null, maturity, false from rules where tenant_id = $1`;

async function states(g: Guest): Promise<Map<string, State>> {
  return new Map((await g.db.query<State>(ALL, [g.tenant, g.now])).map((row) => [row.id, row]));
}

function onlyLegal(before: Map<string, State>, after: Map<string, State>, { name, may }: Step): void {
  for (const [id, { validity, tier, maturity }] of after) {
    const was = before.get(id);
    if (was === undefined) {
      expect(["active", "expired"], name).toContain(validity);
      continue;
    }
    if (was.validity !== validity)
      expect(
        may.filter((h) => mayHappen(was.validity, h) && next(was.validity, h) === validity),
        `${name}: ${was.validity} to ${validity}`,
      ).not.toEqual([]);
    if (was.tier !== tier) {
      expect(name).toBe("promote");
      expect(TIERS.indexOf(tier as Tier)).toBeGreaterThan(TIERS.indexOf(was.tier as Tier));
    }
    if (was.maturity !== maturity) {
      expect(name).toMatch(/^(?:memory_mark_|decay_sweep)/);
      expect(was.maturity, "a warning stays one").not.toBe("anti_pattern");
    }
  }
  for (const [id, was] of before)
    if (!after.has(id)) {
      expect(name).toMatch(/^(?:memory_store_episode|memory_store |episode_cleanup)/);
      if (name === "episode_cleanup") expect(was.may_go, "still lives or waits to be learned from").toBe(true);
    }
}

async function laws({ g }: Life): Promise<void> {
  await g.settled();
  const query = (text: string) => g.db.query(text, text.includes("$2") ? [g.tenant, g.now] : [g.tenant]);
  expect(
    await query(`select scope, subject, predicate from facts where tenant_id = $1 and validity in ('active', 'fading')
      group by 1, 2, 3 having count(*) > 1`),
  ).toEqual([]);

  const counted = await g.db.query<Record<string, number>>(
    `select r.success_count, r.harmful_count, r.applied_count, r.effectiveness_score,
       (select count(*)::int4 from rule_applications a where a.rule_id = r.id and counted and outcome = 'helpful') as success,
       (select count(*)::int4 from rule_applications a where a.rule_id = r.id and counted and outcome = 'harmful') as harmful
     from rules r where r.tenant_id = $1`,
    [g.tenant],
  );
  for (const r of counted) {
    expect([r.success_count, r.harmful_count]).toEqual([r.success, r.harmful]);
    expect(r.effectiveness_score).toBe(effectiveness({ success: r.success ?? -1, harmful: r.harmful ?? -1 }));
  }

  expect(
    await query(`select id from episodes e where tenant_id = $1 and reference_count <>
      (select coalesce(sum(n), 0) from episode_references r where r.episode_id = e.id)`),
    "references are counted once in both places",
  ).toEqual([]);

  expect(
    await query(`select id, expires_at from episodes e where tenant_id = $1 and expires_at < case
      when tier = 'long' and reference_count > 0 then '9999-12-31T23:59:59.999Z'
      else coalesce(last_referenced_at, created_at)
        + case tier when 'eden' then interval '7 days' when 'mid' then interval '30 days' else interval '365 days' end end`),
    "the time of a tier runs from the last reference, and long keeps what was ever referenced",
  ).toEqual([]);
  expect(
    await query(`select m.id from episodes m join embeddings e on e.memory_id = m.id
      where m.tenant_id = $1 and m.validity = 'active' and e.visible_until < m.expires_at`),
    "a vector is seen for as long as its episode lives",
  ).toEqual([]);
  for (const { id, expired } of await query(
    `select id, expires_at <= $2 as expired from episodes where tenant_id = $1`,
  )) {
    const { ok } = await g.outcome("memory_get", { id });
    expect(ok, "an expired episode is not found, cleaned or not").toBe(!expired);
  }
  await g.settled();

  const live = `select id, validity in ('active', 'fading') as live from (${ALL}) m`;
  expect(
    await query(`select id from (${live}) m where
      (select count(*) from lex_doc d where d.memory_id = m.id and d.state <> 2) <> case when live then 1 else 0 end`),
    "words are on the shelf exactly while a memory is live",
  ).toEqual([]);
  expect(
    await query(
      `select id from (${live}) m where live and not exists (select from embeddings e where e.memory_id = m.id)`,
    ),
    "live memories have a vector",
  ).toEqual([]);
  expect(await verifyLexical(g.db)).toEqual([]);
  expect(await verifyInScratch(g.db)).toMatchObject({
    equal: true,
    differences: [],
    orphans: [],
  });
}

/** A life in which every job has something to do; chance may take long to draw one. */
const marking = (outcome: "helpful" | "harmful"): Step => ({
  name: `memory_mark_${outcome}`,
  may: ["confirm"],
  run: async ({ g, rules }) => void (await g.call(`memory_mark_${outcome}`, { rule_id: rules[0] })),
});
const named = (name: Job["name"]) => work(jobs.find((job) => job.name === name) as Job);
const FULL: readonly Step[] = [
  telling("memory_store", [], { content: "Ann lives in Rome.", tier: "eden" }, "episodes"),
  telling("memory_store_fact", [], { subject: "a", predicate: "b", content: "c", permanence: "volatile" }),
  telling("memory_store_rule", [], { content: "Berlin" }, "rules"),
  marking("helpful"),
  marking("helpful"),
  wanting(0, 1),
  waiting(3),
  named("promote"),
  wanting(0, 3),
  waiting(3),
  named("promote"),
  named("decay_sweep"),
  ...["a", "b", "c", "d"].map((content) => telling("memory_store_episode", [], { content }, "episodes")),
  // Over its capacity, first with nothing that may go.
  named("episode_cleanup"),
  learned,
  named("episode_cleanup"),
  waiting(60),
  named("decay_sweep"),
  marking("harmful"),
  waiting(150),
  named("decay_sweep"),
  waiting(400),
  named("episode_cleanup"),
  telling("memory_store_episode", [], { content: "Nobody learns from this" }, "episodes"),
  waiting(40),
  named("episode_cleanup"),
  named("reembed"),
  named("hygiene"),
];
const BY_JOBS = [
  "episode.promoted",
  "fact.faded",
  "fact.expired",
  "rule.promoted",
  "rule.faded",
  "episode.deleted",
  "episode.dead_lettered",
];

/** Low bars and little room: a short life gets to everything. */
const settings = {
  eden: { max_entries: 3, promote_after_refs: 2, promote_after_hours: 6 },
  mid: { max_entries: 2, promote_after_refs: 4, promote_on_days: 2, promote_after_days: 1 },
  long: { max_entries: 2 },
  rules: {
    promote_to_established: { min_successes: 1 },
    promote_to_proven: { min_successes: 2, min_age_days: 3 },
    harmful_to_antipattern: { min_harmful: 2 },
  },
};

onOneRig(
  "the laws",
  (guest, store) => {
    it("hold for every life", async () => {
      const told = new Set<string>();
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40, size: "max" }), async (steps) => {
          const life: Life = { g: guest(), ids: [], rules: [], episodes: [] };
          let before = await states(life.g);
          for (const taken of steps) {
            await taken.run(life);
            await life.g.settled();
            const after = await states(life.g);
            onlyLegal(before, after, taken);
            before = after;
          }
          await laws(life);
          for (const { event_type, actor } of await life.g.events()) if (actor.startsWith("job:")) told.add(event_type);
        }),
        {
          numRuns: Number(process.env.LIVES ?? (store === "PGlite" ? 15 : 5)),
          examples: [[[...FULL]]],
          endOnFailure: process.env.SHRINK === undefined,
        },
      );
      expect([...told]).toEqual(expect.arrayContaining(BY_JOBS));
    });
  },
  { settings },
);
