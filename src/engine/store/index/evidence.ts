/**
 * What late interaction reads: for every candidate and the turns around it the words, the token bits, the cosine. It is part of
 * the statement that gathers candidates, so that a search stays at two trips.
 */

import type { MemoryEvidence } from "../../domain/ranking/late-interaction.ts";
import { firstName } from "../../domain/text/names.ts";
import { isFiled, isLiveEpisode } from "../memories/live.ts";

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
export function aroundSql(s: Surroundings, param: (value: unknown) => string): string {
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
      select id, keyword, distance from met
      union all select t.id, null, null from turns t where t.candidate and not exists (select 1 from met m where m.id = t.id)),
    beside as (
      select id, session_id, butler, ordinal, speaker, asks from turns
      union all select m.id, null, null, null, null, null from met m where not exists (select 1 from turns t where t.id = m.id))`;
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

/** One row: facts about each memory as JSON, their words and their bits glued in the same order. */
export const evidenceSql = (arm: { version: number; as: string; query: string } | undefined): string =>
  `select json_agg(json_build_array(b.id, b.session_id, b.butler, b.ordinal, b.speaker, b.asks,
       (b.session_id, b.butler) in (select session_id, butler from named),
       d.len, octet_length(d.x), ${arm === undefined ? "null" : `1 - ((v.embedding::${arm.as}) <=> ${arm.query})`},
       v.word_pieces, octet_length(v.tokens)))::text as facts,
     string_agg(d.x, ''::bytea) as words, string_agg(v.tokens, ''::bytea) as bits
   from beside b
   left join lex_doc d on d.memory_id = b.id and ${isFiled("d")}
   left join embeddings v on v.memory_id = b.id and v.version_id = ${arm?.version ?? -1}`;

export interface EvidenceRow {
  readonly facts: string | null;
  readonly words: Uint8Array | null;
  readonly bits: Uint8Array | null;
}

type Facts = [
  id: string,
  session: string | null,
  butler: string | null,
  ordinal: number | null,
  speaker: string | null,
  asks: boolean | null,
  named: boolean | null,
  len: number | null,
  wordBytes: number | null,
  cosine: number | null,
  pieces: number | null,
  bitBytes: number | null,
];

export function evidenceOf(row: EvidenceRow): Map<string, MemoryEvidence> {
  const words = row.words ?? new Uint8Array(0);
  const bits = row.bits ?? new Uint8Array(0);
  let wordsAt = 0;
  let bitsAt = 0;
  return new Map(
    (JSON.parse(row.facts ?? "[]") as Facts[]).map((facts) => {
      const [id, session, butler, ordinal, speaker, asks, named, len, wordBytes, cosine, pieces, bitBytes] = facts;
      const wordsTo = wordsAt + (wordBytes ?? 0);
      const bitsTo = bitsAt + (bitBytes ?? 0);
      const item: MemoryEvidence = {
        id,
        session: session === null ? undefined : `${butler} ${session}`,
        ordinal: ordinal ?? 0,
        speaker: speaker ?? undefined,
        name: firstName(speaker),
        asks: asks ?? false,
        withNamed: named ?? false,
        len: len ?? 0,
        words: words.subarray(wordsAt, wordsTo),
        cosine: cosine ?? undefined,
        pieces: pieces ?? 0,
        tokens: bitBytes === null ? undefined : bits.subarray(bitsAt, bitsTo),
      };
      wordsAt = wordsTo;
      bitsAt = bitsTo;
      return [id, item];
    }),
  );
}
