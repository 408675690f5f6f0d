/** Dates as people say them, resolved against the day on which they say it. */
import {
  away,
  COUNT,
  countOf,
  type Direction,
  dayOf,
  dayOfMonth,
  dayWords,
  MONTHS,
  monthOf,
  nearestDay,
  plusDays,
  relative,
  type Span,
  single,
  WEEKDAY,
  year,
} from "../calendar.ts";
import { type Groups, groupsOf, type Row } from "../table.ts";

const MONTH = `(${MONTHS.join("|")}|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\\b\\.?`;
const monthNumber = (name: string) =>
  MONTHS.findIndex((month) => month.slice(0, 3).toLowerCase() === name.slice(0, 3).toLowerCase()) + 1;
const yearNumber = (text: string) => (text === "" ? undefined : Number(text));
const BEFORE = "(?:\\b(?:on|by|from|starting|since|for|at)\\s+)?";
const anyCase = (pattern: string) => new RegExp(pattern, "i");

type SpanTo = (direction: Direction) => Span | null;
/** Made of the day on which it is said. In the examples `gives` is the words of the span. */
export interface DateRow extends Row<string, SpanTo> {
  /** The example looks forward. */
  readonly future?: true;
  readonly make: (said: Groups, day: string) => SpanTo;
}

/** The most exact form first: "on 3 May 2024" is not "in 2024". Month names need their capital, so "may" stays a verb. */
export const DATES: readonly DateRow[] = [
  {
    name: "2024-05-03",
    pattern: /\b(?:on |by )?(\d{4})-(\d\d)-(\d\d)\b/,
    example: "I moved on 2024-05-03",
    gives: "on 3 May 2024",
    make: ([, y, m, d]) => {
      const day = dayOf(Number(y), Number(m), Number(d));
      return () => (day === null ? null : single(day));
    },
  },
  {
    name: "3 May",
    pattern: new RegExp(`${BEFORE}(?:\\bthe )?\\b(\\d{1,2})(?:st|nd|rd|th)?(?: of)? ${MONTH}(?:,? (\\d{4})\\b)?`),
    example: "I moved on the 3rd of May",
    gives: "on 3 May 2025",
    make:
      ([, d, month, y], day) =>
      (to) =>
        dayOfMonth(day, Number(d), monthNumber(month), yearNumber(y), to),
  },
  {
    name: "May 3",
    pattern: new RegExp(`${BEFORE}\\b${MONTH} (\\d{1,2})(?:st|nd|rd|th)?\\b(?!:)(?:,? (\\d{4})\\b)?`),
    example: "I moved on May 3, 2024",
    gives: "on 3 May 2024",
    make:
      ([, month, d, y], day) =>
      (to) =>
        dayOfMonth(day, Number(d), monthNumber(month), yearNumber(y), to),
  },
  {
    name: "in May",
    pattern: new RegExp(`\\b(?:in|since|last|this|next|during|back in) ${MONTH}(?:,? (\\d{4})\\b)?`),
    example: "I moved in May",
    gives: "in May 2025",
    make:
      ([, month, y], day) =>
      (to) =>
        monthOf(day, monthNumber(month), yearNumber(y), to),
  },
  {
    name: "in 2024",
    pattern: anyCase("\\b(?:back )?(?:in|since|during) ((?:19|20)\\d\\d)\\b"),
    example: "I moved in 2024",
    gives: "in 2024",
    make:
      ([, y]) =>
      () =>
        year(Number(y)),
  },
  {
    name: "the day before yesterday",
    pattern: anyCase("\\bthe day before yesterday\\b"),
    example: "I moved the day before yesterday",
    gives: "on 9 March 2026",
    make: (_said, day) => () => single(plusDays(day, -2)),
  },
  {
    name: "the day after tomorrow",
    pattern: anyCase("\\bthe day after tomorrow\\b"),
    example: "I will move the day after tomorrow",
    gives: "on 13 March 2026",
    future: true,
    make: (_said, day) => () => single(plusDays(day, 2)),
  },
  {
    name: "yesterday",
    pattern: anyCase("\\b(?:on )?yesterday(?: (?:morning|afternoon|evening|night))?\\b|\\blast night\\b"),
    example: "I moved last night",
    gives: "on 10 March 2026",
    make: (_said, day) => () => single(plusDays(day, -1)),
  },
  {
    name: "today",
    pattern: anyCase("\\b(?:earlier )?today\\b|\\btonight\\b|\\bthis (?:morning|afternoon|evening)\\b"),
    example: "I moved this morning",
    gives: "on 11 March 2026",
    make: (_said, day) => () => single(day),
  },
  {
    name: "tomorrow",
    pattern: anyCase("\\btomorrow(?: (?:morning|afternoon|evening|night))?\\b"),
    example: "I will move tomorrow night",
    gives: "on 12 March 2026",
    future: true,
    make: (_said, day) => () => single(plusDays(day, 1)),
  },
  {
    // "This past week" is taken out as well, but names no day.
    name: "last week",
    pattern: anyCase(
      `${BEFORE}\\b(?:this (?:past|coming) |(last|this|next) )(week|weekend|month|year|${WEEKDAY})\\b(?! (?:of|or)\\b| and (?:last|this|next)\\b)`,
    ),
    example: "I moved last weekend",
    gives: "on the weekend of 7 March 2026",
    make:
      ([, which, unit], day) =>
      () =>
        which === "" ? null : relative(day, which.toLowerCase(), unit.toLowerCase()),
  },
  {
    name: "two days ago",
    pattern: anyCase(
      `\\b(?:about |around |just |over )?(${COUNT}) (days?|weeks?|weekends?|months?|years?) (?:ago|back)\\b`,
    ),
    example: "I moved about two days ago",
    gives: "on 9 March 2026",
    make:
      ([, count, unit], day) =>
      () =>
        away(day, countOf(count), unit.toLowerCase(), -1),
  },
  {
    name: "a few days ago",
    pattern: anyCase("\\b(?:just )?(a few|a couple(?: of)?|several) (days|weeks|months|years) (?:ago|back)\\b"),
    example: "I moved a few weeks ago",
    gives: "a few weeks before 11 March 2026",
    make:
      ([, count, unit], day) =>
      () => {
        const span = away(day, /couple/i.test(count) ? 2 : 3, unit.toLowerCase(), -1);
        const words = `${count.toLowerCase()} ${unit.toLowerCase()} before ${dayWords(day)}`;
        return span === null ? null : { ...span, words };
      },
  },
  {
    name: "in two days",
    pattern: anyCase(`\\b(?:in|within)(?: about)? (${COUNT}) (days?|weeks?|months?|years?)(?:['’] time)?\\b`),
    example: "I will move in two months",
    gives: "in May 2026",
    future: true,
    make:
      ([, count, unit], day) =>
      (to) =>
        to === "past" ? null : away(day, countOf(count), unit.toLowerCase(), 1),
  },
  {
    name: "on Friday",
    pattern: anyCase(`\\b(?:on|by|this) (${WEEKDAY})\\b`),
    example: "I moved on Friday",
    gives: "on 6 March 2026",
    make:
      ([, weekday], day) =>
      (to) =>
        relative(day, to === "past" ? "last" : "this", weekday.toLowerCase()),
  },
  {
    name: "on the 5th",
    pattern: anyCase(
      "\\b(?:on|by) the (\\d{1,2})(?:st|nd|rd|th)\\b(?! (?:floor|of|place|time|day|hole|street|avenue))",
    ),
    example: "I moved on the 5th",
    gives: "on 5 March 2026",
    not: ["I live on the 5th floor"],
    make:
      ([, d], day) =>
      (to) =>
        nearestDay(day, Number(d), to),
  },
];

