import { z } from "zod";
import { DAY_MS } from "../../domain/lifecycle/decay.ts";
import { shownChanges } from "../../memory/activity-changes.ts";
import { listActivity } from "../../store/browse/activity.ts";
import { countReviews } from "../../store/browse/review.ts";
import { countDays, countTeachers, countWaiting, type DayCount } from "../../store/browse/today.ts";
import * as f from "../../tools/fields.ts";
import * as v from "../common.ts";
import { defineView } from "../define.ts";
import { Event } from "../history/activity.ts";

const DAYS = 30;
const ITEMS = 100;

/** What each count of a day is made of. */
const COUNTED = {
  learned: ["fact.stored", "rule.stored"],
  confirmed: ["fact.confirmed", "rule.confirmed", "rule.marked_helpful"],
  superseded: ["fact.superseded"],
  forgotten: ["fact.forgotten", "rule.forgotten", "episode.forgotten"],
} as const;

/** What a person wants to know of a day, besides what was learned. */
const REMARKABLE = [
  ...COUNTED.learned,
  ...COUNTED.forgotten,
  "fact.began",
  "fact.contradicted",
  "fact.restored",
  "rule.restored",
  "rule.promoted",
  "rule.demoted",
  "rule.inverted",
];

const isDay = (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text) && f.time.safeParse(text).success;

export const viewToday = defineView({
  name: "view_today",
  title: "What a day brought, and what waits",
  input: f.input({
    day: f
      .text(10)
      .refine(isDay, { error: "is not a day; write it like 2026-05-01" })
      .optional()
      .describe("Today if left out."),
    zone_minutes: z.number().int().min(-840).max(840).optional().describe("Minutes east of UTC; 0 if left out."),
    ...v.placeFilter,
  }),
  output: f.output({
    day: z.string(),
    learned: z.object({ facts: z.number(), rules: z.number(), sessions: z.number() }),
    items: z.array(Event).describe(`The newest first, at most ${ITEMS}; activity has the rest.`),
    days: z
      .array(
        z.object({
          day: z.string(),
          learned: z.number(),
          confirmed: z.number(),
          superseded: z.number(),
          forgotten: z.number(),
        }),
      )
      .describe(`${DAYS} days up to this one, oldest first.`),
    waiting: z.object({
      contradictions: z.number(),
      to_review: z.number().describe("What review lists."),
      dead_letters: z.number(),
      backlog: z.number(),
      backlog_age_hours: z.number().nullable().describe("Of the oldest; null when nothing waits."),
    }),
  }),
  async run(call, input) {
    const { db } = call.memory;
    const offset = (input.zone_minutes ?? 0) * 60_000;
    const day = input.day ?? dayAt(call.now, offset);
    const from = new Date(Date.parse(`${day}T00:00:00Z`) - offset);
    const to = new Date(from.getTime() + DAY_MS);
    const first = new Date(from.getTime() - (DAYS - 1) * DAY_MS);
    const seen = v.seenBy(call, input);
    const types = Object.values(COUNTED).flat();
    const filter = { entity: undefined, without: [], actor: undefined, session: undefined, before: undefined };
    const [counts, sessions, waiting, to_review, events] = await Promise.all([
      countDays(db, seen, types, first, to),
      countTeachers(db, seen, from, to),
      countWaiting(db, seen),
      countReviews(db, seen),
      listActivity(db, { ...seen, ...filter, types: REMARKABLE, from, to, limit: ITEMS }),
    ]);
    const inDay = counts.filter((count) => count.day >= from);
    const age = waiting.oldest === null ? null : Math.max(0, call.now.getTime() - waiting.oldest.getTime()) / 3_600_000;
    return {
      day,
      learned: { facts: sum(inDay, ["fact.stored"]), rules: sum(inDay, ["rule.stored"]), sessions },
      items: await shownChanges(call, v.seenBy(call).scopes, events),
      days: daysOf(counts, first, offset),
      waiting: {
        contradictions: waiting.contradictions,
        to_review,
        dead_letters: waiting.dead_letters,
        backlog: waiting.backlog,
        backlog_age_hours: age,
      },
    };
  },
});

const dayAt = (at: Date, offset: number): string => new Date(at.getTime() + offset).toISOString().slice(0, 10);

const sum = (counts: readonly DayCount[], types: readonly string[]): number =>
  counts.reduce((total, { event_type, n }) => total + (types.includes(event_type) ? n : 0), 0);

function daysOf(counts: readonly DayCount[], first: Date, offset: number) {
  return Array.from({ length: DAYS }, (_, nth) => {
    const begins = first.getTime() + nth * DAY_MS;
    const own = counts.filter(({ day }) => day.getTime() === begins);
    return {
      day: dayAt(new Date(begins), offset),
      learned: sum(own, COUNTED.learned),
      confirmed: sum(own, COUNTED.confirmed),
      superseded: sum(own, COUNTED.superseded),
      forgotten: sum(own, COUNTED.forgotten),
    };
  });
}
