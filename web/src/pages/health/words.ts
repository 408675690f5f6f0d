import type { ApiHealth } from "../../../../src/doors/http/api/types.ts";
import { isOpening } from "../../parts/standing.ts";
import { counted, listed } from "../../parts/words.ts";

export type Condition = ApiHealth["conditions"][number];
export type Standing = Condition["state"];

export const STANDINGS: Readonly<Record<Standing, { readonly sign: string; readonly word: string }>> = {
  ok: { sign: "●", word: "ok" },
  not_ok: { sign: "▲", word: "not ok" },
  unknown: { sign: "○", word: "unknown" },
};

const ORDER: readonly Standing[] = ["not_ok", "unknown", "ok"];

export const worstFirst = (conditions: readonly Condition[]): Condition[] =>
  conditions.toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));

export const CONDITION_WORDS: Readonly<Record<string, string>> = {
  store: "Store",
  worker: "Scheduler",
  schedule: "Times of jobs",
  jobs: "Jobs",
  backlog: "Waiting episodes",
  learning: "Learning",
  dead_letters: "Dead letters",
  errors: "Errors",
  latency: "Speed",
  database: "Connections",
  replica: "Replica",
  spend: "Spend",
  hooks: "Hooks of agents",
};

/** The first command that is ready to be copied: one without a part to fill in. */
export function commandIn(words: string, butler: string): string | undefined {
  const found = /butler (?:job run [a-z_]+|doctor)\b/.exec(words)?.[0];
  return found?.startsWith("butler job") ? `${found} --butler ${butler}` : found;
}

/** How a butler stands as a whole. Without conditions, only its store tells. */
export function standingOf(health: ApiHealth): Standing {
  const { ok, store, conditions } = health;
  if (conditions.some(({ state }) => state === "not_ok")) return "not_ok";
  if (store === "unknown" || isOpening(health) || conditions.some(({ state }) => state === "unknown")) return "unknown";
  return ok ? "ok" : "not_ok";
}

export function standingSentence(health: ApiHealth): string {
  const { name, store, conditions } = health;
  if (store === "off") return `${name} has no memory.`;
  if (isOpening(health)) return `${name} is being opened.`;
  const bad = conditions.filter(({ state }) => state === "not_ok").length;
  const unknown = conditions.filter(({ state }) => state === "unknown").length;
  if (bad + unknown === 0) return standingOf(health) === "ok" ? `${name} is well.` : `${name} is not well.`;
  const parts = [
    bad > 0 && `${counted(bad, "thing")} ${bad === 1 ? "is" : "are"} not as ${bad === 1 ? "it" : "they"} should be`,
    unknown > 0 && `${counted(unknown, "thing")} ${unknown === 1 ? "is" : "are"} not known`,
  ].filter((part) => part !== false);
  return `${name}: ${listed(parts)}.`;
}

const UNITS = ["bytes", "kB", "MB", "GB", "TB"] as const;

export function bytesWords(bytes: number): string {
  const at = Math.min(UNITS.length - 1, bytes < 1_000 ? 0 : Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1_000 ** at;
  return `${value.toLocaleString("en", { maximumFractionDigits: value < 10 && at > 0 ? 1 : 0 })} ${UNITS[at]}`;
}

export function millisecondsWords(ms: number): string {
  return ms < 1_000 ? `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

export function lateWords(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} seconds late`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} minutes late`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} hours late` : `${Math.round(seconds / 86_400)} days late`;
}
