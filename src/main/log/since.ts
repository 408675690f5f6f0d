import { invalid } from "../../engine/domain/errors.ts";

const AGE = /^(\d{1,6})\s*(m|min|h|d)$/;
const MINUTES: Readonly<Record<string, number>> = { m: 1, min: 1, h: 60, d: 1_440 };
const TIME = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;

/** A time, or how long ago; as ISO time. A time without a zone is that of this machine. */
export function readSince(text: string | undefined, now: Date): string | undefined {
  if (text === undefined) return undefined;
  const [, number, unit] = AGE.exec(text) ?? [];
  if (number !== undefined)
    return new Date(now.getTime() - Number(number) * (MINUTES[unit ?? ""] ?? 1) * 60_000).toISOString();
  // A day alone would be midnight in UTC.
  const at = new Date(TIME.test(text) && text.length === 10 ? `${text}T00:00` : text.replace(" ", "T"));
  if (TIME.test(text) && !Number.isNaN(at.getTime())) return at.toISOString();
  throw invalid("since", `--since is "${text}"; write a time like 2026-05-01T09:30 or an age like 30m, 2h or 7d.`);
}
