/** What a page asks: every route that reads memories, its first page, a later one and each filter. */
import { DAY_MS } from "../../engine/domain/lifecycle/decay.ts";
import { type Pick, picker, promptText, queryText } from "../sentences.ts";
import { NOW, PROJECT, READERS, SCOPES, TAGS } from "./plan.ts";

/** The parsed answer of a request below `/api/butlers/<name>/memory/`. */
export type Ask = (path: string, body?: unknown) => Promise<Record<string, unknown>>;

export interface Question {
  readonly name: string;
  /** The requests that are measured, one after the other; made anew for each round. */
  requests(p: Pick): readonly { readonly path: string; readonly body?: unknown }[];
}

export async function questions(ask: Ask): Promise<Question[]> {
  const lists = [
    "facts",
    "facts?order=newest",
    "facts?state=all",
    "rules",
    "episodes",
    "activity",
    "runs",
    "dead-letters",
  ];
  const later = await Promise.all(lists.map(async (path) => ({ path, cursor: await deep(ask, path) })));
  const ids = await samples(ask);
  const one = (p: Pick, list: readonly string[]): string => encodeURIComponent(list[p.number(list.length)] ?? "");
  const day = (p: Pick): Date => new Date(NOW.getTime() - (1 + p.number(360)) * DAY_MS);
  const iso = (at: Date) => at.toISOString();
  const is = (name: string, path: (p: Pick) => string): Question => ({
    name,
    requests: (p) => [{ path: path(p) }],
  });
  return [
    is("counts", () => "counts"),
    is("counts of a project", () => `counts?project=${PROJECT}`),
    is("stats", () => "stats"),
    is("stats of a project", (p) => `stats?scope=${encodeURIComponent(scopeIn(p))}`),
    is("today", () => "today"),
    is("today, another day", (p) => `today?day=${iso(day(p)).slice(0, 10)}&zone_minutes=${p.number(2) * 120}`),
    is("today of a project", () => `today?project=${PROJECT}`),
    is("subjects", () => "subjects"),
    is("subjects, later", (p) => `subjects?after=${one(p, ids.subjects)}`),
    is("subjects that begin so", (p) => `subjects?q=${one(p, ids.subjects).slice(0, 3)}`),
    is("subjects of a project", () => `subjects?project=${PROJECT}`),
    ...["facts", "rules", "episodes", "activity", "runs", "dead-letters"].map((path) => is(path, () => path)),
    ...later.map(({ path, cursor }) =>
      is(`${path}, later`, () => and(path, cursor === "" ? "limit=50" : `cursor=${cursor}`)),
    ),
    is("facts, newest", () => "facts?order=newest"),
    is("facts, 200", () => "facts?limit=200"),
    ...["fading", "superseded", "expired", "retracted", "all"].map((state) =>
      is(`facts ${state}`, () => `facts?state=${state}`),
    ),
    is("facts of a scope", (p) => `facts?scope=${encodeURIComponent(scopeIn(p))}`),
    is("facts of a project", () => `facts?project=${PROJECT}`),
    is("facts with a tag", (p) => `facts?tag=${one(p, TAGS)}`),
    is("facts of a reader", (p) => `facts?reader=${one(p, READERS)}`),
    is("facts of an unknown reader", () => "facts?reader=nobody"),
    is("facts by trust", (p) => `facts?trust=${one(p, ["user", "agent", "imported"])}`),
    is("facts that no tool told", () => "facts?trust=tool"),
    is("what waits for a person", () => "review"),
    is("facts of a subject", (p) => `facts?subject=${one(p, ids.subjects)}`),
    is("facts with words", (p) => `facts?q=${encodeURIComponent(queryText(p).slice(0, 60))}`),
    is(
      "facts, all filters",
      () => `facts?state=all&project=${PROJECT}&tag=work&reader=reader-1&trust=user&order=newest`,
    ),
    is("facts as of a day", (p) => `facts?as_of=${iso(day(p))}`),
    is("facts of a subject as of a day", (p) => `facts?subject=${one(p, ids.subjects)}&as_of=${iso(day(p))}`),
    ...["candidate", "established", "proven", "anti_pattern"].map((step) =>
      is(`rules ${step}`, () => `rules?maturity=${step}`),
    ),
    is("rules of a project", () => `rules?project=${PROJECT}`),
    is("rules with a tag", (p) => `rules?tag=${one(p, TAGS)}`),
    is("rules by trust", () => "rules?trust=user"),
    is("rules of a reader", () => "rules?reader=reader-1"),
    is("rules with words", (p) => `rules?q=${encodeURIComponent(queryText(p).slice(0, 60))}`),
    ...["pending", "failed", "dead_letter"].map((status) =>
      is(`episodes ${status}`, () => `episodes?status=${status}`),
    ),
    ...["eden", "mid", "long"].map((tier) => is(`episodes in ${tier}`, () => `episodes?tier=${tier}`)),
    is("episodes of a session", (p) => `episodes?session=${one(p, ids.sessions)}`),
    is("episodes of a project", () => `episodes?project=${PROJECT}`),
    is("episodes with a tag", (p) => `episodes?tag=${one(p, TAGS)}`),
    is("episodes, forgotten", () => "episodes?state=retracted"),
    is("episodes with words", (p) => `episodes?q=${encodeURIComponent(queryText(p).slice(0, 60))}`),
    is("one fact", (p) => `memories/${one(p, ids.facts)}`),
    is("one rule", (p) => `memories/${one(p, ids.rules)}`),
    is("one episode", (p) => `memories/${one(p, ids.episodes)}`),
    is(
      "one fact as of a day",
      (p) => `memories/${one(p, ids.old)}?as_of=${iso(new Date(NOW.getTime() - p.number(30) * DAY_MS))}`,
    ),
    is("why", (p) => `memories/${one(p, ids.facts)}/why?query=${encodeURIComponent(queryText(p))}`),
    is("search", (p) => `search?q=${encodeURIComponent(queryText(p))}`),
    is("search, words only", (p) => `search?q=${encodeURIComponent(queryText(p))}&mode=keyword`),
    is("search for facts", (p) => `search?q=${encodeURIComponent(queryText(p))}&type=fact`),
    is("search with a tag", (p) => `search?q=${encodeURIComponent(queryText(p))}&tag=${one(p, TAGS)}`),
    ...["fact", "rule", "episode", "consolidation", "read"].map((type) =>
      is(`activity of ${type}s`, () => `activity?type=${type}&everything=true`),
    ),
    is(
      "activity, one kind of event",
      (p) => `activity?event=${one(p, ["fact.superseded", "rule.marked_harmful", "fact.forgotten"])}`,
    ),
    is("activity, a rare event", () => "activity?event=rule.inverted"),
    is("activity of an actor", (p) => `activity?actor=${one(p, ["token:root", "token:agent", "job:decay_sweep"])}`),
    is("activity of nobody", () => "activity?actor=token:nobody"),
    is("activity of a session", (p) => `activity?session=${one(p, ids.sessions)}&everything=true`),
    is("activity of a project", () => `activity?project=${PROJECT}`),
    is("activity of a day", (p) => between(day(p), 1)),
    is("activity of a month", (p) => between(day(p), 30)),
    is("activity, everything", () => "activity?everything=true"),
    is("runs that failed", () => "runs?state=failed"),
    is("one run", (p) => `runs/${one(p, ids.runs)}`),
    is("changes of a day", (p) => changes(day(p), 1)),
    is("changes of a year", () => changes(new Date(NOW.getTime() - 365 * DAY_MS), 365)),
    is("sessions", () => "sessions"),
    is("one session", (p) => `sessions/${one(p, ids.logged)}`),
    is("scopes", () => "scopes"),
    { name: "preview", requests: (p) => [{ path: "preview", body: { prompt: promptText(p) } }] },
    is("search as of a day", (p) => `search?q=${encodeURIComponent(queryText(p))}&as_of=${iso(day(p))}`),
    {
      name: "preview as of a day",
      requests: (p) => [{ path: "preview", body: { prompt: promptText(p), as_of: iso(day(p)) } }],
    },
  ];
}

