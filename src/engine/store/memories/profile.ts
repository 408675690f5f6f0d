/** What a context block says whatever the prompt is: lasting, important facts, and proven rules. */

import type { Sql } from "../../adapters/db/port.ts";
import type { Fact, FactWords } from "../../domain/fact.ts";
import type { Fading, Permanence } from "../../domain/lifecycle/decay.ts";
import type { Look } from "../../domain/present.ts";
import { isLasting, isLetIn, isLive, stillHolds } from "./live.ts";
import { isValueSql } from "./present.ts";

export interface ProfileItem extends FactWords, Fading, Pick<Fact, "id" | "importance"> {
  readonly type: "fact" | "rule";
  /** Empty for a rule, as its subject and predicate are. */
  readonly permanence: Permanence | "";
}

export interface ProfileQuery extends Look {
  readonly tenant: string;
  readonly limit: number;
}

/** In an order that only a change of memory can change, and only the columns a line needs: wide rows cost the embedded store 5 ms. */
export function readProfile(sql: Sql, query: ProfileQuery): Promise<ProfileItem[]> {
  const params: unknown[] = [query.tenant, query.ladder ?? [], query.now, query.limit];
  const isValue = isValueSql("m", query, (value) => `$${params.push(value)}`);
  return sql.query<ProfileItem>(
    `(select 'fact' as type, id, subject_text, predicate_text, content, permanence, importance, confidence, decay_rate,
        last_confirmed_at
      from facts m
      where tenant_id = $1 and scope = any($2::text[]) and ${isLive()} and ${isLetIn()}
        and ${isLasting()} and ${stillHolds("", "$3")}
        and ${isValue}
      order by importance desc, created_at desc, id limit $4)
     union all
     (select 'rule', id, '', '', content, '', importance, confidence, decay_rate, last_confirmed_at
      from rules
      where tenant_id = $1 and scope = any($2::text[]) and ${isLive()} and ${isLetIn()} and maturity = 'proven'
      order by importance desc, created_at desc, id limit $4)`,
    params,
  );
}
