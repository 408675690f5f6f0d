/** A time as people say it, with the exact one on hover. */
import { useSyncExternalStore } from "react";

const STEPS: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, ms: number])[] = [
  ["year", 365 * 86_400_000],
  ["month", 30 * 86_400_000],
  ["week", 7 * 86_400_000],
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
];

const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const EXACT = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });
const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });

export const exactTime = (at: string): string => EXACT.format(new Date(at));

export function relativeTime(at: string, now: number): string {
  const ms = Date.parse(at) - now;
  const step = STEPS.find(([, size]) => Math.abs(ms) >= size);
  return step === undefined ? "just now" : RELATIVE.format(Math.round(ms / step[1]), step[0]);
}

const TICK_MS = 30_000;
let now = Date.now();
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(tell: () => void): () => void {
  listeners.add(tell);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const one of listeners) one();
  }, TICK_MS);
  return () => {
    listeners.delete(tell);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

export const useNow = (): number => useSyncExternalStore(subscribe, () => now);

/** `clock`: of today only the time of day. */
export function When({ at, clock = false }: { readonly at: string; readonly clock?: boolean }) {
  const from = useNow();
  const isToday = new Date(at).toDateString() === new Date(from).toDateString();
  return (
    <time dateTime={at} title={exactTime(at)}>
      {clock && isToday ? CLOCK.format(new Date(at)) : relativeTime(at, from)}
    </time>
  );
}
