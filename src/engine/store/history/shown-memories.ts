/** What people are shown of the memories that events are about: as they are now, of one tenant and within the scopes of the reader. */

import type { Sql } from "../../adapters/db/port.ts";
import type { Learned } from "../../domain/learning/sureness.ts";
import type { Trust } from "../../domain/learning/trust.ts";
import type { MemoryType } from "../../domain/memory-types.ts";
import { isInTime, textOf } from "../memories/live.ts";

export interface ShownMemory {
  readonly type: MemoryType;
  readonly id: string;
  readonly state: string;
  readonly trust: Trust;
  /** Its beginning; null when it was forgotten. */
  readonly text: string | null;
  readonly maturity: string | null;
  /** Of what consolidation has learned. */
  readonly learned: Partial<Learned> | null;
}

interface Reader {
  readonly tenant: string;
  readonly scopes: readonly string[] | undefined;
  readonly now: Date;
}

/** In characters: a line of a terminal is shorter. */
const LONGEST = 600;

const textIn = (type: MemoryType): string =>
  `case when m.validity = 'retracted' then null else left(${textOf(type, "m")}, ${LONGEST}) end as text`;

/** An agent may store metadata of its own. */
const LEARNED = "case when m.source like 'consolidation:%' then m.metadata -> 'learned' end";

/** Memories that are gone, or that the reader may not see, are left out. */
export async function shownMemories(
  sql: Sql,
  { tenant, scopes, now }: Reader,
  ids: readonly string[],
): Promise<Map<string, ShownMemory>> {
  if (ids.length === 0) return new Map();
  const rows = await sql.query<ShownMemory>(
    `select 'fact' as type, m.id, m.validity as state, m.trust, ${textIn("fact")}, null as maturity, ${LEARNED} as learned from facts m
       where m.tenant_id = $1 and m.id = any($2::uuid[]) and ($3::text[] is null or m.scope = any($3::text[]))
     union all
     select 'rule', m.id, m.validity, m.trust, ${textIn("rule")}, m.maturity, ${LEARNED} from rules m
       where m.tenant_id = $1 and m.id = any($2::uuid[]) and ($3::text[] is null or m.scope = any($3::text[]))
     union all
     select 'episode', m.id, m.validity, m.trust, ${textIn("episode")}, null, null from episodes m
       where m.tenant_id = $1 and m.id = any($2::uuid[]) and ($3::text[] is null or m.butler = any($3::text[]))
         and ${isInTime("m", "$4::timestamptz")}`,
    [tenant, ids, scopes ?? null, now],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** The sessions in which episodes were said, also of those that are deleted by now. */
export async function sessionsOf(
  sql: Sql,
  { tenant, scopes }: Reader,
  episodes: readonly string[],
): Promise<Map<string, string>> {
  if (episodes.length === 0) return new Map();
  const rows = await sql.query<{ id: string; session: string }>(
    `select entity_id as id, payload -> 'row' ->> 'session_id' as session from memory_events
     where tenant_id = $1 and entity_id = any($2::uuid[]) and event_type = 'episode.stored'
       and ($3::text[] is null or scope = any($3::text[])) and payload -> 'row' ->> 'session_id' is not null`,
    [tenant, episodes, scopes ?? null],
  );
  return new Map(rows.map(({ id, session }) => [id, session]));
}

/** Who read the episodes of these runs: the provider, and its model where it has one. */
export async function readersOf(sql: Sql, tenant: string, runs: readonly string[]): Promise<Map<string, string>> {
  if (runs.length === 0) return new Map();
  const rows = await sql.query<{ id: string; provider: string; model: string }>(
    "select id, provider, model from consolidation_runs where tenant_id = $1 and id = any($2::uuid[])",
    [tenant, runs],
  );
  return new Map(
    rows.map(({ id, provider, model }) => [id, model === "" || model === provider ? provider : `${provider} ${model}`]),
  );
}
