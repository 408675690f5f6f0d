/** Facts and rules that wait for a person: those of untrusted sources, and those that somebody has contradicted. */
import type { Sql } from "../../adapters/db/port.ts";
import type { Trust } from "../../domain/learning/trust.ts";
import { factText, isLive, isLiveEpisode } from "../memories/live.ts";

export interface ReviewPage {
  readonly tenant: string;
  /** Undefined: every scope of the tenant. */
  readonly scopes: readonly string[] | undefined;
  readonly now: Date;
  /** Until when the last one of the page before waits, and its id. */
  readonly after: readonly string[] | undefined;
  readonly limit: number;
}

export interface Claimed {
  readonly type: "fact" | "rule" | "episode";
  readonly id: string;
  readonly trust: Trust;
  readonly text: string;
}

export interface Waiting {
  readonly type: "fact" | "rule";
  readonly id: string;
  readonly scope: string;
  readonly state: "active" | "fading";
  readonly text: string;
  readonly trust: Trust;
  readonly corroborated_at: Date | null;
  readonly review_until: Date;
  readonly created_at: Date;
  readonly claims: readonly Claimed[];
  /** The event that put it on the list: undoing it takes back what it said. */
  readonly event_id: string | null;
}

const CLAIMS = 5;
const LONGEST = 300;

const waits = (now: string) =>
  `m.tenant_id = $1 and ($2::text[] is null or m.scope = any($2::text[])) and ${isLive("m")} and m.review_until > ${now}`;

const COMMON = "m.id, m.scope, m.validity as state, m.trust, m.corroborated_at, m.review_until, m.created_at";

/** Those that leave the list first come first. What somebody else said is shown where the reader may see it. */
export function listWaiting(sql: Sql, page: ReviewPage): Promise<Waiting[]> {
  const seen = (alias: string, column: string) => `($2::text[] is null or ${alias}.${column} = any($2::text[]))`;
  return sql.query<Waiting>(
    `with page as materialized (
       select * from (
         select 'fact' as type, ${factText("m")} as text, ${COMMON} from facts m where ${waits("$3::timestamptz")}
         union all
         select 'rule', m.content, ${COMMON} from rules m where ${waits("$3::timestamptz")}) as m
       where $4::timestamptz is null or (review_until, id) > ($4::timestamptz, $5::uuid)
       order by review_until, id limit $6)
     select page.*,
       (select v.id from memory_events v where v.tenant_id = $1 and v.entity_id = page.id
          and v.event_type in (page.type || '.stored', page.type || '.contradicted') order by v.seq desc limit 1) as event_id,
       (select coalesce(jsonb_agg(to_jsonb(c) order by c.at desc, c.id), '[]') from (
          select l.source_type as type, l.source_id as id, l.created_at as at, s.trust, left(s.text, ${LONGEST}) as text
          from memory_links l, lateral (
            select f.trust, f.content as text from facts f where l.source_type = 'fact' and f.id = l.source_id and ${seen("f", "scope")}
            union all
            select r.trust, r.content from rules r where l.source_type = 'rule' and r.id = l.source_id and ${seen("r", "scope")}
            union all
            select e.trust, coalesce((select v.payload ->> 'claim' from memory_events v where v.tenant_id = $1
                and v.entity_id = page.id and v.event_type = 'fact.contradicted'
                and v.payload -> 'links' @> jsonb_build_array(jsonb_build_object('source_id', e.id)) limit 1), e.summary, e.content)
              from episodes e where l.source_type = 'episode' and e.id = l.source_id and ${isLiveEpisode("e", "$3")}
                and ${seen("e", "butler")}) as s
          where l.tenant_id = $1 and l.target_id = page.id and l.relation = 'contradicts'
          order by l.created_at desc, l.source_id limit ${CLAIMS}) as c) as claims
     from page order by review_until, id`,
    [page.tenant, page.scopes ?? null, page.now, page.after?.[0] ?? null, page.after?.[1] ?? null, page.limit],
  );
}

export async function countReviews(
  sql: Sql,
  { tenant, scopes, now }: Pick<ReviewPage, "tenant" | "scopes" | "now">,
): Promise<number> {
  const [row] = await sql.query<{ n: number }>(
    `select ((select count(*) from facts m where ${waits("$3::timestamptz")})
       + (select count(*) from rules m where ${waits("$3::timestamptz")}))::int4 as n`,
    [tenant, scopes ?? null, now],
  );
  return row?.n ?? 0;
}
