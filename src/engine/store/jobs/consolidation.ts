/** Runs of consolidation: which run holds which episodes, until when, at what cost, and how it ended. */

import type { Sql } from "../../adapters/db/port.ts";
import type { Consolidation, Episode } from "../../domain/episode.ts";
import type { ReadBefore } from "../../domain/learning/change.ts";
import { isKept } from "../memories/live.ts";
import { insertRows } from "../memories/rows.ts";

/** Episodes of one shard are learned from in order, by one run at a time. */
export interface Shard {
  readonly tenant: string;
  readonly butler: string;
}

export interface Waiting extends Shard {
  readonly episodes: number;
  readonly oldest: Date;
}

/** Expired episodes too: no read finds them, but they are still learned from. */
const WAITING = `consolidation_status = 'pending' and ${isKept()}`;

/** Each shard that has something waiting, with its oldest episode: while that one waits to be tried again, the shard does. */
const SHARDS = `select tenant_id as tenant, butler, count(*)::int4 as episodes, min(created_at) as oldest,
    (array_agg(next_consolidation_retry_at order by created_at, id))[1] as retry_at
  from episodes where ${WAITING} group by tenant_id, butler`;

/** Shards with episodes to learn from, the one that has waited longest first. */
export function waitingShards(sql: Sql, now: Date): Promise<Waiting[]> {
  return sql.query<Waiting>(
    `select tenant, butler, episodes, oldest from (${SHARDS}) as s where retry_at is null or retry_at <= $1
     order by oldest, tenant, butler`,
    [now],
  );
}

/** How many episodes can be learned from now, and when the first of them has waited too long, or may be tried again if that is later. */
export async function backlogOf(
  sql: Sql,
  now: Date,
  staleMs: number,
): Promise<{ readonly waiting: number; readonly oldest: Date | null }> {
  const [row] = await sql.query<{ waiting: number; oldest: Date | null }>(
    `select coalesce(sum(episodes) filter (where retry_at is null or retry_at <= $1), 0)::int4 as waiting,
       min(greatest(oldest + make_interval(secs => $2::float8), retry_at)) as oldest
     from (${SHARDS}) as s`,
    [now, staleMs / 1_000],
  );
  return row ?? { waiting: 0, oldest: null };
}

export interface BatchEpisode
  extends Pick<Episode, "id" | "content" | "speaker" | "session_id" | "trust" | "request_id" | "occurred_at">,
    Pick<Episode, "created_at" | "consolidation_attempts" | "next_consolidation_retry_at"> {
  /** How its content is to be read, if it says so. */
  readonly format: string | null;
}

const BATCH = `id, content, speaker, session_id, trust, request_id, occurred_at, created_at, consolidation_attempts,
  next_consolidation_retry_at, metadata ->> 'format' as format`;

/** Oldest first, and none that is later than one which waits to be tried again: what is said later must be learned later. */
export async function dueEpisodes(sql: Sql, shard: Shard, now: Date, limit: number): Promise<BatchEpisode[]> {
  const rows = await sql.query<BatchEpisode>(
    `select ${BATCH} from episodes where ${WAITING} and tenant_id = $1 and butler = $2 order by created_at, id limit $3`,
    [shard.tenant, shard.butler, limit],
  );
  const waiting = rows.findIndex(({ next_consolidation_retry_at: retry }) => retry !== null && retry > now);
  return waiting < 0 ? rows : rows.slice(0, waiting);
}

export function batchOf(sql: Sql, run: Pick<Run, "tenant_id" | "episode_ids">): Promise<BatchEpisode[]> {
  return sql.query<BatchEpisode>(
    `select ${BATCH} from episodes where tenant_id = $1 and id = any($2::uuid[]) order by created_at, id`,
    [run.tenant_id, run.episode_ids],
  );
}

export interface Run {
  readonly id: string;
  readonly tenant_id: string;
  readonly butler: string;
  readonly state: "running" | "done" | "failed" | "lost" | "released";
  readonly provider: string;
  readonly model: string;
  readonly episode_ids: readonly string[];
  readonly lease_until: Date;
  readonly started_at: Date;
  readonly finished_at: Date | null;
  readonly input: Record<string, unknown> | null;
  readonly answer: unknown;
  readonly decisions: unknown;
  readonly counts: Readonly<Record<string, number>> | null;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: number;
  readonly reserved_usd: number;
  readonly duration_ms: number | null;
  readonly error: string | null;
  /** What kind of failure ended it. */
  readonly failure: string | null;
}

