/** Facts whose encryption is not what the settings and the keys say, and where else their texts are kept. */
import type { Sql } from "../../adapters/db/port.ts";
import type { Fact } from "../../domain/fact.ts";
import { SEALED_PREFIX } from "../../domain/sealed.ts";

export type SealedRow = Pick<
  Fact,
  | "id"
  | "tenant_id"
  | "scope"
  | "predicate"
  | "subject_text"
  | "predicate_text"
  | "content"
  | "validity"
  | "confidence"
  | "decay_rate"
  | "last_confirmed_at"
  | "valid_to"
>;

export interface SealingQuery {
  readonly tenant: string;
  /** The id of the key that encrypts now. */
  readonly current: string;
  /** Normalised. */
  readonly predicates: readonly string[];
}

const COLUMNS = `id, tenant_id, scope, predicate, subject_text, predicate_text, content, validity, confidence, decay_rate, last_confirmed_at, valid_to`;
const STALE = `starts_with(content, '${SEALED_PREFIX}') and not starts_with(content, '${SEALED_PREFIX}' || $2 || ':')`;
const PLAIN = `not starts_with(content, '${SEALED_PREFIX}')
  and (predicate = any($3::text[]) or split_part(predicate, ':', 1) = any($3::text[]))`;

/** Facts to encrypt anew, or for the first time, in the order of their ids. */
export function misSealed(sql: Sql, query: SealingQuery, after: string, limit: number): Promise<SealedRow[]> {
  return sql.query<SealedRow>(
    `select ${COLUMNS} from facts where tenant_id = $1 and id > $4 and (${STALE} or ${PLAIN}) order by id limit $5`,
    [query.tenant, query.current, query.predicates, after, limit],
  );
}

export async function setContents(sql: Sql, contents: ReadonlyMap<string, string>): Promise<void> {
  await sql.query(
    `update facts f set content = n.content from unnest($1::uuid[], $2::text[]) as n (id, content) where f.id = n.id`,
    [[...contents.keys()], [...contents.values()]],
  );
}

/** Answers of extractors, which hold what was learned. */
export function answersOfRuns(sql: Sql, tenant: string, after: string, limit: number) {
  return sql.query<{ id: string; answer: unknown }>(
    "select id, answer from consolidation_runs where tenant_id = $1 and answer is not null and id > $2 order by id limit $3",
    [tenant, after, limit],
  );
}

export async function setAnswerOfRun(sql: Sql, id: string, answer: unknown): Promise<void> {
  await sql.query("update consolidation_runs set answer = $2::jsonb where id = $1", [id, JSON.stringify(answer)]);
}

/** How many facts each key has encrypted, by its id. */
export function factsByKey(sql: Sql): Promise<{ key: string; facts: number }[]> {
  return sql.query(
    `select split_part(content, ':', 3) as key, count(*)::int4 as facts from facts
     where starts_with(content, '${SEALED_PREFIX}') group by 1 order by 1`,
  );
}
