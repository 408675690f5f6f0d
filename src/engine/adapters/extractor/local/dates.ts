/** Dates as people say them, resolved against the day on which they say it. All days are YYYY-MM-DD, reckoned in UTC. */
import { DAY_MS } from "../../../domain/lifecycle/decay.ts";

export interface Span {
  readonly from: string;
  readonly to: string;
  /** Ready for a sentence: "on 7 May 2023", "in June 2023". */
  readonly words: string;
}

export type Direction = "past" | "future";

const MONTHS = "January February March April May June July August September October November December".split(" ");
const WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(" ");
const WEEKDAY = `(?:${WEEKDAYS.join("|")}|Mon|Tues?|Wed|Thurs?|Fri|Sat|Sun)`;

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

function made(y: number, m: number, d: number): string | null {
  const time = Date.UTC(y, m - 1, d);
  if (y < 1900 || y > 2199 || new Date(time).getUTCMonth() !== m - 1) return null;
  return iso(time);
}

export function dayWords(day: string): string {
  const { y, m, d } = parts(day);
  return `${d} ${MONTHS[m - 1]} ${y}`;
}

const single = (day: string): Span => ({ from: day, to: day, words: `on ${dayWords(day)}` });
const year = (y: number): Span => ({ from: `${y}-01-01`, to: `${y}-12-31`, words: `in ${y}` });

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

