/** Rules for people, the newest first. */
import type { Sql } from "../../adapters/db/port.ts";
import type { Maturity } from "../../domain/lifecycle/maturity.ts";
import type { Rule } from "../../domain/rule.ts";
import { isLive } from "../memories/live.ts";
import { type Conditions, conditions, foundBy } from "./conditions.ts";

export interface RulePage {
  readonly tenant: string;
  readonly scopes: readonly string[] | undefined;
  readonly state: Rule["validity"] | "live" | "all";
  readonly maturity: Maturity | undefined;
  readonly tag: string | undefined;
  readonly reader: string | undefined;
  readonly trust: string | undefined;
  readonly ids: readonly string[] | undefined;
  /** Only rules that were stored by then. */
  readonly until?: Date | undefined;
  /** The id of the last rule of the page before. */
  readonly after: string | undefined;
  readonly limit: number;
}

export interface ListedRule extends Omit<Rule, "tenant_id" | "source_butler" | "source_episode_id" | "request_id"> {
  readonly sources: number;
  /** The outcomes of its last marks, oldest first. */
  readonly marks: readonly {
    readonly outcome: "helpful" | "harmful";
    readonly at: string;
    readonly note: string | null;
  }[];
}

const COLUMNS = `id, content, original_content, matcher, scope, maturity, validity, effectiveness_score, applied_count,
  success_count, harmful_count, last_applied_at, last_evaluated_at, forgotten_at, forget_reason, confidence, decay_rate,
  last_confirmed_at, source, created_at, reference_count, last_referenced_at, prior_referenced_at, importance, tags,
  metadata, trust, corroborated_at, review_until`;

const MARKS = 30;

export function listRuleIds(sql: Sql, page: RulePage): Promise<{ readonly id: string }[]> {
  const where = wanted(page);
  return sql.query(
    `select id from rules where ${where.sql()} order by id desc limit ${where.place(page.limit)}`,
    where.params,
  );
}

function wanted(page: RulePage): Conditions {
  const where = conditions();
  where.add([page.tenant], (tenant) => `tenant_id = ${tenant}`);
  where.given(page.scopes, (scopes) => `scope = any(${scopes}::text[])`);
  where.given(page.maturity, (maturity) => `maturity = ${maturity}`);
  where.given(page.tag, (tag) => `tags @> array[${tag}::text]`);
  where.given(page.reader, (by) => foundBy(by));
  where.given(page.trust, (trust) => `trust = ${trust}`);
  where.given(page.ids, (ids) => `id = any(${ids}::uuid[])`);
  if (page.state !== "all") where.add([], () => (page.state === "live" ? isLive() : `validity = '${page.state}'`));
  where.given(page.until, (until) => `created_at <= ${until}::timestamptz`);
  where.given(page.after, (id) => `id < ${id}::uuid`);
  return where;
}

export function listRules(sql: Sql, page: RulePage): Promise<ListedRule[]> {
  const where = wanted(page);
  const size = where.place(page.limit);
  return sql.query<ListedRule>(
    `with page as materialized (select ${COLUMNS} from rules where ${where.sql()} order by id desc limit ${size})
     select page.*,
       (select count(*)::int4 from (
          select target_id from memory_links where source_id = page.id and relation = 'derived_from'
          union select source_id from memory_links where target_id = page.id and relation = 'supports') s) as sources,
       (select coalesce(jsonb_agg(jsonb_build_object('outcome', m.outcome, 'note', m.note, 'at',
            to_char(m.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) order by m.created_at, m.id), '[]')
          from (select id, outcome, note, created_at from rule_applications a where a.rule_id = page.id
            order by created_at desc, id desc limit ${MARKS}) m) as marks
     from page order by id desc`,
    where.params,
  );
}

/** Live rules on each step of the ladder. */
export async function countLadder(
  sql: Sql,
  { tenant, scopes }: Pick<RulePage, "tenant" | "scopes">,
): Promise<Partial<Record<Maturity, number>>> {
  const rows = await sql.query<{ maturity: Maturity; n: number }>(
    `select maturity, count(*)::int4 as n from rules
     where tenant_id = $1 and ($2::text[] is null or scope = any($2::text[])) and ${isLive()} group by 1`,
    [tenant, scopes ?? null],
  );
  return Object.fromEntries(rows.map(({ maturity, n }) => [maturity, n]));
}
