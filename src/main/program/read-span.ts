import { invalid } from "../../engine/domain/errors.ts";

const SPAN = /^(\d{1,5})\s*(min|m|h|d|w)$/;
const MINUTES: Readonly<Record<string, number>> = { m: 1, min: 1, h: 60, d: 1_440, w: 10_080 };

/** A length of time such as 30m, 12h, 90d or 2w, in milliseconds. */
export function readSpan(text: string, flag: string): number {
  const [, number, unit] = SPAN.exec(text) ?? [];
  if (number === undefined) throw invalid(flag, `--${flag} is "${text}"; write a time such as 30m, 12h, 90d or 2w.`);
  return Number(number) * (MINUTES[unit ?? ""] ?? 1) * 60_000;
}

/** When that time from now is over, as ISO time; a day in the calendar is taken as it is. */
export function readExpiry(text: string | undefined, now: Date): string | undefined {
  if (text === undefined) return undefined;
  const day = /^\d{4}-\d{2}-\d{2}/.test(text) ? new Date(text) : undefined;
  if (day !== undefined && !Number.isNaN(day.getTime())) return day.toISOString();
  return new Date(now.getTime() + readSpan(text, "expires")).toISOString();
}
