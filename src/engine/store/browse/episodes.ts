/** Episodes for people, the newest first, and what each taught. */
import type { Sql } from "../../adapters/db/port.ts";
import type { Consolidation, Episode } from "../../domain/episode.ts";
import type { Tier } from "../../domain/lifecycle/tiers.ts";
import { factText, isInTime, isKept } from "../memories/live.ts";
import { conditions } from "./conditions.ts";

export interface EpisodePage {
  readonly tenant: string;
  readonly scopes: readonly string[] | undefined;
  readonly now: Date;
  readonly state: "active" | "retracted";
  readonly session: string | undefined;
  readonly tier: Tier | undefined;
  readonly status: Consolidation | undefined;
  readonly tag: string | undefined;
  readonly ids: readonly string[] | undefined;
  /** Only episodes that were stored by then. */
  readonly until?: Date | undefined;
  /** The id of the last episode of the page before. */
  readonly after: string | undefined;
  readonly limit: number;
}

export interface ListedEpisode
  extends Omit<Episode, "tenant_id" | "source_butler" | "source_episode_id" | "metadata" | "prior_referenced_at"> {
  /** Its length in characters; `content` is its beginning. */
  readonly length: number;
}

/** In characters: of a longer episode one reads the beginning in a list, and the rest on its own page. */
const SHOWN = 1_200;

const COLUMNS = `id, butler, session_id, ordinal, speaker, left(content, ${SHOWN}) as content, length(content) as length, summary,
  tier, promoted_at, consolidation_status, consolidation_attempts, last_consolidation_error, next_consolidation_retry_at,
  validity, forgotten_at, forget_reason, occurred_at, expires_at, source, request_id, created_at, reference_count,
  last_referenced_at, importance, tags, trust`;

export function listEpisodes(sql: Sql, page: EpisodePage): Promise<ListedEpisode[]> {
  const where = conditions();
  where.add([page.tenant], (tenant) => `tenant_id = ${tenant}`);
  where.given(page.scopes, (scopes) => `butler = any(${scopes}::text[])`);
  where.given(page.session, (session) => `session_id = ${session}`);
  where.given(page.tier, (tier) => `tier = ${tier}`);
  if (page.status !== undefined) where.add([], () => `consolidation_status = '${page.status}'`);
  where.given(page.tag, (tag) => `tags @> array[${tag}::text]`);
  where.given(page.ids, (ids) => `id = any(${ids}::uuid[])`);
  where.add([], () => (page.state === "active" ? isKept() : "validity = 'retracted'"));
  // What waits or failed is shown although no read finds it any more: it can still be learned from.
  where.add([page.now], (now) => `(${isInTime("", `${now}::timestamptz`)} or consolidation_status <> 'consolidated')`);
  where.given(page.until, (until) => `created_at <= ${until}::timestamptz`);
  where.given(page.after, (id) => `id < ${id}::uuid`);
  const size = where.place(page.limit);
  return sql.query<ListedEpisode>(
    `select ${COLUMNS} from episodes where ${where.sql()} order by id desc limit ${size}`,
    where.params,
  );
}

export interface Taught {
  readonly episode: string;
  readonly type: "fact" | "rule";
  readonly id: string;
  readonly text: string | null;
  readonly state: string;
  /** `supports`: it was known, and the episode says the same. */
  readonly relation: "derived_from" | "supports";
}

const TEXT = 300;

/** What these episodes taught or confirmed, within the scopes. */
export function taughtBy(
  sql: Sql,
  { tenant, scopes }: Pick<EpisodePage, "tenant" | "scopes">,
  episodes: readonly string[],
): Promise<Taught[]> {
  return sql.query<Taught>(
    `with l as materialized (
       select target_id as episode, source_id as id, relation from memory_links
         where tenant_id = $1 and target_id = any($2::uuid[]) and relation = 'derived_from'
       union all select source_id, target_id, relation from memory_links
         where tenant_id = $1 and source_id = any($2::uuid[]) and relation = 'supports')
     select l.episode, 'fact' as type, m.id, m.validity as state, l.relation,
       case when m.validity = 'retracted' then null else left(${factText("m")}, ${TEXT}) end as text
       from l join facts m on m.id = l.id where $3::text[] is null or m.scope = any($3::text[])
     union all select l.episode, 'rule', m.id, m.validity, l.relation,
       case when m.validity = 'retracted' then null else left(m.content, ${TEXT}) end
       from l join rules m on m.id = l.id where $3::text[] is null or m.scope = any($3::text[])
     order by episode, id`,
    [tenant, episodes, scopes ?? null],
  );
}
