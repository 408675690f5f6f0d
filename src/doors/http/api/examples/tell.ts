/**
 * Fills an empty memory with the story, through the butler's own tools. Every call has a key: telling it again changes nothing, and one that
 * was cut off is told to its end.
 */
import { EXCHANGE_FORMAT } from "../../../../engine/domain/learning/exchange.ts";
import { DAY_MS } from "../../../../engine/domain/lifecycle/decay.ts";
import { EVERY_SCOPE } from "../../../../engine/domain/scope.ts";
import type { Asked } from "../define.ts";
import { call, examplesIn, Refused, TAG } from "./memories.ts";
import { PROJECTS, type Project, SESSIONS, type Session } from "./story.ts";
import { FACTS, LESSONS, PROMPTS, RULES, type ToldFact, type ToldRule } from "./told.ts";

interface Telling {
  readonly asked: Asked;
  /** Of the day on which it is told. */
  readonly today: number;
  /** The beginning of every key. */
  readonly key: string;
}

const BETWEEN_MS = 10 * 60_000;
const FIRST = Math.max(...SESSIONS.map(({ daysAgo }) => daysAgo));

export async function tellExamples(asked: Asked) {
  const before = await examplesIn(asked);
  await refuseOthers(asked, before.all.filter(isLive).length);
  const telling = await begin(asked, before.began);
  const episodes = await tellSessions(telling);
  for (const [nth, fact] of FACTS.entries()) await tellFact(telling, fact, nth, episodes);
  for (const [nth, rule] of RULES.entries()) await tellRule(telling, rule, nth, episodes);
  const note = await learn(telling);
  if (before.began === undefined) await recall(telling);
  const live = (await examplesIn(asked)).all.filter(isLive);
  const count = (type: string) => live.filter((one) => one.type === type).length;
  return {
    tag: TAG,
    projects: Object.values(PROJECTS),
    episodes: count("episode"),
    facts: count("fact"),
    rules: count("rule"),
    ...(note === undefined ? {} : { note }),
  };
}

const isLive = ({ state }: { readonly state: string }) => state === "active" || state === "fading";

async function refuseOthers(asked: Asked, examples: number): Promise<void> {
  // Not the view, whose numbers may be some seconds old.
  const { episodes, facts, rules } = await call(asked, "memory_stats", { scope: EVERY_SCOPE });
  if (episodes.total + facts.total + facts.waiting + rules.total <= examples) return;
  const message = "This memory is not empty: examples are for a memory that knows nothing yet.";
  throw new Refused({ code: "conflict", message });
}

/** A story that was begun goes on from its own first day; one that was taken away and is told anew has keys of its own. */
async function begin(asked: Asked, began: string | undefined): Promise<Telling> {
  const { day } = await call(asked, "view_today", {});
  const today = began === undefined ? Date.parse(day) : Date.parse(began) + FIRST * DAY_MS;
  const gone = await call(asked, "view_episodes", { tag: TAG, state: "retracted", limit: 1 });
  const last = gone.episodes[0]?.id ?? "first";
  return { asked, today, key: `example:${last}:${new Date(today).toISOString().slice(0, 10)}` };
}

const iso = ({ today }: Telling, daysAgo: number, ms = 0): string =>
  new Date(today - daysAgo * DAY_MS + ms).toISOString();

const timeOf = (at: string): number => Date.parse(`1970-01-01T${at}:00Z`);

/** The first episode of each session. */
async function tellSessions(telling: Telling): Promise<ReadonlyMap<string, string>> {
  const first = new Map<string, string>();
  for (const project of Object.keys(PROJECTS) as Project[]) {
    const sessions = SESSIONS.filter((session) => session.project === project);
    const rows = sessions.flatMap((session) => session.exchanges.map((_, nth) => ({ session, nth })));
    const episodes = rows.map(({ session, nth }) => episodeOf(telling, session, nth));
    const { results } = await call(telling.asked, "memory_ingest_batch", { episodes }, { project: PROJECTS[project] });
    for (const [at, { session, nth }] of rows.entries()) {
      const { ok, id, error } = results[at];
      if (!ok) throw new Refused(error);
      if (nth === 0) first.set(session.id, id);
    }
  }
  return first;
}

function episodeOf(telling: Telling, session: Session, nth: number) {
  const { id, daysAgo, at, tags, exchanges } = session;
  return {
    content: exchanges[nth],
    session_id: id,
    importance: tags.some((tag) => tag === "correction" || tag === "decision") ? 7 : 5,
    tags: [TAG, ...tags],
    occurred_at: iso(telling, daysAgo, timeOf(at) + nth * BETWEEN_MS),
    metadata: { format: EXCHANGE_FORMAT, agent: "claude-code", project: PROJECTS[session.project] },
    idempotency_key: `${telling.key}:${id}:${nth}`,
  };
}

