/** Judgements of what was learned are found without reading what jobs did: among 90,000 events of jobs in 0.02 s instead of 0.7. */
import { type Kysely, sql } from "kysely";

export const mem_0009_judgements = {
  up: async (db: Kysely<unknown>) => {
    await sql
      .raw(
        `create index memory_events_judged on memory_events (tenant_id, seq)
         where event_type in ('fact.forgotten', 'rule.forgotten', 'rule.marked_harmful', 'fact.superseded', 'fact.confirmed',
           'rule.confirmed', 'fact.restored', 'rule.restored', 'rule.marked_helpful') and actor not like 'job:%'`,
      )
      .execute(db);
  },
  down: async (db: Kysely<unknown>) => {
    await sql.raw(`drop index memory_events_judged`).execute(db);
  },
};
