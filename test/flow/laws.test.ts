/** Random lives: whatever is called in whatever order, and however time moves, these laws hold. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { type Happening, mayHappen, next, type Validity } from "../../src/domain/lifecycle.ts";
import { effectiveness } from "../../src/domain/maturity.ts";
import { foldShelf } from "../../src/store/fold.ts";
import { dropLexical } from "../../src/store/lexical.ts";
import { verifyLexical } from "../../src/store/lexical-check.ts";
import { setVisibility } from "../../src/store/vectors.ts";
import { type Guest, inOneHouse } from "../support/guests.ts";

interface Life {
  readonly g: Guest;
  readonly ids: string[];
  readonly rules: string[];
  /** Moved by the pretended sweep, which tells no event. */
  readonly swept: Set<string>;
}

interface Step {
  readonly name: string;
  /** How it may change the state of a memory that was there before. */
  readonly may: readonly Happening[];
  run(life: Life): Promise<void>;
}

const oneOf = <T>(list: readonly T[], at: number): T | undefined => list[at % Math.max(1, list.length)];
const place = fc.nat(40);
const words = fc.constantFrom("Berlin", "berlin.", "Hamburg", "Rome in spring");

const tell = (tool: string, may: readonly Happening[], input: fc.Arbitrary<object>, list: "ids" | "rules" = "ids") =>
  input.map(
    (drawn): Step => ({
      name: `${tool} ${JSON.stringify(drawn)}`,
      may,
      async run(life) {
        const { id } = await life.g.call(tool, drawn);
        if (!life.ids.includes(id)) life.ids.push(id);
        if (list === "rules" && !life.rules.includes(id)) life.rules.push(id);
      },
    }),
  );

/** May be refused, if the state does not allow it; a refusal must change nothing, which the caller checks. */
const ask = (tool: string, may: readonly Happening[], input: fc.Arbitrary<(life: Life) => object | undefined>) =>
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

/** What the nightly sweep will do, for one memory. */
const sweep = fc.tuple(place, fc.constantFrom<Happening>("fade", "expire")).map(
  ([at, happening]): Step => ({
    name: `sweep ${happening}`,
    may: [happening],
    async run({ g, ids, swept }) {
      const id = oneOf(ids, at);
      for (const table of ["facts", "rules"] as const) {
        const row = id === undefined ? undefined : await g.row(table, id);
        if (!row || !mayHappen(row.validity as Validity, happening)) continue;
        swept.add(row.id as string);
        await g.db.tx(async (sql) => {
          await sql.query(`update ${table} set validity = $2 where id = $1`, [
            id,
            next(row.validity as Validity, happening),
          ]);
          if (happening !== "expire") return;
          await dropLexical(sql, [row.id as string]);
          await setVisibility(sql, row.id as string, g.now);
        });
      }
    },
  }),
);

const quiet = (name: string, run: Step["run"]): Step => ({ name, may: [], run });
const reads = fc.constantFrom(
  quiet("search", async ({ g }) => void (await g.call("memory_search", { query: "berlin in spring" }))),
  quiet("context", async ({ g }) => void (await g.call("memory_context", { trigger_prompt: "Rome" }))),
  quiet("fold", async ({ g }) => {
    for (const { sk } of await g.db.query<{ sk: number }>("select sk from shelves where tenant_id = $1", [g.tenant]))
      await foldShelf(g.db, sk, 5);
  }),
);
const wait = fc.constantFrom(0.1, 3, 8, 40).map((days) => quiet(`wait ${days}`, async ({ g }) => g.later(days)));

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
const episodes = fc.record({ content: words, session_id: fc.constantFrom("s1", "s2") }, { requiredKeys: ["content"] });
const step = fc.oneof(
  { weight: 5, arbitrary: tell("memory_store_fact", ["confirm", "supersede"], facts) },
  { weight: 3, arbitrary: tell("memory_store_episode", [], episodes) },
  { weight: 2, arbitrary: tell("memory_store_rule", ["confirm", "restore"], fc.record({ content: words }), "rules") },
  { weight: 2, arbitrary: ask("memory_mark_helpful", ["confirm"], mark) },
  { weight: 3, arbitrary: ask("memory_mark_harmful", ["confirm", "restore"], mark) },
  { weight: 2, arbitrary: ask("memory_confirm", ["confirm"], anyId) },
  { weight: 3, arbitrary: ask("memory_forget", ["retract"], anyId) },
  { weight: 3, arbitrary: ask("memory_restore", ["restore"], anyId) },
  { weight: 1, arbitrary: ask("memory_get", [], anyId) },
  { weight: 2, arbitrary: sweep },
  { weight: 2, arbitrary: reads },
  { weight: 2, arbitrary: wait },
);

