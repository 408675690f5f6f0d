/** What a question asks for, as far as its words tell: a time, a list, something of a certain date. English and German. */
import { DAY_MS } from "../lifecycle/decay.ts";

/** A whole prompt may be the question; its beginning says what it asks for. */
const READ_CHARS = 4000;

export interface AskedFor {
  /** When something was. */
  readonly when: boolean;
  /** Several things, which may have been said in several sessions. */
  readonly list: boolean;
  readonly dates: readonly NamedDate[];
}

/** A day or a whole month, of a year if one was said. Months count from 0. */
export interface NamedDate {
  readonly year: number | undefined;
  readonly month: number;
  readonly day: number | undefined;
}

const WHEN = new RegExp(
  [
    /\bwhen\b|\b(?:what|which) (?:date|day|month|year|time|week|weekend)\b|\bhow long ago\b/,
    /\bwann\b|\bwelche[mnrs]? (?:datum|tag|monat|jahr|woche|wochenende)\b|\bwie lange ist\b|\bvor wie (?:vielen|langer)\b/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "i",
);

/**
 * The perfect tense of English asks for all that ever was. That of German does not ("Was hat sie gestern gekauft?"), so that
 * there only the plural does.
 */
const LIST = new RegExp(
  [
    /^(?:what|where|who|which)\b(?:\s\S+){0,3} (?:has|have)\b|^what (?:are|were) |^how many|^in (?:what|which) ways/,
    /^(?:would|could|might)\b|\bboth\b|\bin common\b/,
    /^welche |^was (?:sind|waren) |^wie viele|^(?:würde|könnte)|\bbeide[nrs]?\b|\bgemeinsam\b/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "i",
);

/** `names`: the people it names. April may be one of them. */
export function askedFor(question: string, names: readonly string[]): AskedFor {
  const text = question.slice(0, READ_CHARS).trim();
  const when = WHEN.test(text);
  return { when, list: !when && LIST.test(text), dates: datesIn(text, names) };
}

const MONTHS = `january february march april may june july august september october november december
  januar februar märz april mai juni juli august september oktober november dezember`.split(/\s+/);
const MONTH = MONTHS.map((name) => name.replace(/^./, (first) => first.toUpperCase())).join("|");

/** A month has a capital: "may" and "march" are other words. */
const DAY_MONTH = new RegExp(
  `(?<!\\d)(\\d{1,2})(?:st|nd|rd|th|\\.)? (?:of )?(${MONTH}),?(?: (\\d{4}))?(?![\\p{L}\\d])`,
  "gu",
);
const MONTH_DAY = new RegExp(
  `(?<![\\p{L}\\d])(${MONTH})(?: (\\d{1,2})(?:st|nd|rd|th)?(?!\\d))?(?:,? (\\d{4}))?(?![\\p{L}\\d])`,
  "gu",
);
const ISO = /(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)/g;
const DOTTED = /(?<!\d)(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})(?!\d)/g;

/** A prompt may hold a log: where so many dates are named, none of them is what is asked for. */
const MOST_DATES = 4;

function datesIn(text: string, names: readonly string[]): NamedDate[] {
  const found: NamedDate[] = [];
  const add = (year: string | undefined, month: number, day: string | undefined) => {
    const date = { year: numberOf(year), month, day: numberOf(day) };
    if (month >= 0 && month < 12 && (date.day === undefined || (date.day >= 1 && date.day <= 31))) found.push(date);
    return " ";
  };
  const monthOf = (name: string) => MONTHS.indexOf(name.toLowerCase()) % 12;
  const rest = text
    .replace(ISO, (_, year, month, day) => add(year, Number(month) - 1, day))
    .replace(DOTTED, (_, day, month, year) => add(year, Number(month) - 1, day))
    .replace(DAY_MONTH, (_, day, month, year) => add(year, monthOf(month), day));
  for (const { 1: month = "", 2: day, 3: year, index } of rest.matchAll(MONTH_DAY)) {
    const verb = index === 0 && (month === "May" || month === "March");
    const other = verb || names.includes(month.toLowerCase());
    if (!other || day !== undefined || year !== undefined) add(year, monthOf(month), day);
  }
  return found.length > MOST_DATES ? [] : found;
}

const numberOf = (digits: string | undefined) => (digits === undefined ? undefined : Number(digits));

/** What happened on a day is told in the days after it. */
const TOLD_WITHIN_DAYS = 7;

/** Whether what was said then may tell of one of these dates. Without a year the nearest before it is meant. */
export function liesIn(dates: readonly NamedDate[], at: Date): boolean {
  const time = at.getTime();
  const own = at.getUTCFullYear();
  return [own, own - 1].some((year) => spansOf(dates, year).some(({ from, to }) => time >= from && time < to));
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/** Two dates are the ends of what is asked for. */
function spansOf(dates: readonly NamedDate[], otherwise: number): Span[] {
  const spans = dates.map(({ year = otherwise, month, day }): Span => {
    const after = day === undefined ? Date.UTC(year, month + 1, 1) : Date.UTC(year, month, day + 1);
    return { from: Date.UTC(year, month, day ?? 1), to: after + TOLD_WITHIN_DAYS * DAY_MS };
  });
  if (spans.length !== 2) return spans;
  return [{ from: Math.min(...spans.map((s) => s.from)), to: Math.max(...spans.map((s) => s.to)) }];
}
