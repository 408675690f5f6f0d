/** A store whose statements ask for no tenant: what is left is row security alone. */
import type { Db, Sql } from "../../src/engine/adapters/db/port.ts";
import { wrapDb } from "../../src/engine/adapters/db/wrap.ts";

/** The parameter stays in the text, because PostgreSQL must know its type. */
const always = (param: string, type: string) => `(${param}::${type} is not distinct from ${param}::${type})`;

const FILTERS: readonly (readonly [RegExp, (param: string) => string])[] = [
  [/(?<![\w.])(?:\w+\.)?tenant_id = (\$\d+)(?:::text)?/g, (param) => always(param, "text")],
  [/(?<![\w.])(?:\w+\.)?tenant_id = \w+\.tenant_id/g, () => "true"],
  [/(?<![\w.])(?:\w+\.)?sk = any\((\$\d+)::int4\[\]\)/g, (param) => always(param, "int4[]")],
];

export interface Blind {
  readonly db: Db;
  /** Statements that asked for a tenant or its shelves, and do not any more. */
  readonly rewritten: Set<string>;
  /** Statements that still do, after the rewriting. */
  readonly missed: Set<string>;
}

export function blindDb(db: Db): Blind {
  const rewritten = new Set<string>();
  const missed = new Set<string>();
  const blind = (text: string): string => {
    const without = FILTERS.reduce((sql, [filter, instead]) => sql.replace(filter, (_, param) => instead(param)), text);
    if (without !== text) rewritten.add(text);
    if (/tenant_id\s*(=|in\b|<>|is )|\bsk\s*(= ?any|in\b)/i.test(without)) missed.add(without);
    return without;
  };
  const blinded = (sql: Sql): Sql => ({ query: (text, params) => sql.query(blind(text), params) });
  return {
    db: wrapDb(db, (inner) => ({ ...blinded(inner), tx: (work) => inner.tx((sql) => work(blinded(sql))) })),
    rewritten,
    missed,
  };
}

/** As the user of the connection, a superuser in tests, whom row security does not bind. */
export function withoutRowSecurity(db: Db): Db {
  const bare: Db = { ...db, withSettings: () => bare };
  return bare;
}