const COLUMNS = `id tenant_id butler state provider model episode_ids lease_until started_at finished_at input answer
  decisions counts input_tokens output_tokens cost_usd reserved_usd duration_ms error failure`.split(/\s+/);

/**
 * Opens this run; where another is in the way, ends that first if its lease is over. False: another run holds the shard. What a lost run
 * may have spent is counted as spent.
 */
export async function openRun(sql: Sql, run: Run): Promise<boolean> {
  if (await insertRun(sql, run)) return true;
  const lost = await sql.query(
    `update consolidation_runs set state = 'lost', finished_at = $3, cost_usd = greatest(cost_usd, reserved_usd),
       error = 'its lease ended before it did: the process is gone or was too slow'
     where tenant_id = $1 and butler = $2 and state = 'running' and lease_until <= $3 returning id`,
    [run.tenant_id, run.butler, run.started_at],
  );
  return lost.length > 0 && insertRun(sql, run);
}

async function insertRun(sql: Sql, run: Run): Promise<boolean> {
  const tail = "on conflict (tenant_id, butler) where state = 'running' do nothing returning id";
  return (await insertRows(sql, "consolidation_runs", COLUMNS, [{ ...run }], tail)).length === 1;
}

export async function runsUnderWay(sql: Sql, tenant: string): Promise<string[]> {
  const runs = await sql.query<{ id: string }>(
    "select id from consolidation_runs where tenant_id = $1 and state = 'running'",
    [tenant],
  );
  return runs.map(({ id }) => id);
}

/** Runs that are under way have read what is being erased, or may have: what they learn from it is not taken. Their cost counts as spent. */
export async function loseRuns(sql: Sql, tenant: string, ids: readonly string[], now: Date): Promise<void> {
  await sql.query(
    `update consolidation_runs set state = 'lost', finished_at = $2, cost_usd = greatest(cost_usd, reserved_usd),
       error = 'memories were erased while it was under way'
     where tenant_id = $1 and id = any($3::uuid[]) and state = 'running'`,
    [tenant, now, ids],
  );
}

/** Which of these are still there, locked so that none goes before the transaction ends. */
export async function lockBatch(sql: Sql, tenant: string, ids: readonly string[]): Promise<number> {
  const rows = await sql.query(
    `select id from episodes where tenant_id = $1 and id = any($2::uuid[]) and ${isKept()} order by id for update`,
    [tenant, ids],
  );
  return rows.length;
}

export interface RunEnded {
  readonly state: "done" | "failed";
  readonly failure: string | null;
  readonly error: string | null;
  readonly finished_at: Date;
  readonly size: number;
}

const ENDED = `select state, failure, error, finished_at, cardinality(episode_ids) as size from consolidation_runs
  where state in ('done', 'failed') and provider = $1`;

/** How the last runs that asked this provider ended, whoever's episodes they were about; latest first. */
export function latestEnds(sql: Sql, provider: string, limit: number): Promise<RunEnded[]> {
  return sql.query<RunEnded>(`${ENDED} order by started_at desc, id desc limit $2`, [provider, limit]);
}

export function shardEnds(sql: Sql, shard: Shard, provider: string, since: Date, limit: number): Promise<RunEnded[]> {
  return sql.query<RunEnded>(
    `${ENDED} and tenant_id = $2 and butler = $3 and started_at > $4 order by started_at desc, id desc limit $5`,
    [provider, shard.tenant, shard.butler, since, limit],
  );
}

export async function setBatch(sql: Sql, id: string, episodes: readonly string[]): Promise<void> {
  await sql.query("update consolidation_runs set episode_ids = $2::uuid[] where id = $1", [id, episodes]);
}

/** The memories that were shown, by label: what an agent's answer may cite when it comes back. */
export async function setInput(sql: Sql, id: string, input: Readonly<Record<string, string>>): Promise<void> {
  await sql.query("update consolidation_runs set input = $2::jsonb where id = $1", [id, JSON.stringify(input)]);
}

/** Deletes a run that found nothing to do. */
export async function dropRun(sql: Sql, id: string): Promise<void> {
  await sql.query("delete from consolidation_runs where id = $1", [id]);
}