async function tellFact(telling: Telling, fact: ToldFact, nth: number, episodes: ReadonlyMap<string, string>) {
  const { asked, key } = telling;
  const { project, from, fromDaysAgo, toDaysAgo, by, later, ...told } = fact;
  const how = { project: PROJECTS[project] };
  const { id } = await call(
    asked,
    "memory_store_fact",
    {
      ...told,
      tags: [TAG, ...(told.tags ?? [])],
      ...(from === undefined ? {} : { source_episode_id: episodes.get(from) }),
      ...(fromDaysAgo === undefined ? {} : { valid_from: iso(telling, fromDaysAgo) }),
      ...(toDaysAgo === undefined ? {} : { valid_to: iso(telling, toDaysAgo) }),
    },
    { ...how, key: `${key}:fact:${nth}`, ...(by === undefined ? {} : { voice: by }) },
  );
  const after = { ...how, key: `${key}:later:${nth}` };
  if (later === "confirmed") await call(asked, "memory_confirm", { id }, after);
  if (later === "forgotten") await call(asked, "memory_forget", { id, reason: "It has a tax class by now." }, after);
}

async function tellRule(telling: Telling, rule: ToldRule, nth: number, episodes: ReadonlyMap<string, string>) {
  const { asked, key } = telling;
  const { project, content, tags = [], from, helpful, harmful, note, reason } = rule;
  const how = { project: PROJECTS[project] };
  const source = from === undefined ? {} : { source_episode_id: episodes.get(from) };
  const told = { content, tags: [TAG, ...tags], ...source };
  const { id } = await call(asked, "memory_store_rule", told, { ...how, key: `${key}:rule:${nth}` });
  const mark = (outcome: "helpful" | "harmful", at: number, words: object) =>
    call(
      asked,
      `memory_mark_${outcome}`,
      { rule_id: id, session_id: `example-${outcome}-${nth}-${at}`, ...words },
      { ...how, key: `${key}:rule:${nth}:${outcome}:${at}` },
    );
  for (let at = 0; at < helpful; at++) await mark("helpful", at, at === 0 && note !== undefined ? { note } : {});
  for (let at = 0; at < harmful; at++) await mark("harmful", at, reason === undefined ? {} : { reason });
}

/** Why the butler's own reader did not read, if so. What is invented is never sent to a model: where one reads, it is taken out of its way. */
async function learn({ asked, key }: Telling): Promise<string | undefined> {
  const { backend, principal, params } = asked;
  await learnAsAgent(asked, PROJECTS[LESSONS.project], lessonsFrom);
  const { reader } = await call(asked, "memory_learning", { limit: 1 });
  if (reader !== "local") {
    for (const project of Object.values(PROJECTS)) await learnAsAgent(asked, project, () => ({}));
    return `Little was learned from the episodes: this butler asks ${reader}, and invented text is not sent there.`;
  }
  const request = { ask: "run", job: "consolidate", dry_run: false, ticket: key };
  let ran = await backend.home?.jobs(principal, params.name ?? "", request);
  // The answer is `running` every few seconds until the run has ended.
  while (ran?.ok && ran.answer.state === "running" && !asked.signal.aborted)
    ran = await backend.home?.jobs(principal, params.name ?? "", request);
  if (ran === undefined) return "Little was learned from the episodes yet: this server runs no jobs.";
  if (!ran.ok) return `Little was learned from the episodes yet: ${ran.error.message}`;
  return ran.answer.state === "done" ? undefined : `Learning ended as ${ran.answer.state}: ${ran.answer.error ?? ""}`;
}

async function learnAsAgent(asked: Asked, project: string, lessons: (given: Given) => object): Promise<void> {
  for (;;) {
    const how = { project, voice: "agent" } as const;
    const given = await call(asked, "memory_consolidate", {}, how);
    if (given.state !== "given") return;
    await call(asked, "memory_consolidate", { run_id: given.run_id, ...lessons(given as Given) }, how);
  }
}

interface Given {
  readonly episodes: readonly { readonly label: string; readonly text: string }[];
  readonly facts: readonly { readonly label: string; readonly subject: string; readonly predicate: string }[];
}

function lessonsFrom({ episodes, facts }: Given) {
  const saying = (words: string) => episodes.filter(({ text }) => text.includes(words)).map(({ label }) => label);
  const known = ([subject, predicate]: readonly [string, string]) =>
    facts.find((fact) => fact.subject === subject && fact.predicate === predicate)?.label ?? null;
  return {
    facts: LESSONS.facts.map(({ said, against, ...fact }) => ({
      ...fact,
      tags: [TAG],
      episodes: saying(said),
      ...(against === undefined ? {} : { contradicts: known(against) }),
    })),
    rules: [{ content: LESSONS.rule, tags: [TAG], episodes: saying(LESSONS.ruled) }],
  };
}

/** What agents were told in these weeks counts as recalled. */
async function recall({ asked }: Telling): Promise<void> {
  for (const [nth, { project, prompt }] of PROMPTS.entries())
    await call(
      asked,
      "memory_context",
      { trigger_prompt: prompt },
      { project: PROJECTS[project], session: `example-recall-${nth}`, voice: "agent" },
    );
}
