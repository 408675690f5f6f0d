/** Runs of consolidation and what could not be learned from, for people. */
import type { Sql } from "../../adapters/db/port.ts";
import type { Episode } from "../../domain/episode.ts";
import type { Run } from "../jobs/consolidation.ts";
import { isKept } from "../memories/live.ts";
import { conditions } from "./conditions.ts";

interface Seen {
  readonly tenant: string;
  readonly scopes: readonly string[] | undefined;
}

export interface RunPage extends Seen {
  readonly state: Run["state"] | undefined;
  /** Start and id of the last run of the page before. */
  readonly after: readonly string[] | undefined;
  readonly limit: number;
}

export interface ListedRun
  extends Omit<Run, "tenant_id" | "episode_ids" | "lease_until" | "input" | "answer" | "decisions" | "reserved_usd"> {
  readonly episodes: number;
}

const COLUMNS = `id, butler, state, provider, model, started_at, finished_at, counts, input_tokens, output_tokens, cost_usd,
  duration_ms, error, failure, cardinality(episode_ids) as episodes`;

export function listRuns(sql: Sql, page: RunPage): Promise<ListedRun[]> {
  const where = conditions();
  where.add([page.tenant], (tenant) => `tenant_id = ${tenant}`);
  where.given(page.scopes, (scopes) => `butler = any(${scopes}::text[])`);
  where.given(page.state, (state) => `state = ${state}`);
  if (page.after !== undefined)
    where.add(page.after, (at, id) => `(started_at, id) < (${at}::timestamptz, ${id}::uuid)`);
  const size = where.place(page.limit);
  return sql.query<ListedRun>(
    `select ${COLUMNS} from consolidation_runs where ${where.sql()} order by started_at desc, id desc limit ${size}`,
    where.params,
  );
}

/** What this tenant's runs have cost since a moment. */
export async function spentSince(sql: Sql, tenant: string, since: Date): Promise<number> {
  const [row] = await sql.query<{ usd: number }>(
    `select coalesce(sum(cost_usd), 0) as usd from consolidation_runs
     where started_at >= $2 and (cost_usd > 0 or reserved_usd > 0) and tenant_id = $1`,
    [tenant, since],
  );
  return row?.usd ?? 0;
}

export type RunEpisode = Pick<Episode, "id" | "content" | "session_id" | "speaker" | "occurred_at" | "trust">;

/** In characters: the words of an episode that is longer are read on its own page. */
const LONGEST = 20_000;

/** Those that are still there, in the order in which they were read. */
export function episodesOfRun(sql: Sql, { tenant, scopes }: Seen, ids: readonly string[]): Promise<RunEpisode[]> {
  return sql.query<RunEpisode>(
    `select id, left(content, ${LONGEST}) as content, session_id, speaker, occurred_at, trust from episodes
     where tenant_id = $1 and id = any($2::uuid[]) and ${isKept()} and ($3::text[] is null or butler = any($3::text[]))
     order by created_at, id`,
    [tenant, ids, scopes ?? null],
  );
}

export interface Letter
  extends Pick<Episode, "id" | "butler" | "session_id" | "created_at" | "consolidation_attempts" | "content"> {
  readonly status: "failed" | "dead_letter";
  readonly error: string | null;
}

/** Oldest first; `after` is the time and id of the last one of the page before. */
export function listDeadLetters(
  sql: Sql,
  { tenant, scopes }: Seen,
  after: readonly string[] | undefined,
  limit: number,
): Promise<Letter[]> {
  const where = conditions();
  where.add([tenant], (one) => `tenant_id = ${one}`);
  where.given(scopes, (some) => `butler = any(${some}::text[])`);
  where.add([], () => `consolidation_status in ('failed', 'dead_letter') and ${isKept()}`);
  if (after !== undefined) where.add(after, (at, id) => `(created_at, id) > (${at}::timestamptz, ${id}::uuid)`);
  const size = where.place(limit);
  return sql.query<Letter>(
    `select id, butler, session_id, created_at, consolidation_attempts, left(content, 600) as content,
       consolidation_status as status, last_consolidation_error as error
     from episodes where ${where.sql()} order by created_at, id limit ${size}`,
    where.params,
  );
}
