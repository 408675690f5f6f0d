/** Running one job by hand in a test, and looking at everything it may have touched. */
import type { Db } from "../../src/engine/adapters/db/port.ts";
import type { Extractor } from "../../src/engine/adapters/extractor/port.ts";
import type { Job, JobReport } from "../../src/engine/memory/keep/job.ts";
import type { Settings } from "../../src/engine/memory/settings.ts";
import type { Rig } from "./stores.ts";

export interface RunOptions {
  readonly dryRun?: boolean;
  /** Interrupted from the nth time it asks. */
  readonly stopAfter?: number;
  readonly settings?: Settings;
  readonly extractor?: Extractor;
}

export async function runJob(rig: Rig, job: Job, options: RunOptions = {}): Promise<JobReport> {
  await rig.settled();
  let asked = 0;
  const { settings, extractor } = options;
  const given = {
    ...(settings && { settings: { value: settings } }),
    ...(extractor && { extractor: { value: extractor } }),
  };
  // The memory's own getters stay alive behind what is given.
  const memory: Rig["memory"] = Object.create(rig.memory, given);
  return job.run({
    memory,
    now: rig.now,
    dryRun: options.dryRun ?? false,
    interrupted: () => asked++ >= (options.stopAfter ?? Infinity),
  });
}

const TABLES = {
  episodes: "id",
  facts: "id",
  rules: "id",
  rule_applications: "id",
  memory_links: "source_id, target_id, relation",
  episode_references: "episode_id, session_id, day",
  memory_events: "seq",
  embeddings: "memory_id, version_id",
  lex_doc: "doc",
  shelves: "sk",
} as const;

/** Every row of every table, in order. */
export async function dump(db: Db): Promise<Record<string, unknown[]>> {
  const tables: Record<string, unknown[]> = {};
  for (const [table, order] of Object.entries(TABLES))
    tables[table] = (
      await db.query<{ row: unknown }>(`select to_jsonb(t) as row from ${table} t order by ${order}`)
    ).map(({ row }) => row);
  return tables;
}

/** What a reader can tell of two stores that lived the same life: ids are random, and so is the order of what has none. */
export async function likeness(db: Db): Promise<unknown> {
  const rows = async (text: string) => (await db.query<{ row: string }>(text)).map(({ row }) => row);
  return {
    episodes: await rows(
      `select (to_jsonb(t) - 'id' - 'source_episode_id')::text as row from episodes t order by content, created_at`,
    ),
    facts: await rows(
      `select (to_jsonb(t) - '{id,source,source_episode_id,supersedes_id}'::text[])::text as row from facts t order by subject, predicate, created_at`,
    ),
    rules: await rows(
      `select (to_jsonb(t) - '{id,source,source_episode_id}'::text[])::text as row from rules t order by content`,
    ),
    references: await rows(
      `select e.content || (to_jsonb(t) - 'episode_id')::text as row from episode_references t
       join episodes e on e.id = t.episode_id order by 1`,
    ),
    links: await rows(`select source_type || relation || target_type as row from memory_links order by 1`),
    events: await rows(
      `select event_type || occurred_at || actor || scope || (payload - '{row,links,references,application,distilled,entries}'::text[])::text as row
       from memory_events order by 1`,
    ),
    words: await rows(
      `select coalesce(e.content, f.content, r.content) as row from lex_doc d left join episodes e on e.id = d.memory_id
       left join facts f on f.id = d.memory_id left join rules r on r.id = d.memory_id where d.state <> 2 order by 1`,
    ),
  };
}
