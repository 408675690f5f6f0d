/** engine/domain/present.ts in SQL: whether a fact is the value of its key for a reader. */
import type { Sql } from "../../adapters/db/port.ts";
import { TRUST } from "../../domain/learning/trust.ts";
import type { Look } from "../../domain/present.ts";

type Place = (value: unknown) => string;

const rank = (fact: string) => `array_position(array['${TRUST.join("', '")}'], ${fact}.trust)`;

/** The condition under which the other fact `n` stands before `m`; one look into the index of live keys for each step. */
function before(m: string, { ladder, now, threshold }: Look, place: Place): string {
  const [steps, at, least] = [
    `${place(ladder ?? null)}::text[]`,
    `${place(now)}::timestamptz`,
    `${place(threshold)}::float8`,
  ];
  const standing = (fact: string) =>
    `(${rank(fact)}, coalesce(array_position(${steps}, ${fact}.scope), 0), coalesce(${fact}.waits_until, '-infinity'))`;
  const days = `(greatest(0, date_part('epoch', ${at} - n.last_confirmed_at)) / 86400)`;
  return `n.tenant_id = ${m}.tenant_id and n.scope = any(coalesce(${steps}, array[${m}.scope]))
    and n.subject = ${m}.subject and n.predicate = ${m}.predicate and n.validity in ('active', 'fading') and n.id <> ${m}.id
    and (n.waits_until is null or n.waits_until <= ${at})
    and ${standing("n")} > ${standing(m)}
    and (n.scope = ${m}.scope or ((n.valid_to is null or n.valid_to > ${at})
      and n.confidence * exp(greatest(-100, -n.decay_rate * ${days})) >= ${least}))`;
}

/** Of a live fact `m`. */
export function isValueSql(m: string, look: Look, place: Place): string {
  return `(${m}.waits_until is null or ${m}.waits_until <= ${place(look.now)}::timestamptz)
    and not exists (select 1 from facts n where ${before(m, look, place)})`;
}

export interface Rival {
  readonly id: string;
  readonly scope: string;
}

/** The facts that are told instead of this one. */
export function rivalsOf(sql: Sql, tenant: string, id: string, look: Look): Promise<Rival[]> {
  const params: unknown[] = [tenant, id];
  const place: Place = (value) => `$${params.push(value)}`;
  return sql.query<Rival>(
    `select n.id, n.scope from facts m, facts n where m.tenant_id = $1 and m.id = $2 and ${before("m", look, place)}
     order by n.created_at, n.id`,
    params,
  );
}