const PERHAPS = /\d|\b(?:yesterday|today|tonight|tomorrow|last|this|next|ago|back|on|by|in|within|since|during)\b/i;

export interface Dated {
  /** The text without the date. */
  readonly text: string;
  readonly span: SpanTo;
}

const LIMIT = /^(by|from|starting|since)\s/i;

/** "By 1 May" is not on 1 May, nor is "since 1 May". */
function limited(said: string, span: SpanTo): SpanTo {
  const limit = LIMIT.exec(said)?.[1]?.toLowerCase().replace("starting", "from");
  if (limit === undefined) return span;
  return (direction) => {
    const found = span(direction);
    return found === null ? null : { ...found, words: found.words.replace(/^(?:on|in|around)\b/, limit) };
  };
}

/** The date that the text names; of several, the one in the most exact form. */
export function findDate(text: string, day: string): Dated | undefined {
  if (!PERHAPS.test(text)) return undefined;
  for (const { pattern, make } of DATES) {
    const match = pattern.exec(text);
    if (match === null) continue;
    const front = text.slice(0, match.index).trimEnd();
    // "Before Friday" is not on Friday.
    if (/\b(?:before|after|until|till|between|through|except)$/i.test(front)) return undefined;
    const after = text.slice(match.index + match[0].length);
    // "The May 3 meeting" has its date for a name.
    if (/\b(?:the|an?|my|our|their)$/i.test(front) && /^ (?!(?:and|or|to|in|at|with|for|on|i|we)\b)\p{L}/iu.test(after))
      return undefined;
    const left = front.replace(/\s(?:of|for|around|about|as of)$/i, "");
    // "A deadline of 1 May, for the draft": the comma belonged to the date.
    const right = after.trimStart().replace(/^, (?=(?:for|with|in|at|to)\b)/i, "");
    return {
      text: `${left} ${right}`.replace(/(?<!\s)\s+([,.])/g, "$1").trim(),
      span: limited(match[0], make(groupsOf(match), day)),
    };
  }
  return undefined;
}

/** Words of a date that `findDate` has not taken out: when a phrase with them happens is unknown. */
export const DATE_WORD = new RegExp(
  `\\b(?:yesterday|today|tonight|tomorrow|ago|(?:last|next|this) (?:night|morning|evening|afternoon|week|weekend|month|year|summer|winter|spring|fall|autumn|time|${WEEKDAY}))\\b`,
  "i",
);
