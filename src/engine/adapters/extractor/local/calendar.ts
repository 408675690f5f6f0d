/** Spans of days, counted from the day on which somebody speaks. All days are YYYY-MM-DD, in UTC. */
import { DAY_MS } from "../../../domain/lifecycle/decay.ts";

export interface Span {
  readonly from: string;
  readonly to: string;
  /** Ready for a sentence: "on 7 May 2023", "in June 2023". */
  readonly words: string;
}

export type Direction = "past" | "future";

export const MONTHS = "January February March April May June July August September October November December".split(
  " ",
);
const WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(" ");
export const WEEKDAY = `(?:${WEEKDAYS.join("|")}|Mon|Tues?|Wed|Thurs?|Fri|Sat|Sun)`;

const ms = (day: string) => Date.parse(`${day}T00:00:00Z`);
const iso = (time: number) => new Date(time).toISOString().slice(0, 10);
export const plusDays = (day: string, days: number): string => iso(ms(day) + days * DAY_MS);
const parts = (day: string) => ({
  y: Number(day.slice(0, 4)),
  m: Number(day.slice(5, 7)),
  d: Number(day.slice(8, 10)),
});
/** Monday is 0. */
const weekday = (day: string) => (new Date(ms(day)).getUTCDay() + 6) % 7;

export function dayOf(y: number, m: number, d: number): string | null {
  const time = Date.UTC(y, m - 1, d);
  if (y < 1900 || y > 2199 || new Date(time).getUTCMonth() !== m - 1) return null;
  return iso(time);
}

export function dayWords(day: string): string {
  const { y, m, d } = parts(day);
  return `${d} ${MONTHS[m - 1]} ${y}`;
}

export const single = (day: string): Span => ({ from: day, to: day, words: `on ${dayWords(day)}` });
export const year = (y: number): Span => ({ from: `${y}-01-01`, to: `${y}-12-31`, words: `in ${y}` });

function month(y: number, m: number): Span {
  const first = iso(Date.UTC(y, m - 1, 1));
  return { from: first, to: iso(Date.UTC(y, m, 0)), words: `in ${MONTHS[parts(first).m - 1]} ${parts(first).y}` };
}

const COUNTS: Readonly<Record<string, number>> = {
  ...{ a: 1, an: 1, one: 1, two: 2, three: 3, four: 4, five: 5, six: 6, seven: 7, eight: 8, nine: 9, ten: 10 },
  ...{ eleven: 11, twelve: 12 },
};
export const COUNT = `(?:\\d{1,2}|${Object.keys(COUNTS).join("|")})`;
export const countOf = (word: string): number => COUNTS[word.toLowerCase()] ?? Number(word);

/** `count` units before or after the day. Weeks, months and years give a span, not a day. */
export function away(day: string, count: number, unit: string, sign: 1 | -1): Span | null {
  const { y, m } = parts(day);
  if (unit.startsWith("weekend")) {
    const last = relative(day, "last", "weekend");
    const saturday = last === null ? day : plusDays(last.from, -7 * (count - 1));
    return { from: saturday, to: plusDays(saturday, 1), words: `on the weekend of ${dayWords(saturday)}` };
  }
  if (unit.startsWith("day")) return single(plusDays(day, sign * count));
  if (unit.startsWith("week")) {
    const middle = plusDays(day, sign * count * 7);
    return { from: plusDays(middle, -3), to: plusDays(middle, 3), words: `around ${dayWords(middle)}` };
  }
  if (unit.startsWith("month")) return month(y, m + sign * count);
  return unit.startsWith("year") ? year(y + sign * count) : null;
}

export function relative(day: string, which: string, unit: string): Span | null {
  const { y, m } = parts(day);
  const step = which === "last" ? -1 : which === "next" ? 1 : 0;
  const monday = plusDays(day, -weekday(day));
  if (unit === "week") {
    if (step < 0)
      return { from: plusDays(day, -7), to: plusDays(day, -1), words: `in the week before ${dayWords(day)}` };
    const from = plusDays(monday, 7 * step);
    return { from, to: plusDays(from, 6), words: `in the week of ${dayWords(from)}` };
  }
  if (unit === "weekend") {
    // On a Saturday or Sunday "last weekend" is the one before this one.
    const saturday = plusDays(monday, step < 0 ? -2 : step > 0 ? 12 : 5);
    return { from: saturday, to: plusDays(saturday, 1), words: `on the weekend of ${dayWords(saturday)}` };
  }
  if (unit === "month") return month(y, m + step);
  if (unit === "year") return year(y + step);
  const index = WEEKDAYS.findIndex((name) => name.toLowerCase().startsWith(unit.slice(0, 3)));
  if (index < 0) return null;
  if (step < 0) return single(plusDays(day, -(((weekday(day) - index + 6) % 7) + 1)));
  // "Next Friday" is the one of the next calendar week; "this Friday" is the coming one.
  return step > 0 ? single(plusDays(monday, 7 + index)) : single(plusDays(day, (index - weekday(day) + 7) % 7));
}

export function dayOfMonth(
  day: string,
  d: number,
  m: number,
  y: number | undefined,
  direction: Direction,
): Span | null {
  const now = parts(day);
  const guess = dayOf(y ?? now.y, m, d);
  if (guess === null || y !== undefined) return guess === null ? null : single(guess);
  if (direction === "past" && guess > day) return dayOfMonth(day, d, m, now.y - 1, direction);
  if (direction === "future" && guess < day) return dayOfMonth(day, d, m, now.y + 1, direction);
  return single(guess);
}

export function monthOf(day: string, m: number, y: number | undefined, direction: Direction): Span {
  const now = parts(day);
  if (y !== undefined) return month(y, m);
  if (direction === "past") return month(m > now.m ? now.y - 1 : now.y, m);
  return month(m < now.m ? now.y + 1 : now.y, m);
}

export function nearestDay(day: string, d: number, direction: Direction): Span | null {
  const { y, m, d: today } = parts(day);
  const shift = direction === "past" ? (d > today ? -1 : 0) : d < today ? 1 : 0;
  const first = parts(month(y, m + shift).from);
  const at = dayOf(first.y, first.m, d);
  return at === null ? null : single(at);
}
