/** The day that the pages look at: now, or the end of an earlier day, kept from page to page. */
import { usePageSearch } from "./search-params.ts";

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** `2026-03-03`, or undefined for now. */
export function useDay(): string | undefined {
  const { as_of } = usePageSearch();
  return as_of !== undefined && DAY.test(as_of) && !Number.isNaN(Date.parse(as_of)) ? as_of : undefined;
}

/** The end of that day where the reader is, as the API takes it. */
export const endOf = (day: string | undefined): string | undefined =>
  day === undefined ? undefined : new Date(`${day}T23:59:59.999`).toISOString();

export function dayOf(at: Date): string {
  const two = (n: number) => String(n).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

const LONG = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric" });
const SHORT = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const SHORT_OF_A_YEAR = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "2-digit" });
/** For where there is little room: the year only if it is another one. */
export function shortDay(day: string): string {
  const at = new Date(`${day}T12:00:00`);
  return (at.getFullYear() === new Date().getFullYear() ? SHORT : SHORT_OF_A_YEAR).format(at);
}
export const dayWords = (day: string): string => LONG.format(new Date(`${day}T12:00:00`));
