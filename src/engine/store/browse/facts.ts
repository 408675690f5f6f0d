/** Facts for people, page by page, and their subjects. */
import type { Sql } from "../../adapters/db/port.ts";
import type { Fact } from "../../domain/fact.ts";
import { isLive } from "../memories/live.ts";
import { type Conditions, conditions, foundBy } from "./conditions.ts";

/** `live`: active or fading. */
export type FactState = Fact["validity"] | "live" | "all";

export interface FactPage {
  readonly tenant: string;
  readonly scopes: readonly string[] | undefined;
  readonly state: FactState;
  readonly tag: string | undefined;
  readonly reader: string | undefined;
  readonly trust: string | undefined;
  /** Normalised. */
  readonly subject: string | undefined;
  readonly ids: readonly string[] | undefined;
  /** Stored until then. */
  readonly until: Date | undefined;
  readonly order: "subject" | "newest";
  /** Subject, predicate and id of the last fact of the page before; of the newest its id alone. */
  readonly after: readonly string[] | undefined;
  readonly limit: number;
}

export interface ListedFact extends Omit<Fact, "tenant_id" | "source_butler" | "source_episode_id" | "request_id"> {
  /** Episodes that it was learned from or that say the same. */
  readonly sources: number;
  /** Facts that it took the place of, one after the other. */
  readonly replaced: number;
  readonly contradicted: boolean;
}

const COLUMNS = `id, subject, predicate, subject_text, predicate_text, content, scope, validity, permanence, supersedes_id,
  superseded_at, valid_from, valid_to, waits_until, forgotten_at, forget_reason, confidence, decay_rate, last_confirmed_at,
  source, created_at, reference_count, last_referenced_at, prior_referenced_at, importance, tags, metadata, trust,
  corroborated_at, review_until`;

const BY = { subject: `subject collate "C", predicate collate "C", id`, newest: "id desc" };

const CHAIN = 100;

/** Where a fact stands in a list. */
export type FactPlace = Pick<Fact, "id" | "subject" | "predicate">;

export function listFactPlaces(sql: Sql, page: FactPage): Promise<FactPlace[]> {
  const where = wanted(page);
  return sql.query<FactPlace>(
    `select id, subject, predicate from facts where ${where.sql()} order by ${BY[page.order]} limit ${where.place(page.limit)}`,
    where.params,
  );
}

function wanted(page: FactPage): Conditions {
  const where = conditions();
  where.add([page.tenant], (tenant) => `tenant_id = ${tenant}`);
  where.given(page.scopes, (scopes) => `scope = any(${scopes}::text[])`);
  where.given(page.tag, (tag) => `tags @> array[${tag}::text]`);
  where.given(page.trust, (trust) => `trust = ${trust}`);
  where.given(page.reader, (by) => foundBy(by));
  where.given(page.subject, (subject) => `subject collate "C" = ${subject}`);
  where.given(page.ids, (ids) => `id = any(${ids}::uuid[])`);
  where.given(page.until, (until) => `created_at <= ${until}::timestamptz`);
  // A state is written out, so that the planner knows which index holds it.
  if (page.state !== "all") where.add([], () => (page.state === "live" ? isLive() : `validity = '${page.state}'`));
  if (page.after !== undefined)
    where.add(page.after, (...place) =>
      page.order === "newest"
        ? `id < ${place[0]}::uuid`
        : `(subject collate "C", predicate collate "C", id) > (${place[0]}, ${place[1]}, ${place[2]}::uuid)`,
    );
  return where;
}

export function listFacts(sql: Sql, page: FactPage): Promise<ListedFact[]> {
  const where = wanted(page);
  const size = where.place(page.limit);
  const scopes = where.place(page.scopes ?? null);
  return sql.query<ListedFact>(
    `with page as materialized (
       select ${COLUMNS} from facts where ${where.sql()} order by ${BY[page.order]} limit ${size})
     select page.*,
       (select count(*)::int4 from (
          select target_id from memory_links where source_id = page.id and relation = 'derived_from'
          union select source_id from memory_links where target_id = page.id and relation = 'supports') s) as sources,
       (with recursive chain (id, n) as (
          select page.supersedes_id, 1 where page.supersedes_id is not null
          union all select f.supersedes_id, chain.n + 1 from chain join facts f on f.id = chain.id
            where f.supersedes_id is not null and chain.n < ${CHAIN})
        select count(*)::int4 from chain) as replaced,
       exists (select from memory_links l join facts o on o.id = l.source_id and o.tenant_id = $1 and ${isLive("o")}
          and (${scopes}::text[] is null or o.scope = any(${scopes}::text[]))
          where l.target_id = page.id and l.relation = 'contradicts') as contradicted
     from page order by ${BY[page.order]}`,
    where.params,
  );
}

export interface SubjectPage {
  readonly tenant: string;
  readonly scopes: readonly string[] | undefined;
  /** Normalised. */
  readonly prefix: string | undefined;
  /** The normalised subject that the page before ended with. */
  readonly after: string | undefined;
  readonly limit: number;
}

export interface ListedSubject {
  readonly subject: string;
  readonly facts: number;
  readonly fading: number;
  /** As it was said. */
  readonly name: string;
}

/** Live facts by subject. Stops at the limit: the index has them in this order. */
export function listSubjects(sql: Sql, page: SubjectPage): Promise<ListedSubject[]> {
  const where = conditions();
  where.add([page.tenant], (tenant) => `tenant_id = ${tenant}`);
  where.given(page.scopes, (scopes) => `scope = any(${scopes}::text[])`);
  where.given(page.after, (after) => `subject collate "C" > ${after}`);
  // A range instead of a pattern, because a pattern in a parameter cannot use the index.
  where.given(page.prefix, (prefix) => `subject collate "C" >= ${prefix}`);
  where.given(page.prefix, (prefix) => `subject collate "C" < ${prefix} || chr(1114111)`);
  where.add([], () => isLive());
  const size = where.place(page.limit);
  const scopes = where.place(page.scopes ?? null);
  return sql.query<ListedSubject>(
    `with page as materialized (
       select subject collate "C" as subject, count(*)::int4 as facts,
         (count(*) filter (where validity = 'fading'))::int4 as fading
       from facts where ${where.sql()} group by subject collate "C" order by subject collate "C" limit ${size})
     select page.*, (select f.subject_text from facts f where f.tenant_id = $1 and f.subject collate "C" = page.subject
        and (${scopes}::text[] is null or f.scope = any(${scopes}::text[])) and ${isLive("f")} limit 1) as name
     from page order by page.subject`,
    where.params,
  );
}
