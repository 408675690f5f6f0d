/** Everything that ranking reads of some memories, in one statement: their rows, words, vectors, and where they were learned. */
import type { Sql } from "../../adapters/db/port.ts";
import type { ReadLink, ReadMemory, ReadRow, ReadVector, ReadWords } from "../../domain/read-model/rows.ts";
import { isFiled, isLive } from "../memories/live.ts";

/** The next ids in the order of ids. Facts and rules that are over are found by nothing; an episode's speaker counts even then. */
export async function idsAfter(sql: Sql, after: string, limit: number): Promise<string[]> {
  const part = (select: string) => `(select ${select} order by 1 limit ${limit})`;
  const rows = await sql.query<{ id: string }>(
    `select id from (
       ${part("id from episodes where id > $1")} union
       ${part(`id from facts where id > $1 and ${isLive()}`)} union
       ${part(`id from rules where id > $1 and ${isLive()}`)} union
       ${part(`memory_id from lex_doc where memory_id > $1 and ${isFiled()}`)}) as m
     order by id limit ${limit}`,
    [after],
  );
  return rows.map(({ id }) => id);
}

/** How many there are, counted no further than `most`. */
export async function countMemories(sql: Sql, most: number): Promise<number> {
  const [row] = await sql.query<{ n: number }>(
    `select count(*)::int4 as n from (
       (select 1 from episodes limit $1) union all (select 1 from facts where ${isLive()} limit $1)
       union all (select 1 from rules where ${isLive()} limit $1)) as m`,
    [most],
  );
  return row?.n ?? 0;
}

const SHARED = `m.importance, m.tags, m.reference_count, m.created_at, m.last_referenced_at, m.prior_referenced_at, m.trust`;

const ROWS = `select 'episode' as type, m.id, m.tenant_id, m.butler as scope, m.validity as state, coalesce(m.summary, m.content) as content,
    ${SHARED}, 1::float8 as confidence, 0::float8 as decay_rate, m.created_at as last_confirmed_at, null::text as subject_key,
    null::text as predicate_key, null::text as subject, null::text as predicate, null::text as permanence, null::timestamptz as valid_from,
    null::timestamptz as valid_to, null::timestamptz as waits_until, null::text as maturity, null::float8 as effectiveness,
    m.tier, m.session_id, m.ordinal, m.speaker, m.occurred_at, m.expires_at, null::timestamptz as corroborated_at,
    right(m.content, 2) like '%?%' as asks
  from w join episodes m on m.id = w.id
  union all
  select 'fact', m.id, m.tenant_id, m.scope, m.validity, m.content, ${SHARED}, m.confidence, m.decay_rate, m.last_confirmed_at,
    m.subject, m.predicate, m.subject_text, m.predicate_text, m.permanence, m.valid_from, m.valid_to, m.waits_until,
    null, null, null, null, null, null, null, null, m.corroborated_at, false
  from w join facts m on m.id = w.id where ${isLive("m")}
  union all
  select 'rule', m.id, m.tenant_id, m.scope, m.validity, m.content, ${SHARED}, m.confidence, m.decay_rate, m.last_confirmed_at,
    null, null, null, null, null, null, null, null, m.maturity, m.effectiveness_score, null, null, null, null, null, null, m.corroborated_at, false
  from w join rules m on m.id = w.id where ${isLive("m")}`;

const COLUMNS =
  `type id tenant_id scope state content importance tags reference_count created_at last_referenced_at prior_referenced_at trust
  confidence decay_rate last_confirmed_at subject_key predicate_key subject predicate permanence valid_from valid_to waits_until maturity
  effectiveness tier session_id ordinal speaker occurred_at expires_at corroborated_at asks`.split(
    /\s+/,
  ) as (keyof ReadRow)[];
const TIMES = new Set<string>(
  `created_at last_referenced_at prior_referenced_at last_confirmed_at valid_from valid_to waits_until occurred_at expires_at corroborated_at`.split(
    " ",
  ),
);
const GLUED = COLUMNS.map((name) => (TIMES.has(name) ? `extract(epoch from m.${name}) * 1000` : `m.${name}`)).join(
  ", ",
);

interface Answer {
  readonly rows: string | null;
  readonly words: string | null;
  readonly forwards: Uint8Array | null;
  readonly vectors: string | null;
  readonly halves: Uint8Array | null;
  readonly tokens: Uint8Array | null;
  readonly links: string | null;
}