const and = (path: string, more: string) => `${path}${path.includes("?") ? "&" : "?"}${more}`;
const scopeIn = (p: Pick): string => SCOPES[p.number(SCOPES.length)] ?? "global";
const between = (from: Date, days: number) =>
  `activity?from=${from.toISOString()}&to=${new Date(from.getTime() + days * DAY_MS).toISOString()}`;
const changes = (from: Date, days: number) =>
  `changes?from=${from.toISOString()}&to=${new Date(Math.min(NOW.getTime(), from.getTime() + days * DAY_MS)).toISOString()}`;

/** A cursor some pages down the list. */
async function deep(ask: Ask, path: string): Promise<string> {
  let cursor = "";
  for (let page = 0; page < 5; page++) {
    const { next_cursor } = await ask(and(path, `limit=200${cursor === "" ? "" : `&cursor=${cursor}`}`));
    if (typeof next_cursor !== "string") break;
    cursor = next_cursor;
  }
  return cursor;
}

async function samples(ask: Ask) {
  const p = picker(7);
  const listed = async (path: string, list: string, field = "id"): Promise<string[]> => {
    const { [list]: rows } = await ask(path);
    return (rows as Record<string, unknown>[]).flatMap((row) => (typeof row[field] === "string" ? [row[field]] : []));
  };
  const sessions = (await listed("episodes?limit=200", "episodes", "session_id")).map(String);
  return {
    facts: await listed(`facts?state=all&limit=200`, "facts"),
    old: await listed(`facts?state=superseded&limit=200`, "facts"),
    rules: await listed("rules?limit=200", "rules"),
    episodes: await listed("episodes?limit=200", "episodes"),
    runs: await listed("runs?limit=100", "runs"),
    subjects: (await listed("subjects?limit=200", "subjects", "subject")).filter(() => p.chance(0.5)),
    sessions: [...new Set([...sessions, "bench-100", "bench-700", "bench-1500"])],
    logged: await listed("sessions?limit=100", "sessions"),
  };
}
