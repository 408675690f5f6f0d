/** `/api/memory/…`: the same questions to every butler that the caller may use. */
import { z } from "zod";
import { checkInput } from "../../../engine/tools/invalid-input.ts";
import type { Outcome } from "../../../engine/tools/outcome.ts";
import type { View } from "../../../engine/views/define.ts";
import { Event, viewActivity } from "../../../engine/views/history/activity.ts";
import { viewStats } from "../../../engine/views/numbers/stats.ts";
import { viewToday } from "../../../engine/views/numbers/today.ts";
import { viewSearch } from "../../../engine/views/recall/search.ts";
import { type ApiRoute, type Asked, refusal } from "./define.ts";
import { answersOf, askAll, isPartial, sumOf, type Told } from "./fleet.ts";
import { butlerHealth, Health } from "./health-route.ts";

const number = z.number().nullable().describe("Null when nobody knows.");
const ToldBy = <T extends z.ZodType>(answer: T) =>
  z
    .array(
      z.union([
        z.object({ name: z.string(), ok: z.literal(true), answer }),
        z.object({ name: z.string(), ok: z.literal(false), reason: z.string() }),
      ]),
    )
    .describe("What each butler said, or why it said nothing.");
const partial = z.boolean().describe("Somebody did not answer: the numbers are of those who did.");
const asks = ({ input }: View, ...without: string[]) =>
  z.strictObject(
    Object.fromEntries(
      Object.entries(input.shape).filter(
        ([name]) => !["request_context", "scope", "project", ...without].includes(name),
      ),
    ),
  );

type Stats = z.infer<typeof viewStats.output>;
type Today = z.infer<typeof viewToday.output>;
type Found = z.infer<typeof viewSearch.output>;
type Page = z.infer<typeof viewActivity.output>;

const ask =
  (asked: Asked, tool: string, input: object = asked.given) =>
  ({ name }: { readonly name: string }): Promise<Outcome> =>
    asked.backend.invoke(asked.principal, name, { tool, input, ...tenantOf(asked) }, { signal: asked.signal });

/** Another tenant that the caller names is looked at in every butler, or refused by each. */
const tenantOf = ({ extras: { tenant } }: Asked) => (tenant === undefined ? {} : { tenant });

const FleetStats = z.object({
  butlers: ToldBy(viewStats.output),
  partial,
  facts: number,
  rules: number,
  episodes: number,
  backlog: number,
});

async function stats(asked: Asked): Promise<Outcome> {
  const butlers = await askAll<Stats>(asked, ask(asked, "view_stats"));
  return {
    ok: true,
    answer: {
      butlers,
      partial: isPartial(butlers),
      facts: sumOf(butlers, ({ facts }) => facts.total),
      rules: sumOf(butlers, ({ rules }) => rules.total),
      episodes: sumOf(butlers, ({ episodes }) => episodes.total),
      backlog: sumOf(butlers, ({ episodes }) => episodes.backlog),
    },
  };
}

const ITEMS = 100;
const FleetEvent = Event.extend({ of: z.string().describe("The butler.") });
const { days: Days } = viewToday.output.shape;

const FleetToday = z.object({
  butlers: ToldBy(viewToday.output.omit({ items: true, days: true })),
  partial,
  day: z.string().nullable(),
  learned: z.object({ facts: number, rules: number, sessions: number }),
  items: z.array(FleetEvent),
  days: Days,
  waiting: z.object({ contradictions: number, to_review: number, dead_letters: number, backlog: number }),
});

async function today(asked: Asked): Promise<Outcome> {
  const told = await askAll<Today>(asked, ask(asked, "view_today"));
  const known = answersOf(told);
  const items = known.flatMap(({ name, answer }) => answer.items.map((event) => ({ ...event, of: name })));
  return {
    ok: true,
    answer: {
      butlers: told.map((one) => {
        if (!one.ok) return one;
        const { items: _, days: __, ...rest } = one.answer;
        return { ...one, answer: rest };
      }),
      partial: isPartial(told),
      day: known[0]?.answer.day ?? null,
      learned: {
        facts: sumOf(told, ({ learned }) => learned.facts),
        rules: sumOf(told, ({ learned }) => learned.rules),
        sessions: sumOf(told, ({ learned }) => learned.sessions),
      },
      items: items.toSorted(byTime).slice(0, ITEMS),
      days: sumDays(known.map(({ answer }) => answer.days)),
      waiting: {
        contradictions: sumOf(told, ({ waiting }) => waiting.contradictions),
        to_review: sumOf(told, ({ waiting }) => waiting.to_review),
        dead_letters: sumOf(told, ({ waiting }) => waiting.dead_letters),
        backlog: sumOf(told, ({ waiting }) => waiting.backlog),
      },
    },
  };
}

const byTime = (a: { occurred_at: string; id: string }, b: { occurred_at: string; id: string }): number =>
  a.occurred_at === b.occurred_at ? (a.id < b.id ? 1 : -1) : a.occurred_at < b.occurred_at ? 1 : -1;

function sumDays(all: readonly Today["days"][]): Today["days"] {
  const [first = [], ...others] = all;
  return first.map((day, at) =>
    others.reduce(
      (sum, days) => ({
        day: sum.day,
        learned: sum.learned + (days[at]?.learned ?? 0),
        confirmed: sum.confirmed + (days[at]?.confirmed ?? 0),
        superseded: sum.superseded + (days[at]?.superseded ?? 0),
        forgotten: sum.forgotten + (days[at]?.forgotten ?? 0),
      }),
      day,
    ),
  );
}

