/** Times as data sets write them. What could be read in two ways (03/04/2024) is left out rather than guessed. */
import { time } from "../../engine/tools/fields.ts";

const MONTHS = "january february march april may june july august september october november december".split(" ");
const CLOCK = "(?:\\s*(?:\\([a-z]+\\))?\\s*(\\d{1,2}):(\\d{2}))?";
const YEAR_FIRST = new RegExp(`^(?<year>\\d{4})/(?<month>\\d{1,2})/(?<day>\\d{1,2})${CLOCK}$`, "i");
const MONTH_FIRST = /^(?<month>[a-z]{3,9})\.?[\s-]+(?<day>\d{1,2})(?:st|nd|rd|th)?,?[\s-]+(?<year>\d{4})$/i;
const DAY_FIRST = /^(?<day>\d{1,2})(?:st|nd|rd|th)?[\s-]+(?<month>[a-z]{3,9})\.?,?[\s-]+(?<year>\d{4})$/i;

/** The time in a form that the tools take, or undefined. */
export function readTime(text: string): string | undefined {
  const written = text.trim();
  if (time.safeParse(written).success) return written;
  for (const pattern of [YEAR_FIRST, MONTH_FIRST, DAY_FIRST]) {
    const match = pattern.exec(written);
    if (!match?.groups) continue;
    const { year = "", month = "", day = "" } = match.groups;
    const number = monthNumber(month);
    if (number === undefined) return undefined;
    const [, , , , hour, minute] = match;
    const clock = hour === undefined ? "" : `T${hour.padStart(2, "0")}:${minute}:00Z`;
    const read = `${year}-${String(number).padStart(2, "0")}-${day.padStart(2, "0")}${clock}`;
    return time.safeParse(read).success ? read : undefined;
  }
  return undefined;
}

function monthNumber(text: string): number | undefined {
  if (/^\d+$/.test(text)) return Number(text);
  const at = MONTHS.findIndex((month) => month.startsWith(text.toLowerCase()));
  return at < 0 ? undefined : at + 1;
}
