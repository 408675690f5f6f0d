/**
 * Row security by itself: every statement of every tool and view loses its tenant, and still no row of another tenant is read, counted
 * or changed. The same without row security shows that the calls would have found them.
 */
import { expect, it } from "vitest";
import type { Db } from "../../src/engine/adapters/db/port.ts";
import { asOwner, memoryOf } from "../../src/engine/memory/tenancy.ts";
import { tools } from "../../src/engine/tools/index.ts";
import { views } from "../../src/engine/views/index.ts";
import { blindDb, withoutRowSecurity } from "../support/blind-db.ts";
import { HOLDING, holdings } from "../support/holdings.ts";
import { onEachStore, openRig, type Rig } from "../support/stores.ts";

/** A word that stands in everything that a tenant said, and nowhere else. */
const WORD = { north: "larkspur", south: "foxglove" } as const;
type Tenant = keyof typeof WORD;
const as = (tenant: Tenant) => ({ as: { tenant, butler: "general", admin: true }, session: "evening" });

interface Told {
  readonly episode: string;
  readonly fact: string;
  readonly rule: string;
  readonly gone: string;
  readonly run: string;
  /** Of the activity stream. */
  readonly cursor: string;
}

/** One of everything that a tenant can have. */
async function furnish(rig: Rig, tenant: Tenant): Promise<Told> {
  const word = WORD[tenant];
  const call = (tool: string, input: object) => rig.call(tool, input, as(tenant));
  const said = { session_id: "evening", speaker: "Marta", tags: ["garden"], idempotency_key: "first" };
  const episode = (await call("memory_store_episode", { content: `The ${word} by the gate flowers in May.`, ...said }))
    .id;
  await call("memory_ingest_batch", {
    episodes: ["I live in Porto", "Always water at dawn", "My sister is Ann"].map((content) => ({
      ...{ content: `${content}, near the ${word}.`, session_id: "evening", speaker: "Marta" },
    })),
  });
  const about = { source_episode_id: episode, scope: "global", tags: ["garden"] };
  const keyed = { subject: "garden", predicate: "flower", ...about };
  await call("memory_store_fact", { ...keyed, content: `${word} in the shade` });
  const fact = (await call("memory_store_fact", { ...keyed, content: `${word} at the gate` })).id;
  const rule = (await call("memory_store_rule", { content: `Water the ${word} at dawn.`, ...about })).id;
  const gone = (await call("memory_store_rule", { content: `Cut the ${word} in June.`, ...about })).id;
  await call("memory_mark_helpful", { rule_id: rule, note: word });
  await call("memory_forget", { id: gone, reason: word });
  await call("memory_search", { query: `where is the ${word}` });
  const { run_id: run } = await call("memory_consolidate", { limit: 1 });
  await rig.settled();
  await rig.db.query(
    `update episodes set consolidation_status = 'dead_letter', last_consolidation_error = $2
     where tenant_id = $1 and id in (select id from episodes where tenant_id = $1 order by id desc limit 1)`,
    [tenant, word],
  );
  await rig.db.query(
    `insert into erasure_receipts (id, tenant_id, butler, kind, erased_at, actor, memories, counts, before, hash)
     select $2::uuid, $1, 'general', 'id', now(), $3, '{}', '{}', sha256(''), sha256('')`,
    [tenant, rig.memory.ids.next(rig.now), word],
  );
  await rig.db.query(
    `insert into event_checkpoints (id, tenant_id, kind, through, until, made_at, entries, counts, before, hash)
     select $2::uuid, $1, 'events', 0, '2020-01-01', now(), jsonb_build_object($3::text, null), '{}', sha256(''), sha256('')`,
    [tenant, rig.memory.ids.next(rig.now), word],
  );
  const cursor = (await call("memory_activity_stream", { scope: "*", limit: 2 })).next_cursor;
  return { episode, fact, rule, gone, run, cursor };
}

type Calls = readonly (readonly [name: string, input: object])[];

