/** Rules: how to behave. */

import type { Sql } from "../../adapters/db/port.ts";
import type { Rule } from "../../domain/rule.ts";
import { byteaLiteral, insertRows } from "./rows.ts";

export interface NewRule extends Rule {
  readonly content_key: Uint8Array;
}

const COLUMNS = `id tenant_id content original_content matcher scope maturity validity effectiveness_score applied_count
  success_count harmful_count last_applied_at last_evaluated_at forgotten_at forget_reason confidence decay_rate
  last_confirmed_at source_butler source source_episode_id request_id trust corroborated_at review_until created_at reference_count
  last_referenced_at prior_referenced_at importance tags metadata`.split(/\s+/);
const LIST = COLUMNS.join(", ");

export const ruleJson = (rule: NewRule) => ({ ...rule, content_key: byteaLiteral(rule.content_key) });

export async function insertRule(sql: Sql, rule: NewRule): Promise<void> {
  await insertRows(sql, "rules", [...COLUMNS, "content_key"], [ruleJson(rule)]);
}

/** The rule of this scope that says the same, locked. An inverted rule keeps its key: the harmful one cannot come back as new. */
export async function lockTwinRule(
  sql: Sql,
  tenant: string,
  scope: string,
  contentKey: Uint8Array,
): Promise<Rule | undefined> {
  const [row] = await sql.query<Rule>(
    `select ${LIST} from rules
     where tenant_id = $1 and scope = $2 and content_key = $3 and validity <> 'retracted' for update`,
    [tenant, scope, contentKey],
  );
  return row;
}

export async function findRule(sql: Sql, tenant: string, id: string, lock = false): Promise<Rule | undefined> {
  const [row] = await sql.query<Rule>(
    `select ${LIST} from rules where tenant_id = $1 and id = $2${lock ? " for update" : ""}`,
    [tenant, id],
  );
  return row;
}

/** The columns a rule's life can change. */
export type RuleChange = Partial<
  Omit<Rule, "id" | "tenant_id" | "scope" | "created_at" | "tags" | "metadata" | "matcher">
>;

export async function changeRule(sql: Sql, id: string, from: Rule["validity"], set: RuleChange): Promise<boolean> {
  const columns = Object.keys(set);
  const assignments = columns.map((column, index) => `${column} = $${index + 3}`).join(", ");
  const rows = await sql.query(`update rules set ${assignments} where id = $1 and validity = $2 returning 1`, [
    id,
    from,
    ...Object.values(set),
  ]);
  return rows.length === 1;
}

export interface Application {
  readonly id: string;
  readonly tenant_id: string;
  readonly rule_id: string;
  readonly outcome: "helpful" | "harmful";
  readonly session_id: string | null;
  readonly note: string | null;
  readonly actor: string;
  readonly request_id: string | null;
  readonly created_at: Date;
  /** False when this session has already given this mark to this rule. */
  readonly counted: boolean;
}

const APPLICATION = "id tenant_id rule_id outcome session_id note actor request_id created_at counted".split(" ");

/** Every mark is stored, also one that does not count; returns it as stored. */
export async function insertApplication(sql: Sql, told: Omit<Application, "counted">): Promise<Application> {
  const once =
    "on conflict (rule_id, outcome, session_id, tenant_id) where session_id is not null and counted do nothing";
  const first: Application = { ...told, counted: true };
  const made = await insertRows(sql, "rule_applications", APPLICATION, [{ ...first }], `${once} returning id`);
  if (made.length === 1) return first;
  const again: Application = { ...told, counted: false };
  await insertRows(sql, "rule_applications", APPLICATION, [{ ...again }]);
  return again;
}

export interface Tally {
  readonly success: number;
  readonly harmful: number;
  /** What was said of the harm, oldest first. */
  readonly reasons: readonly string[];
}

/** The counters, from the evidence itself. */
export async function tallyRule(sql: Sql, ruleId: string): Promise<Tally> {
  const [row] = await sql.query<Tally>(
    `select (count(*) filter (where outcome = 'helpful'))::int4 as success,
            (count(*) filter (where outcome = 'harmful'))::int4 as harmful,
            coalesce(array_agg(note order by created_at, id) filter (where outcome = 'harmful' and note is not null),
              '{}'::text[]) as reasons
     from rule_applications where rule_id = $1 and counted`,
    [ruleId],
  );
  return row ?? { success: 0, harmful: 0, reasons: [] };
}