const TABLES = ["episodes", "facts", "rules"] as const;
const ALL = TABLES.map((t) => `select id, validity from ${t} where tenant_id = $1`).join(" union all ");

async function states(g: Guest): Promise<Map<string, Validity>> {
  const rows = await g.db.query<{ id: string; validity: Validity }>(ALL, [g.tenant]);
  return new Map(rows.map((row) => [row.id, row.validity]));
}

function onlyLegal(before: Map<string, Validity>, after: Map<string, Validity>, { name, may }: Step): void {
  for (const [id, state] of after) {
    const was = before.get(id);
    if (was === undefined) expect(["active", "expired"], name).toContain(state);
    else if (was !== state)
      expect(
        may.filter((h) => mayHappen(was, h) && next(was, h) === state),
        `${name}: ${was} to ${state}`,
      ).not.toEqual([]);
  }
  for (const id of before.keys()) if (!after.has(id)) expect(name).toMatch(/^memory_store_episode/);
}

async function laws({ g, swept }: Life): Promise<void> {
  await g.settled();
  const query = (text: string) => g.db.query(text, [g.tenant]);
  expect(
    await query(`select scope, subject, predicate from facts where tenant_id = $1 and validity in ('active', 'fading')
      group by 1, 2, 3 having count(*) > 1`),
  ).toEqual([]);

  const counted = await g.db.query<Record<string, number>>(
    `select r.success_count, r.harmful_count, r.applied_count, r.effectiveness_score,
       (select count(*)::int4 from rule_applications a where a.rule_id = r.id and outcome = 'helpful') as success,
       (select count(*)::int4 from rule_applications a where a.rule_id = r.id and outcome = 'harmful') as harmful
     from rules r where r.tenant_id = $1`,
    [g.tenant],
  );
  for (const r of counted) {
    expect([r.success_count, r.harmful_count]).toEqual([r.success, r.harmful]);
    expect(r.effectiveness_score).toBe(effectiveness({ success: r.success ?? -1, harmful: r.harmful ?? -1 }));
  }

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
  await replayed(g, swept);
}

/** The stream is complete: what it tells, put together, is what the tables hold. */
async function replayed(g: Guest, swept: Set<string>): Promise<void> {
  const told = new Map<string, Record<string, unknown>>();
  for (const { event_type, entity_id, payload } of await g.events()) {
    if (event_type.endsWith(".stored")) told.set(entity_id, payload.row as Record<string, unknown>);
    else if (event_type === "episode.deleted") told.delete(entity_id);
    else if (payload.set) told.set(entity_id, { ...told.get(entity_id), ...(payload.set as object) });
  }
  const seen = new Set<string>();
  for (const table of TABLES) {
    const rows = await g.db.query<{ stored: Record<string, unknown>; told: Record<string, unknown> | null }>(
      `select to_jsonb(m) as stored, to_jsonb(r) as told from ${table} m
       left join jsonb_populate_recordset(null::${table}, $2::jsonb) r on r.id = m.id where m.tenant_id = $1`,
      [g.tenant, JSON.stringify([...told.values()])],
    );
    for (const row of rows) {
      const id = row.stored.id as string;
      seen.add(id);
      expect(row.told && comparable(row.told, swept.has(id))).toEqual(comparable(row.stored, swept.has(id)));
    }
  }
  expect([...told.keys()].toSorted()).toEqual([...seen].toSorted());
}

function comparable(row: Record<string, unknown>, swept: boolean): Record<string, unknown> {
  const { reference_count: _, last_referenced_at: __, prior_referenced_at: ___, consolidated: ____, ...rest } = row;
  return swept ? { ...rest, validity: null } : rest;
}

inOneHouse("the laws", (guest, store) => {
  it("hold for every life", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40, size: "max" }), async (steps) => {
        const life: Life = { g: guest(), ids: [], rules: [], swept: new Set() };
        let before = await states(life.g);
        for (const taken of steps) {
          await taken.run(life);
          const after = await states(life.g);
          onlyLegal(before, after, taken);
          before = after;
        }
        await laws(life);
      }),
      { numRuns: store === "PGlite" ? 20 : 6, endOnFailure: process.env.SHRINK === undefined },
    );
  });
});