/** Every tool and every view, with what belongs to somebody else. Reads first: nothing has changed by then. */
function reads(theirs: Told): Calls {
  const { episode, fact, rule, gone, run } = theirs;
  const query = `where does the ${WORD.north} flower, asks Marta`;
  const later = "2026-03-01T13:00:00Z";
  return [
    ...[episode, fact, rule, gone].flatMap(
      (id): Calls => [
        ["memory_get", { id }],
        ["memory_get", { id, as_of: later }],
        ["memory_why", { id, query }],
        ["view_memory", { id }],
      ],
    ),
    ...(["hybrid", "semantic", "keyword"].map((mode) => [
      "memory_search",
      { query, mode, scope: "*", limit: 100, min_confidence: 0, explain: true },
    ]) as unknown as Calls),
    ["memory_search", { query, as_of: later, scope: "*" }],
    ["memory_search", { query, tags: ["garden"], scope: "*" }],
    ["memory_recall", { topic: query, scope: "*", limit: 100 }],
    ["memory_context", { trigger_prompt: query, token_budget: 20_000 }],
    ["memory_context", { trigger_prompt: query, opening: true }],
    ["memory_context_batch", { requests: [{ trigger_prompt: query }] }],
    ["memory_stats", { scope: "*" }],
    ["memory_activity_stream", { scope: "*", limit: 1000 }],
    ["memory_activity_stream", { scope: "*", cursor: theirs.cursor }],
    ["memory_learning", { limit: 1000 }],
    ["memory_dead_letters", { limit: 200 }],
    ["view_stats", {}],
    ["view_counts", {}],
    ["view_scopes", {}],
    ["view_today", {}],
    ["view_subjects", {}],
    ["view_facts", { state: "all", tag: "garden" }],
    ["view_facts", { q: WORD.north }],
    ["view_rules", { state: "all", tag: "garden" }],
    ["view_review", {}],
    ["view_episodes", { session: "evening" }],
    ["view_search", { q: query }],
    ["view_activity", { everything: true, session: "evening" }],
    ["view_activity", { everything: true }],
    ["view_runs", {}],
    ["view_run", { id: run }],
    ["view_dead_letters", {}],
    ["view_texts", { ids: [episode, fact, rule, gone] }],
    ["view_preview", { prompt: query }],
    ["view_changes", { from: "2026-01-01T00:00:00Z" }],
    ["view_receipts", {}],
    ["control_export", { subject: "garden" }],
  ];
}

function writes({ episode, fact, rule, gone, run }: Told): Calls {
  const from = { source_episode_id: episode, scope: "global" };
  return [
    ["control_undo", { session: "evening", dry_run: true }],
    ["control_undo", { run }],
    ["memory_confirm", { type: "fact", id: fact }],
    ["memory_mark_helpful", { rule_id: rule }],
    ["memory_mark_harmful", { rule_id: rule, reason: "intruded" }],
    ["memory_forget", { id: episode }],
    ["memory_forget", { id: fact }],
    ["memory_restore", { id: gone }],
    ["memory_dead_letters", { redrive: [episode], all: true }],
    ["memory_consolidate", { run_id: run, facts: [] }],
    ["memory_consolidate", { limit: 25 }],
    ["memory_store_fact", { subject: "garden", predicate: "flower", content: "intruded", ...from }],
    ["memory_store_fact", { subject: "garden", predicate: "flower", content: "intruded", scope: "global" }],
    ["memory_store_rule", { content: `Water the ${WORD.north} at dawn.`, scope: "global" }],
    [
      "memory_store_episode",
      { content: "intruded", session_id: "evening", speaker: "Marta", idempotency_key: "first" },
    ],
    ["memory_ingest_batch", { episodes: [{ content: "intruded twice", session_id: "evening" }] }],
    ["memory_store", { content: "intruded again" }],
    ["memory_learning", { reset: true }],
    ["control_redaction", {}],
    ["control_erase", { id: fact }],
    ["control_erase", { session: "evening" }],
  ];
}

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{22}/g;

/** What of the north stands in the answers to calls of the south: its word, or an id that the call did not bring along. */
async function leaks(rig: Rig, calls: Calls, foreign: ReadonlySet<string>): Promise<string[]> {
  const found: string[] = [];
  for (const [tool, input] of calls) {
    const asked = JSON.stringify(input);
    const answer = JSON.stringify(await rig.outcome(tool, input, as("south")));
    // A question is repeated in some answers.
    const told = answer.replaceAll(JSON.stringify((input as { query?: string }).query ?? "-").slice(1, -1), "");
    const ids = (told.match(ID) ?? []).filter((id) => foreign.has(id) && !asked.includes(id));
    if (ids.length > 0 || (told.includes(WORD.north) && !asked.includes(`"${WORD.north}"`)))
      found.push(`${tool} ${asked}: ${ids.length} ids, ${told.slice(0, 300)}`);
  }
  await rig.settled();
  return found;
}

