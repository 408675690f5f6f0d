/**
 * What late interaction reads: for every candidate and the turns around it the words, the token bits, the cosine. It is part of
 * the statement that gathers candidates, so that a search stays at two trips.
 */

import type { MemoryEvidence } from "../../domain/ranking/late-interaction.ts";
import { firstName } from "../../domain/text/names.ts";
import { isFiled, isLiveEpisode } from "../memories/live.ts";
import type { PartSql } from "./known.ts";

export interface Surroundings {
  readonly tenant: string;
  /** How far the reranker looks from a candidate. */
  readonly before: number;
  readonly after: number;
  /** The best of each arm bring these neighbours as candidates of their own; of the others less is looked at. */
  readonly best: number;
  readonly offsets: readonly number[];
  readonly others: { readonly before: number; readonly after: number };
  /** First names in the question that belong to speakers. */
  readonly names: readonly string[];
}

/**
 * From `met` (id, keyword, distance, rank: the better of its two in the arms) to `found` (candidates with their
 * neighbours) and `beside` (all whose evidence is wanted). Neighbours are of the same session, butler and tenant, and live. Their
 * bounds are columns: under row security a sum, which may overflow, is no condition of an index.
 */
export function aroundSql(s: Surroundings, param: (value: unknown) => string, isNew: PartSql["isNew"]): string {
  const furthest = { before: -Math.min(0, ...s.offsets) + s.before, after: Math.max(0, ...s.offsets) + s.after };
  return `spots as materialized (
      select e.tenant_id, e.butler, e.session_id, e.ordinal, m.rank <= ${s.best} as best,
        e.ordinal - case when m.rank <= ${s.best} then ${furthest.before} else ${s.others.before} end as first,
        e.ordinal + case when m.rank <= ${s.best} then ${furthest.after} else ${s.others.after} end as last
      from met m join episodes e on e.id = m.id where e.session_id is not null and e.ordinal is not null),
    turns as materialized (
      select n.id, n.session_id, n.butler, n.ordinal, n.speaker, right(n.content, 2) like '%?%' as asks,
        bool_or(s.best and n.ordinal - s.ordinal in (${s.offsets.join(", ")})) as candidate
      from spots s join episodes n on n.tenant_id = s.tenant_id and n.session_id = s.session_id
        and n.ordinal between s.first and s.last
      where n.butler = s.butler and ${isLiveEpisode("n", "$1")}
      group by n.id, n.tenant_id),
    named as materialized (${namedSql(s, param)}),
    found as materialized (
      select id, keyword, distance from met m where ${isNew("m.id", "found")}
      union all select t.id, null, null from turns t
      where t.candidate and not exists (select 1 from met m where m.id = t.id) and ${isNew("t.id", "found")}),
    beside as (
      select id, session_id, butler, ordinal, speaker, asks from turns t where ${isNew("t.id", "beside")}
      union all select m.id, null, null, null, null, null from met m
      where not exists (select 1 from turns t where t.id = m.id) and ${isNew("m.id", "beside")})`;
}

/**
 * Sessions of `turns` in which somebody speaks whom the question names. Another butler may have a session of the same name.
 * Each is asked by itself: the planner would rather read all that these people ever said.
 */
const namedSql = ({ names, tenant }: Surroundings, param: (value: unknown) => string): string =>
  names.length === 0
    ? "select null::text as session_id, null::text as butler where false"
    : `select t.session_id, t.butler from (select distinct session_id, butler from turns) t
       where (select true from episodes p where p.tenant_id = ${param(tenant)}
         and lower(split_part(p.speaker, ' ', 1)) = any(${param(names)}::text[])
         and p.session_id = t.session_id and p.butler = t.butler limit 1)`;

/** One row: facts about each memory as JSON, column by column, their words and their bits glued in the same order. */
export const evidenceSql = (arm: { version: number; as: string; query: string } | undefined): string =>
  `select json_build_array(array_agg(b.id), array_agg(b.session_id), array_agg(b.butler), array_agg(b.ordinal),
       array_agg(b.speaker), array_agg(b.asks), array_agg((b.session_id, b.butler) in (select session_id, butler from named)),
       array_agg(d.len), array_agg(octet_length(d.x)),
       array_agg(${arm === undefined ? "null::float8" : `1 - ((v.embedding::${arm.as}) <=> ${arm.query})`}),
       array_agg(v.word_pieces), array_agg(octet_length(v.tokens)))::text as facts,
     string_agg(d.x, ''::bytea) as words, string_agg(v.tokens, ''::bytea) as bits
   from beside b
   left join lex_doc d on d.memory_id = b.id and ${isFiled("d")}
   left join embeddings v on v.memory_id = b.id and v.version_id = ${arm?.version ?? -1}`;

export interface EvidenceRow {
  readonly facts: string | null;
  readonly words: Uint8Array | null;
  readonly bits: Uint8Array | null;
}

/** Columns of the same length; null where nothing was found. */
type Facts = readonly [
  id: readonly string[] | null,
  session: readonly (string | null)[],
  butler: readonly (string | null)[],
  ordinal: readonly (number | null)[],
  speaker: readonly (string | null)[],
  asks: readonly (boolean | null)[],
  named: readonly (boolean | null)[],
  len: readonly (number | null)[],
  wordBytes: readonly (number | null)[],
  cosine: readonly (number | null)[],
  pieces: readonly (number | null)[],
  bitBytes: readonly (number | null)[],
];

export function evidenceOf(row: EvidenceRow): Map<string, MemoryEvidence> {
  const words = row.words ?? new Uint8Array(0);
  const bits = row.bits ?? new Uint8Array(0);
  if (row.facts === null) return new Map();
  const facts = JSON.parse(row.facts) as Facts;
  const [ids, session, butler, ordinal, speaker, asks, named, len, wordBytes, cosine, pieces, bitBytes] = facts;
  let wordsAt = 0;
  let bitsAt = 0;
  return new Map(
    (ids ?? []).map((id, at) => {
      const [wordsFrom, bitsFrom] = [wordsAt, bitsAt];
      wordsAt += wordBytes[at] ?? 0;
      bitsAt += bitBytes[at] ?? 0;
      const said = speaker[at] ?? undefined;
      const item: MemoryEvidence = {
        id,
        session: session[at] === null ? undefined : `${butler[at]} ${session[at]}`,
        ordinal: ordinal[at] ?? 0,
        speaker: said,
        name: firstName(said),
        asks: asks[at] ?? false,
        withNamed: named[at] ?? false,
        len: len[at] ?? 0,
        words: words.subarray(wordsFrom, wordsAt),
        cosine: cosine[at] ?? undefined,
        pieces: pieces[at] ?? 0,
        tokens: bitBytes[at] === null ? undefined : bits.subarray(bitsFrom, bitsAt),
      };
      return [id, item];
    }),
  );
}