const FleetResult = viewSearch.output.shape.results.element.extend({ of: z.string().describe("The butler.") });
const silent = z.array(z.object({ name: z.string(), reason: z.string() })).describe("Who did not answer, and why.");
const FleetSearch = z.object({ results: z.array(FleetResult), partial, silent });

const silentOf = (told: readonly Told<unknown>[]) =>
  told.flatMap((one) => (one.ok ? [] : [{ name: one.name, reason: one.reason }]));

/** By how well each fits the question by itself: relevance is relative to what else a butler has found. */
async function search(asked: Asked): Promise<Outcome> {
  const query = checkInput(asks(viewSearch, "as_of"), asked.given);
  if (!query.ok) return refusal("invalid_input", query.error.message, query.error.field);
  const told = await askAll<Found>(asked, ask(asked, "view_search"));
  const all = answersOf(told).flatMap(({ name, answer }) => answer.results.map((found) => ({ ...found, of: name })));
  const limit = Number(asked.given.limit ?? 20);
  const results = all.toSorted((a, b) => b.explain.fit - a.explain.fit || b.score - a.score).slice(0, limit);
  return { ok: true, answer: { results, partial: isPartial(told), silent: silentOf(told) } };
}

const FleetActivity = z.object({
  events: z.array(FleetEvent),
  next_cursor: z.string().nullable(),
  partial,
  silent,
});
const PAGE = 50;

/** The cursor holds where each butler's own page goes on. */
async function activity(asked: Asked): Promise<Outcome> {
  const { cursor, ...given } = asked.given;
  const places = placesOf(cursor);
  if (places === undefined)
    return refusal("invalid_input", "cursor must be a next_cursor of an earlier answer.", "cursor");
  const limit = Number(given.limit ?? PAGE);
  const told = await askAll<Page>(asked, (butler) => {
    const place = places[butler.name];
    // Null: this butler has told everything.
    if (place === null) return Promise.resolve({ ok: true, answer: { events: [], next_cursor: null } });
    return ask(asked, "view_activity", place === undefined ? given : { ...given, cursor: place })(butler);
  });
  const known = answersOf(told);
  const all = known.flatMap(({ name, answer }) => answer.events.map((event) => ({ ...event, of: name })));
  const events = all.toSorted(byTime).slice(0, limit);
  const next = known.map(({ name, answer }) => {
    const shown = events.filter((event) => event.of === name);
    if (shown.length === answer.events.length) return [name, answer.next_cursor];
    const last = shown.at(-1);
    return [name, last === undefined ? (places[name] ?? undefined) : cursorAfter(last.id)];
  });
  const more = events.length < all.length || known.some(({ answer }) => answer.next_cursor !== null);
  const next_cursor = more ? encode(Object.fromEntries(next)) : null;
  return { ok: true, answer: { events, next_cursor, partial: isPartial(told), silent: silentOf(told) } };
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
/** As `view_activity` writes it. */
const cursorAfter = (event: string): string => encode([event]);

const Places = z.record(z.string(), z.string().max(8_000).nullable());

function placesOf(cursor: unknown): Readonly<Record<string, string | null>> | undefined {
  if (cursor === undefined) return {};
  try {
    const read: unknown = JSON.parse(Buffer.from(String(cursor), "base64url").toString("utf8"));
    return Places.safeParse(read).data;
  } catch {
    return undefined;
  }
}

const FleetHealth = z.object({ ok: z.boolean(), butlers: ToldBy(Health), partial });

async function health(asked: Asked): Promise<Outcome> {
  const butlers = await askAll<z.infer<typeof Health>>(asked, ({ name }) =>
    butlerHealth({ ...asked, params: { name }, given: {} }),
  );
  const ok = butlers.every((one) => one.ok && one.answer.ok);
  return { ok: true, answer: { ok, butlers, partial: isPartial(butlers) } };
}

const route = (
  id: string,
  name: string,
  summary: string,
  input: z.ZodObject,
  answer: z.ZodType,
  run: ApiRoute["run"],
) => ({ id, method: "GET", path: `/api/memory/${name}`, summary, input, answer, run }) as const;

const none = z.strictObject({});

export const fleetRoutes: readonly ApiRoute[] = [
  route("FleetStats", "stats", "How every butler's memory is doing", none, FleetStats, stats),
  route("FleetToday", "today", "What a day brought to all butlers", asks(viewToday), FleetToday, today),
  route("FleetSearch", "search", "One search over all butlers", asks(viewSearch, "as_of"), FleetSearch, search),
  route(
    "FleetActivity",
    "activity",
    "What happened everywhere, the newest first",
    asks(viewActivity),
    FleetActivity,
    activity,
  ),
  route("FleetHealth", "health", "Whether all butlers are well", none, FleetHealth, health),
];

export type ApiFleetStats = z.infer<typeof FleetStats>;
export type ApiFleetToday = z.infer<typeof FleetToday>;
export type ApiFleetSearch = z.infer<typeof FleetSearch>;
export type ApiFleetActivity = z.infer<typeof FleetActivity>;
export type ApiFleetHealth = z.infer<typeof FleetHealth>;