onEachStore("row security", (open) => {
  it("holds alone, for every tool and view, when no statement asks for a tenant", async () => {
    const rig = await open();
    const north = await furnish(rig, "north");
    await furnish(rig, "south");
    const before = await holdings(rig.db, "north");
    expect(Object.entries(before).filter(([, rows]) => rows.length === 0)).toEqual([
      ["lex_block", []],
      ["lex_long", []],
    ]);
    const foreign = new Set(
      Object.values(before)
        .flat()
        .flatMap((row) => row.match(ID) ?? []),
    );

    const called = [...reads(north), ...writes(north)];
    expect(new Set(called.map(([name]) => name))).toEqual(new Set([...tools, ...views].map(({ name }) => name)));

    const blind = blindDb(rig.db);
    const blinded = await openRig(blind.db);
    for (const [tool, input] of reads(north).filter(([name]) => /stats|counts|today|subjects|runs|scopes/.test(name))) {
      const [proper, alone] = [await rig.call(tool, input, as("south")), await blinded.call(tool, input, as("south"))];
      expect(alone, `${tool} counts the same`).toEqual(proper);
    }
    expect(await leaks(blinded, called, foreign)).toEqual([]);
    expect(await holdings(rig.db, "north")).toEqual(before);
    expect([...blind.missed]).toEqual([]);
    expect(blind.rewritten.size).toBeGreaterThan(40);

    const naked = await openRig(withoutRowSecurity(blindDb(rig.db).db));
    const leaked = await leaks(naked, called, foreign);
    const from = new Set(leaked.map((words) => words.split(" ")[0]));
    for (const name of ["memory_get", "memory_search", "memory_context", "view_memory", "view_facts", "view_activity"])
      expect(from, leaked.join("\n")).toContain(name);
    expect(await holdings(rig.db, "north")).not.toEqual(before);
  });

  it("shows a tenant its own rows, nobody none, and the owner all; and refuses what no tenant's call may do", async () => {
    const rig = await open({ model: false });
    await furnish(rig, "north");
    await furnish(rig, "south");
    await rig.db.query(
      "insert into lex_block (key, b, n, x, tenant_id) select sk::int8 << 40, 0, 0, '', tenant_id from shelves",
    );
    await rig.db.query(
      "insert into lex_long (key, df, least, tenant_id) select sk::int8 << 40, 0, '', tenant_id from shelves",
    );
    const { memory } = rig;
    const south = memoryOf(memory, "south").db;
    const count = async (db: Db, table: string) =>
      Number((await db.query<{ n: string }>(`select count(*) as n from ${table}`))[0]?.n);
    const [theirs, ours] = [await holdings(rig.db, "north"), await holdings(rig.db, "south")];
    for (const table of HOLDING.filter((name) => name !== "embeddings")) {
      expect(ours[table]?.length, table).toBeGreaterThan(0);
      expect(await count(south, table), table).toBe(ours[table]?.length);
      expect(await count(memory.db, table), table).toBe(0);
      expect(await count(asOwner(memory, "health"), table), table).toBe(
        (ours[table]?.length ?? 0) + (theirs[table]?.length ?? 0),
      );
    }
    const refused = (statement: string) =>
      expect(south.query(statement), statement).rejects.toMatchObject({ code: "42501" });
    await refused("insert into shelves (tenant_id, scope, type) values ('north', 'x', 'fact')");
    await refused("insert into lex_doc (memory_id, sk, len, x, tenant_id) select gen_random_uuid(), 1, 1, '', 'south'");
    await refused("update facts set tenant_id = 'north'");
    await refused("insert into changed_memories (tenant_id, ids, counted) values ('north', '{}', false)");
    await refused("select from changed_memories");
    await refused("select from change_log");
    for (const table of ["memory_events", "idempotency_keys"])
      for (const change of [`delete from ${table}`, `update ${table} set butler = 'x'`, `truncate ${table}`])
        await refused(change);
    for (const table of ["facts", "rules", "erasure_receipts", "event_checkpoints"])
      await refused(`delete from ${table}`);
    for (const table of ["job_runs", "embedding_versions", "mem_migrations"]) await refused(`select from ${table}`);
    await south.tx((sql) => sql.query("update facts set importance = 9, reference_count = 99"));
    for (const table of ["lex_block", "lex_long"]) await south.query(`delete from ${table}`);
    expect(await holdings(rig.db, "north")).toEqual(theirs);
    const left = await holdings(rig.db, "south");
    expect([left.lex_block, left.lex_long]).toEqual([[], []]);
    const counted = await south.query<{ reference_count: number }>("select reference_count from facts");
    expect(counted.map((row) => row.reference_count)).toEqual(ours.facts?.map(() => 99));
  });

  it("lets events be deleted under the name of erasure alone, and changed by no name alone", async () => {
    const rig = await open({ model: false });
    await furnish(rig, "north");
    const change = "update memory_events set payload = '{}' where tenant_id = 'north' returning 1";
    for (const work of ["hygiene", "replay", "lab"] as const)
      await expect(asOwner(rig.memory, work).query(change)).rejects.toMatchObject({ code: "23000" });
    await expect(rig.db.query(change)).rejects.toMatchObject({ code: "23000" });
    const erasing = asOwner(rig.memory, "erasure");
    await expect(erasing.query("truncate memory_events")).rejects.toMatchObject({ code: "23000" });
    // A payload is blanked by a transaction that also writes a receipt, and by no other.
    await expect(erasing.query(change)).rejects.toMatchObject({ code: "23000" });
    await erasing.tx((sql) => sql.query("delete from memory_events where tenant_id = 'north'"));
    expect(await rig.db.query("select from memory_events where tenant_id = 'north'")).toEqual([]);
    // The name ends with the transaction.
    await expect(rig.db.query("delete from memory_events")).rejects.toMatchObject({ code: "23000" });
  });
});
