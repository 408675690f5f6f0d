/** What a session may start with, without a prompt: the facts that hold, the rules, and the episodes of late, in one statement. */

import type { Sql } from "../../adapters/db/port.ts";
import type { Episode } from "../../domain/episode.ts";
import type { Fact } from "../../domain/fact.ts";
import type { Fading } from "../../domain/lifecycle/decay.ts";
import type { Look } from "../../domain/present.ts";
import type { Rule } from "../../domain/rule.ts";
import { isLasting, isLetIn, isLive, isLiveEpisode, isTrusted, stillHolds } from "./live.ts";
import { isOutdated } from "./origins.ts";
import { isValueSql } from "./present.ts";

export type OpeningFact = Fading &
  Pick<Fact, "id" | "subject_text" | "predicate_text" | "content" | "permanence" | "importance" | "created_at"> &
  Pick<Fact, "trust" | "scope">;

export type OpeningRule = Fading &
  Pick<Rule, "id" | "content" | "maturity" | "importance" | "created_at" | "trust" | "scope">;

export interface OpeningEpisode
  extends Pick<Episode, "id" | "content" | "speaker" | "session_id" | "importance" | "tags" | "trust">,
    Pick<Episode, "ordinal" | "occurred_at" | "created_at"> {}

export interface OpeningRows {
  readonly facts: readonly OpeningFact[];
  readonly rules: readonly OpeningRule[];
  readonly episodes: readonly OpeningEpisode[];
}

export interface OpeningQuery extends Look {
  readonly tenant: string;
  readonly exceptSession: string | undefined;
}

const FACTS = 120;
const RULES = 80;
const EPISODES = 60;
/** Of one session so many episodes at most, the weightiest first: a long session would take the places of all others. */
const OF_A_SESSION = 12;
/**
 * Episodes of each scope and tier that are looked at, the last ones stored. An index has them in that order; their own time, by which the
 * latest are chosen, differs where old transcripts were imported.
 */
const LOOKED_AT = 400;
/** An exchange holds 4,000 characters at most; of a longer text the rest is not shown. */
const CONTENT = 6_000;

const at = (column: string): string => `extract(epoch from ${column}) * 1000 as ${column.split(".").at(-1)}`;

export async function readOpening(sql: Sql, query: OpeningQuery): Promise<OpeningRows> {
  const params: unknown[] = [query.tenant, query.ladder ?? [], query.now, query.exceptSession ?? null];
  const isValue = isValueSql("m", query, (value) => `$${params.push(value)}`);
  // The foremost are chosen first, and asked one by one whether another fact of their key stands before them.
  const facts = `select m.id, m.subject_text, m.predicate_text, m.content, m.permanence, m.importance, m.trust, m.scope,
      m.confidence, m.decay_rate, ${at("m.last_confirmed_at")}, ${at("m.created_at")}
    from (select id, row_number() over (order by (${isLasting()}) desc, importance desc, created_at desc, id) as place
        from facts
        where tenant_id = $1 and scope = any($2::text[]) and ${isLive()} and ${isLetIn()} and ${stillHolds("", "$3")}
        order by place limit ${2 * FACTS}) c,
      lateral (select m.* from facts m where m.id = c.id and ${isValue} offset 0) m
    order by c.place limit ${FACTS}`;
  const rules = `select id, content, maturity, importance, trust, scope, confidence, decay_rate,
      ${at("last_confirmed_at")}, ${at("created_at")}
    from rules r
    where tenant_id = $1 and scope = any($2::text[]) and ${isLive()} and ${isLetIn()}
    order by maturity = 'candidate', r.created_at desc, id limit ${RULES}`;
  const lately = `select id, occurred_at, created_at, session_id, row_number() over (
      partition by session_id order by importance desc, occurred_at desc, id desc) as nth
    from unnest($2::text[]) s(scope), unnest('{eden,mid,long}'::text[]) t(tier),
      lateral (select id, session_id, importance, occurred_at, created_at from episodes
        where tenant_id = $1 and butler = s.scope and tier = t.tier and ${isLiveEpisode("", "$3")} and ${isTrusted()}
          and session_id is distinct from $4
        order by created_at desc, id desc limit ${LOOKED_AT}) e`;
  // Chosen before their texts are read, one by one: a join over all episodes took six times as long at 8,000 of them.
  const episodes = `select e.* from (
      select id, row_number() over (order by occurred_at desc, created_at desc, id desc) as place from (${lately}) l
      where session_id is null or nth <= ${OF_A_SESSION}
      order by place limit ${EPISODES}) c,
    lateral (select e.id, left(coalesce(e.summary, e.content), ${CONTENT}) as content, e.speaker, e.session_id,
        e.ordinal, e.importance, e.tags, e.trust, ${at("occurred_at")}, ${at("created_at")}
      from episodes e where e.id = c.id and not ${isOutdated("e")} offset 0) e
    order by c.place`;
  const [row] = await sql.query<Record<"facts" | "rules" | "episodes", string | null>>(
    `select (select json_agg(x) from (${facts}) x)::text as facts, (select json_agg(x) from (${rules}) x)::text as rules,
       (select json_agg(x) from (${episodes}) x)::text as episodes`,
    params,
  );
  return {
    facts: rowsOf<OpeningFact>(row?.facts),
    rules: rowsOf<OpeningRule>(row?.rules),
    episodes: rowsOf<OpeningEpisode>(row?.episodes),
  };
}

/** Times are sent as milliseconds. */
const rowsOf = <T>(json: string | null | undefined): T[] =>
  (JSON.parse(json ?? "[]") as Record<string, unknown>[]).map(
    (row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [name, name.endsWith("_at") ? new Date(Number(value)) : value]),
      ) as T,
  );
