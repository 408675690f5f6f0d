/** The checks that a memory passes on its way into an answer, in their order. */
export const CHECKS = [
  "exists",
  "scope",
  "forgotten",
  "superseded",
  "expired",
  "valid",
  "outranked",
  "types",
  "tier",
  "tags",
  "confidence",
  "trust",
  "profile",
  "found",
  "relevance",
  "place",
  "variety",
  "said",
  "room",
] as const;
export type Check = (typeof CHECKS)[number];

/** `ok`: here nothing kept the memory out. A memory is shown when every step is ok. */
export interface Step {
  readonly check: Check;
  readonly ok: boolean;
  readonly words: string;
}

export const step = (check: Check, ok: boolean, words: string): Step => ({ check, ok, words });

export const quoted = (words: readonly string[]): string => listed(words.map((word) => `“${word}”`));

export function listed(words: readonly string[]): string {
  const last = words.at(-1) ?? "";
  return words.length < 2 ? last : `${words.slice(0, -1).join(", ")} and ${last}`;
}

/** 2026-03-01 12:00 UTC */
export const at = (time: Date): string => `${time.toISOString().slice(0, 16).replace("T", " ")} UTC`;

export const round = (value: number): string => value.toFixed(3);