/** `count` units before or after the day; longer units are only as exact as they sound. */
function away(day: string, count: number, unit: string, sign: 1 | -1): Span | null {
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

function relative(day: string, which: string, unit: string): Span | null {
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

function named(day: string, d: number, m: number, y: number | undefined, direction: Direction): Span | null {
  const now = parts(day);
  const guess = made(y ?? now.y, m, d);
  if (guess === null || y !== undefined) return guess === null ? null : single(guess);
  if (direction === "past" && guess > day) return named(day, d, m, now.y - 1, direction);
  if (direction === "future" && guess < day) return named(day, d, m, now.y + 1, direction);
  return single(guess);
}

function namedMonth(day: string, m: number, y: number | undefined, direction: Direction): Span {
  const now = parts(day);
  if (y !== undefined) return month(y, m);
  if (direction === "past") return month(m > now.m ? now.y - 1 : now.y, m);
  return month(m < now.m ? now.y + 1 : now.y, m);
}

function ordinal(day: string, d: number, direction: Direction): Span | null {
  const { y, m, d: today } = parts(day);
  const shift = direction === "past" ? (d > today ? -1 : 0) : d < today ? 1 : 0;
  const first = parts(month(y, m + shift).from);
  const at = made(first.y, first.m, d);
  return at === null ? null : single(at);
}

const MONTH = `(${MONTHS.join("|")}|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\\b\\.?`;
const monthOf = (name: string) =>
  MONTHS.findIndex((m) => m.slice(0, 3).toLowerCase() === name.slice(0, 3).toLowerCase()) + 1;
const yearOf = (text: string | undefined) => (text === undefined ? undefined : Number(text));
const BEFORE = "(?:\\b(?:on|by|from|starting|for|at)\\s+)?";

type Reader = (m: readonly (string | undefined)[], day: string, direction: Direction) => Span | null;
const reader = (pattern: string, read: Reader) => ({ pattern: new RegExp(pattern, "i"), read });
const low = (text: string | undefined) => (text ?? "").toLowerCase();

/** The most telling first: "on 3 May 2024" is not "in 2024". Month names need their capital, so "may" stays a verb. */
const READERS = [
  {
    pattern: /\b(?:on |by )?(\d{4})-(\d\d)-(\d\d)\b/,
    read: ((m) => {
      const at = made(Number(m[1]), Number(m[2]), Number(m[3]));
      return at === null ? null : single(at);
    }) as Reader,
  },
  {
    pattern: new RegExp(`${BEFORE}(?:\\bthe )?\\b(\\d{1,2})(?:st|nd|rd|th)?(?: of)? ${MONTH}(?:,? (\\d{4})\\b)?`),
    read: ((m, day, to) => named(day, Number(m[1]), monthOf(m[2] ?? ""), yearOf(m[3]), to)) as Reader,
  },
  {
    pattern: new RegExp(`${BEFORE}\\b${MONTH} (\\d{1,2})(?:st|nd|rd|th)?\\b(?!:)(?:,? (\\d{4})\\b)?`),
    read: ((m, day, to) => named(day, Number(m[2]), monthOf(m[1] ?? ""), yearOf(m[3]), to)) as Reader,
  },
  {
    pattern: new RegExp(`\\b(?:in|since|last|this|next|during|back in) ${MONTH}(?:,? (\\d{4})\\b)?`),
    read: ((m, day, to) => namedMonth(day, monthOf(m[1] ?? ""), yearOf(m[2]), to)) as Reader,
  },
  reader("\\b(?:back )?(?:in|since|during) ((?:19|20)\\d\\d)\\b", (m) => year(Number(m[1]))),
  reader("\\bthe day before yesterday\\b", (_m, day) => single(plusDays(day, -2))),
  reader("\\bthe day after tomorrow\\b", (_m, day) => single(plusDays(day, 2))),
  reader("\\b(?:on )?yesterday(?: (?:morning|afternoon|evening|night))?\\b|\\blast night\\b", (_m, day) =>
    single(plusDays(day, -1)),
  ),
  reader("\\b(?:earlier )?today\\b|\\btonight\\b|\\bthis (?:morning|afternoon|evening)\\b", (_m, day) => single(day)),
  reader("\\btomorrow(?: (?:morning|afternoon|evening|night))?\\b", (_m, day) => single(plusDays(day, 1))),
  reader(
    `${BEFORE}\\b(?:this (?:past|coming) |(last|this|next) )(week|weekend|month|year|${WEEKDAY})\\b(?! (?:of|or)\\b| and (?:last|this|next)\\b)`,
    (m, day) => (m[1] === undefined ? null : relative(day, low(m[1]), low(m[2]))),
  ),
  reader(
    `\\b(?:about |around |just |over )?(${COUNT}) (days?|weeks?|weekends?|months?|years?) (?:ago|back)\\b`,
    (m, day) => away(day, countOf(m[1] ?? ""), low(m[2]), -1),
  ),
  reader("\\b(?:just )?(a few|a couple(?: of)?|several) (days|weeks|months|years) (?:ago|back)\\b", (m, day) => {
    const span = away(day, /couple/i.test(m[1] ?? "") ? 2 : 3, low(m[2]), -1);
    return span === null ? null : { ...span, words: `${low(m[1])} ${low(m[2])} before ${dayWords(day)}` };
  }),
  reader(`\\b(?:in|within)(?: about)? (${COUNT}) (days?|weeks?|months?|years?)(?:['’] time)?\\b`, (m, day, to) =>
    to === "past" ? null : away(day, countOf(m[1] ?? ""), low(m[2]), 1),
  ),
  reader(`\\b(?:on|by|this) (${WEEKDAY})\\b`, (m, day, to) =>
    relative(day, to === "past" ? "last" : "this", low(m[1])),
  ),
  reader(
    "\\b(?:on|by) the (\\d{1,2})(?:st|nd|rd|th)\\b(?! (?:floor|of|place|time|day|hole|street|avenue))",
    (m, day, to) => ordinal(day, Number(m[1]), to),
  ),
];

const PERHAPS = /\d|\b(?:yesterday|today|tonight|tomorrow|last|this|next|ago|back|on|by|in|within|since|during)\b/i;

export interface Dated {
  /** The text without the date. */
  readonly text: string;
  readonly span: (direction: Direction) => Span | null;
}

/** The first date that the text names, most telling form first. */
export function findDate(text: string, day: string): Dated | undefined {
  if (!PERHAPS.test(text)) return undefined;
  for (const { pattern, read } of READERS) {
    const match = pattern.exec(text);
    if (match === null) continue;
    const front = text.slice(0, match.index).trimEnd();
    // "Before Friday" is not on Friday.
    if (/\b(?:before|after|until|till|between|through|except)$/i.test(front)) return undefined;
    const left = front.replace(/\s(?:of|for|around|about|as of)$/i, "");
    const right = text.slice(match.index + match[0].length).trimStart();
    return {
      text: `${left} ${right}`.replace(/(?<!\s)\s+([,.])/g, "$1").trim(),
      span: (direction) => read(match, day, direction),
    };
  }
  return undefined;
}

/** A date that was not taken out: what holds it cannot be placed in time. */
export const DATE_WORD = new RegExp(
  `\\b(?:yesterday|today|tonight|tomorrow|ago|(?:last|next|this) (?:night|morning|evening|afternoon|week|weekend|month|year|summer|winter|spring|fall|autumn|time|${WEEKDAY}))\\b`,
  "i",
);
