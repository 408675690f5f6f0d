/** One memory in the two indexes, for a question that was asked. */
import type { Sql } from "../../adapters/db/port.ts";
import { isFiled, isLive, isLiveEpisode, isVisible } from "../memories/live.ts";
import { vectorLiteral } from "../memories/rows.ts";
import type { Filters, VectorArm } from "./search.ts";

export interface LexicalEntry {
  readonly sk: number;
  /** Null until its words are folded. */
  readonly slot: number | null;
  /** Its forward row. */
  readonly words: Uint8Array;
}

export async function lexicalEntryOf(sql: Sql, id: string): Promise<LexicalEntry | undefined> {
  const [row] = await sql.query<LexicalEntry>(
    `select sk, slot, x as words from lex_doc where memory_id = $1 and ${isFiled()}`,
    [id],
  );
  return row;
}

export interface VectorRank {
  readonly distance: number;
  /** False when the index holds it as faded or deleted. */
  readonly seen: boolean;
  /** How many of the vectors that the search may return are nearer, by exact comparison, whatever index there is. */
  readonly nearer: number;
  readonly of: number;
  /** Both numbers were counted in a sample and multiplied. */
  readonly estimated: boolean;
}

/** Comparing with 150,000 vectors took half a second: beyond this many a sample is compared with, the same one every time. */
const COMPARED = 20_000;

/** Undefined when it has no vector of the version compared with. The conditions are those of the vector arm in search.ts. */
export async function vectorRankOf(
  sql: Sql,
  id: string,
  arm: VectorArm,
  sks: readonly number[],
  filters: Filters,
): Promise<VectorRank | undefined> {
  const [{ held } = { held: 0 }] = await sql.query<{ held: number }>(
    `select greatest(reltuples, 0)::float8 as held from pg_class where oid = 'embeddings'::regclass`,
  );
  const share = Math.min(1, COMPARED / 4 / Math.max(1, held));
  const estimated = held > COMPARED;
  const params: unknown[] = [id, vectorLiteral(arm.query), sks];
  const param = (value: unknown) => `$${params.push(value)}`;
  const columns = `select e.memory_id, (e.embedding::${arm.as}) <=> $2::${arm.as} as distance,
         ${seenSql(arm, filters, param)} as seen`;
  const sample = estimated ? ` tablesample system (${share * 100}) repeatable (1)` : "";
  const [row] = await sql.query<Omit<VectorRank, "estimated">>(
    `with own as materialized (${columns} from embeddings e
       where e.version_id = ${arm.version} and e.memory_id = $1 and e.sk = any($3::int4[])),
     shelf as materialized (${columns} from embeddings e${sample}
       where e.version_id = ${arm.version} and e.sk = any($3::int4[]))
     select own.distance, own.seen,
       (select count(*) from shelf s where s.seen and s.distance < own.distance)::int4 as nearer,
       (select count(*) from shelf s where s.seen)::int4 as "of"
     from own`,
    params,
  );
  if (row === undefined || !estimated) return row && { ...row, estimated };
  return { ...row, nearer: Math.round(row.nearer / share), of: Math.round(row.of / share), estimated };
}

function seenSql({ faded }: VectorArm, { now, tags, tier }: Filters, param: (value: unknown) => string): string {
  const at = param(now);
  const live = {
    episodes: isLiveEpisode("m", at),
    facts: isLive("m"),
    rules: isLive("m"),
  };
  const tagged = tags === undefined ? "" : ` and m.tags @> ${param(tags)}::text[]`;
  const tiered =
    tier === undefined ? { episodes: "" } : { episodes: ` and m.tier = ${param(tier)}`, others: " and false" };
  const row = (table: keyof typeof live, more = "") =>
    `select 1 from ${table} m where m.id = e.memory_id${faded ? ` and ${live[table]}` : ""}${tagged}${more}`;
  const rows = [row("episodes", tiered.episodes), row("facts", tiered.others), row("rules", tiered.others)];
  const anyRow = faded || tags !== undefined || tier !== undefined;
  return [...(faded ? [] : [isVisible("e", at)]), ...(anyRow ? [`exists (${rows.join(" union all ")})`] : [])].join(
    " and ",
  );
}