/** Bytes travel glued together, in the order of the JSON beside them. A half number is two bytes, the higher one first. */
export async function readMemories(sql: Sql, ids: readonly string[], version: number): Promise<ReadMemory[]> {
  const [all] = await sql.query<Answer>(
    `with w as materialized (select distinct unnest($1::uuid[]) as id),
     d as materialized (select d.* from w join lex_doc d on d.memory_id = w.id and ${isFiled("d")}),
     v as materialized (select v.* from w join embeddings v on v.memory_id = w.id and v.version_id = $2)
     select (select json_agg(json_build_array(${GLUED}))::text from (${ROWS}) as m) as rows,
       (select json_agg(json_build_array(memory_id, sk, len, octet_length(x)) order by doc)::text from d) as words,
       (select string_agg(x, ''::bytea order by doc) from d) as forwards,
       (select json_agg(json_build_array(memory_id, sk, case when isfinite(visible_until) then extract(epoch from visible_until) * 1000 end,
          word_pieces, octet_length(tokens), vector_dims(embedding::vector)) order by memory_id)::text from v) as vectors,
       (select string_agg(substring(halfvec_send(embedding) from 5), ''::bytea order by memory_id) from v) as halves,
       (select string_agg(tokens, ''::bytea order by memory_id) from v) as tokens,
       (select json_agg(json_build_array(k.id, k.episode, extract(epoch from k.created_at) * 1000))::text from (
          select l.source_id as id, l.target_id as episode, l.created_at from w join memory_links l on l.source_id = w.id
            where l.target_type = 'episode' and l.relation = 'derived_from'
          union all
          select l.target_id, l.source_id, l.created_at from w join memory_links l on l.target_id = w.id
            where l.source_type = 'episode' and l.relation = 'supports') k) as links`,
    [ids, version],
  );
  const found = new Map<string, Parts>(ids.map((id) => [id, { links: [] }]));
  if (all !== undefined) file(all, found);
  return [...found].map(([id, { row, words, vector, links }]) => ({ id, row, words, vector, links }));
}

interface Parts {
  row?: ReadRow;
  words?: ReadWords;
  vector?: ReadVector;
  links: ReadLink[];
}

function file(all: Answer, found: ReadonlyMap<string, Parts>): void {
  for (const values of parsed<unknown[]>(all.rows)) {
    const row = rowOf(values);
    put(found, row.id, { row });
  }
  const [forwards, halves, tokens] = [all.forwards, all.halves, all.tokens].map((bytes) => taker(bytes));
  for (const [id, sk, len, size] of parsed<[string, number, number, number]>(all.words))
    put(found, id, { words: { sk, len, x: forwards?.(size) ?? NOTHING } });
  type Vector = [
    id: string,
    sk: number,
    until: number | null,
    pieces: number | null,
    size: number | null,
    dims: number,
  ];
  for (const [id, sk, until, pieces, size, dims] of parsed<Vector>(all.vectors))
    put(found, id, {
      vector: {
        ...{ sk, visibleUntil: until ?? Number.POSITIVE_INFINITY, pieces: pieces ?? 0 },
        halves: halves?.(dims * 2) ?? NOTHING,
        tokens: size === null ? undefined : tokens?.(size),
      },
    });
  for (const [id, episode, at] of parsed<[string, string, number]>(all.links))
    found.get(id)?.links.push({ episode, at });
}

/** Written out: objects of one shape take half the room, and these stay. */
function rowOf(v: readonly unknown[]): ReadRow {
  return {
    type: v[0] as ReadRow["type"],
    id: v[1] as ReadRow["id"],
    tenant_id: v[2] as ReadRow["tenant_id"],
    scope: v[3] as ReadRow["scope"],
    state: v[4] as ReadRow["state"],
    content: v[5] as ReadRow["content"],
    importance: v[6] as ReadRow["importance"],
    tags: v[7] as ReadRow["tags"],
    reference_count: v[8] as ReadRow["reference_count"],
    created_at: v[9] as ReadRow["created_at"],
    last_referenced_at: v[10] as ReadRow["last_referenced_at"],
    prior_referenced_at: v[11] as ReadRow["prior_referenced_at"],
    trust: v[12] as ReadRow["trust"],
    confidence: v[13] as ReadRow["confidence"],
    decay_rate: v[14] as ReadRow["decay_rate"],
    last_confirmed_at: v[15] as ReadRow["last_confirmed_at"],
    subject_key: v[16] as ReadRow["subject_key"],
    predicate_key: v[17] as ReadRow["predicate_key"],
    subject: v[18] as ReadRow["subject"],
    predicate: v[19] as ReadRow["predicate"],
    permanence: v[20] as ReadRow["permanence"],
    valid_from: v[21] as ReadRow["valid_from"],
    valid_to: v[22] as ReadRow["valid_to"],
    waits_until: v[23] as ReadRow["waits_until"],
    maturity: v[24] as ReadRow["maturity"],
    effectiveness: v[25] as ReadRow["effectiveness"],
    tier: v[26] as ReadRow["tier"],
    session_id: v[27] as ReadRow["session_id"],
    ordinal: v[28] as ReadRow["ordinal"],
    speaker: v[29] as ReadRow["speaker"],
    occurred_at: v[30] as ReadRow["occurred_at"],
    expires_at: v[31] as ReadRow["expires_at"],
    corroborated_at: v[32] as ReadRow["corroborated_at"],
    asks: v[33] as ReadRow["asks"],
  };
}

const NOTHING = new Uint8Array(0);
const parsed = <T>(json: string | null): T[] => JSON.parse(json ?? "[]") as T[];

function put(found: ReadonlyMap<string, Parts>, id: string, part: Partial<Parts>): void {
  const party = found.get(id);
  if (party !== undefined) Object.assign(party, part);
}

/** Takes one part after the other. */
function taker(bytes: Uint8Array | null): (size: number) => Uint8Array {
  let at = 0;
  return (size) => {
    const part = (bytes ?? NOTHING).subarray(at, at + size);
    at += size;
    return part;
  };
}
