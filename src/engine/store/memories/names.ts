/** Who speaks in which session. */
import type { Sql } from "../../adapters/db/port.ts";
import type { Members } from "../../domain/ranking/bm25.ts";
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

/** The sessions in which some people speak, and all that is said there, as the keyword index knows it. */
export interface Company extends Members {
  readonly sessions: readonly (readonly [session: string, butler: string])[];
  readonly size: number;
}

/** Whoever takes part in more turns than this is everywhere: lists of their own would cost much and bring little. */
export const MOST_TURNS = 2000;

interface People {
  readonly names: string[] | null;
  readonly spoken: number;
  readonly sessions: [session: string, butler: string][] | null;
  readonly folded: [sk: number, slot: number][] | null;
  readonly fresh: string[] | null;
}

/** The names as `speakersAmong` finds them, and their company on these shelves; undefined when there is none, or too much of it. */
export async function companyAmong(
  sql: Sql,
  tenant: string,
  scopes: readonly string[] | undefined,
  words: readonly string[],
  sks: readonly number[],
): Promise<{ names: string[]; company: Company | undefined }> {
  const [row] = await sql.query<{ people: string }>(
    `with named as materialized (${NAMED}),
     spoken as materialized (
       select e.session_id, e.butler from episodes e
       where e.tenant_id = $1 and lower(split_part(e.speaker, ' ', 1)) = any(array(select name from named))
         and e.speaker is not null and e.session_id is not null
       limit ${MOST_TURNS + 1}),
     sessions as materialized (select distinct session_id, butler from spoken),
     turns as materialized (
       select d.sk, d.slot, d.memory_id, d.state from sessions s
       join episodes e on e.tenant_id = $1 and e.session_id = s.session_id and e.butler = s.butler
       join lex_doc d on d.memory_id = e.id and ${isFiled("d")} and d.sk = any($4::int4[])
       limit ${MOST_TURNS + 1})
     select json_build_object('names', (select json_agg(name) from named), 'spoken', (select count(*) from spoken),
         'sessions', (select json_agg(json_build_array(session_id, butler)) from sessions),
         'folded', (select json_agg(json_build_array(sk, slot)) from turns where state = 1),
         'fresh', (select json_agg(memory_id) from turns where state = 0))::text as people`,
    [tenant, words, scopes ?? null, sks],
  );
  const people = JSON.parse(row?.people ?? "{}") as Partial<People>;
  return { names: [...(people.names ?? [])].sort(), company: companyOf(people) };
}

function companyOf({ spoken = 0, sessions, folded, fresh }: Partial<People>): Company | undefined {
  const size = (folded?.length ?? 0) + (fresh?.length ?? 0);
  if (size === 0 || size > MOST_TURNS || spoken > MOST_TURNS) return undefined;
  const slots = new Map<number, Set<number>>();
  for (const [sk, slot] of folded ?? []) slots.set(sk, (slots.get(sk) ?? new Set()).add(slot));
  return { sessions: sessions ?? [], slots, ids: new Set(fresh), size };
}

const NAMED = `select w.name from unnest($2::text[]) as w (name)
     where exists (select 1 from episodes e where e.tenant_id = $1 and lower(split_part(e.speaker, ' ', 1)) = w.name
       and ($3::text[] is null or e.butler = any($3::text[])))`;

/** Those of the words that are the first name of somebody who speaks in these scopes. Undefined: every scope of the tenant. */
export async function speakersAmong(
  sql: Sql,
  tenant: string,
  scopes: readonly string[] | undefined,
  words: readonly string[],
): Promise<string[]> {
  const rows = await sql.query<{ name: string }>(NAMED, [tenant, words, scopes ?? null]);
  return rows.map(({ name }) => name).sort();
}