export async function findRun(sql: Sql, tenant: string, id: string, lock = false): Promise<Run | undefined> {
  const [row] = await sql.query<Run>(
    `select ${COLUMNS.join(", ")} from consolidation_runs where tenant_id = $1 and id = $2${lock ? " for update" : ""}`,
    [tenant, id],
  );
  return row;
}

/** Reserves the cost of a call before it is made. False when the budget of the day would be exceeded. */
export async function reserve(sql: Sql, id: string, usd: number, day: Date, budget: number): Promise<boolean> {
  await sql.query("select pg_advisory_xact_lock(7034)");
  const [row] = await sql.query<{ spent: number }>(
    `select coalesce(sum(greatest(cost_usd, case when state = 'running' then reserved_usd else 0 end)), 0) as spent
     from consolidation_runs where started_at >= $1 and (cost_usd > 0 or reserved_usd > 0)`,
    [day],
  );
  if ((row?.spent ?? 0) + usd > budget) return false;
  await sql.query("update consolidation_runs set reserved_usd = $2 where id = $1", [id, usd]);
  return true;
}

export type RunEnd = Pick<Run, "state" | "finished_at"> &
  Partial<Omit<Run, "id" | "tenant_id" | "butler" | "state" | "finished_at">>;

/** False when the run had ended already. */
export async function endRun(sql: Sql, id: string, end: RunEnd): Promise<boolean> {
  const columns = Object.keys(end);
  const json = new Set(["input", "answer", "decisions", "counts"]);
  const assignments = columns.map((column, at) => `${column} = $${at + 2}${json.has(column) ? "::jsonb" : ""}`);
  const rows = await sql.query(
    `update consolidation_runs set ${assignments.join(", ")} where id = $1 and state = 'running' returning 1`,
    [id, ...columns.map((column) => (json.has(column) ? jsonOf(end, column) : end[column as keyof RunEnd]))],
  );
  return rows.length === 1;
}

const jsonOf = (end: RunEnd, column: string): string | null => {
  const value = end[column as keyof RunEnd];
  return value === null || value === undefined ? null : JSON.stringify(value);
};

export type EpisodeStanding = Pick<
  Episode,
  "consolidation_status" | "consolidation_attempts" | "last_consolidation_error" | "next_consolidation_retry_at"
>;

/** Only from `from`: an episode has one final state, and gets there once. Gives the ids that were changed. */
export async function setStanding(
  sql: Sql,
  from: Consolidation,
  standings: readonly (EpisodeStanding & { readonly id: string })[],
): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    `update episodes e set consolidation_status = s.consolidation_status,
       consolidation_attempts = s.consolidation_attempts, last_consolidation_error = s.last_consolidation_error,
       next_consolidation_retry_at = s.next_consolidation_retry_at
     from jsonb_to_recordset($1::jsonb) as s (id uuid, consolidation_status text, consolidation_attempts int4,
       last_consolidation_error text, next_consolidation_retry_at timestamptz)
     where e.id = s.id and e.consolidation_status = $2 returning e.id`,
    [JSON.stringify(standings), from],
  );
  return rows.map(({ id }) => id);
}

export interface DeadLetter extends EpisodeStanding, Pick<Episode, "id" | "butler" | "content" | "created_at"> {}

/** What could not be learned from, and why; oldest first. Also what no read finds any more: it can still be redriven. */
export function deadLetters(sql: Sql, shard: Shard, limit: number): Promise<DeadLetter[]> {
  return sql.query<DeadLetter>(
    `select id, butler, content, created_at, consolidation_status, consolidation_attempts, last_consolidation_error,
       next_consolidation_retry_at
     from episodes where tenant_id = $1 and butler = $2 and consolidation_status in ('failed', 'dead_letter')
       and ${isKept()} order by created_at, id limit $3`,
    [shard.tenant, shard.butler, limit],
  );
}

/** What ended runs have read in any of these episodes. Runs whose records were erased tell nothing. */
export function readBefore(
  sql: Sql,
  { tenant, butler }: Shard,
  run: string,
  episodes: readonly string[],
): Promise<ReadBefore[]> {
  return sql.query<ReadBefore>(
    `select to_json(episode_ids) as episodes, coalesce(answer -> 'facts', '[]') as facts, coalesce(answer -> 'rules', '[]') as rules
     from consolidation_runs where tenant_id = $1 and butler = $2 and state = 'done' and id <> $3
       and episode_ids && $4::uuid[] and answer is not null`,
    [tenant, butler, run, episodes],
  );
}
