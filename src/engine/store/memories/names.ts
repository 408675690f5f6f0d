/** Who speaks in which session. */
import type { Sql } from "../../adapters/db/port.ts";
import type { Members } from "../../domain/ranking/words/bm25.ts";
import { firstName } from "../../domain/text/names.ts";
import { isFiled } from "./live.ts";

/** First names, in lower case, of everyone who has spoken in these sessions; a session without speakers is left out. */
export async function sessionNames(
  sql: Sql,
  tenant: string,
  sessions: readonly string[],
): Promise<Map<string, string[]>> {
  const names = new Map<string, string[]>();
  if (sessions.length === 0) return names;
  const rows = await sql.query<{ session_id: string; name: string }>(
    `select distinct session_id, lower(split_part(speaker, ' ', 1)) as name from episodes
     where tenant_id = $1 and session_id = any($2::text[]) and speaker is not null order by 1, 2`,
    [tenant, sessions],
  );
  for (const { session_id, name: spelled } of rows) {
    const name = firstName(spelled);
    if (name !== undefined) names.set(session_id, [...(names.get(session_id) ?? []), name]);
  }
  return names;
}

/** Those of the words that are the first name of somebody who speaks in these scopes. Undefined: every scope of the tenant. */
export async function speakersAmong(
  sql: Sql,
  tenant: string,
  scopes: readonly string[] | undefined,
  words: readonly string[],
): Promise<string[]> {
  const rows = await sql.query<{ name: string }>(
    `select w.name from unnest($2::text[]) as w (name)
     where exists (select 1 from episodes e where e.tenant_id = $1 and lower(split_part(e.speaker, ' ', 1)) = w.name
       and ($3::text[] is null or e.butler = any($3::text[])))`,
    [tenant, words, scopes ?? null],
  );
  return rows.map(({ name }) => name).sort();
}

/** Who has said more than this is everywhere, and is found without lists of their own, which would take longer than the rest. */
export const MOST_SAID = 600;

/** What these people said, as the keyword index knows it on these shelves; undefined when there is nothing, or too much of it. */
export async function saidBy(
  sql: Sql,
  tenant: string,
  names: readonly string[],
  sks: readonly number[],
): Promise<Members | undefined> {
  const rows = await sql.query<{ sk: number; slots: string | null; ids: string | null }>(
    `with said as materialized (
       select e.id from episodes e
       where e.tenant_id = $1 and lower(split_part(e.speaker, ' ', 1)) = any($2::text[]) limit ${MOST_SAID + 1})
     select d.sk, (json_agg(d.slot) filter (where d.state = 1))::text as slots,
       (json_agg(d.memory_id) filter (where d.state = 0))::text as ids
     from said s join lex_doc d on d.memory_id = s.id and ${isFiled("d")} and d.sk = any($3::int4[])
     where (select count(*) from said) <= ${MOST_SAID} group by d.sk`,
    [tenant, names, sks],
  );
  if (rows.length === 0) return undefined;
  return {
    slots: new Map(rows.map(({ sk, slots }) => [sk, new Set(JSON.parse(slots ?? "[]") as number[])])),
    ids: new Set(rows.flatMap(({ ids }) => JSON.parse(ids ?? "[]") as string[])),
  };
}
