/** Small things of the page. */
import type { Worth } from "../../src/lab/everyday/week/script.ts";

export const isTrueAt = ({ from, until }: Worth, session: number): boolean => from < session && session <= until;

export const percent = (part: number, all: number): string => `${Math.round((100 * part) / Math.max(1, all))} %`;

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/** Of a date such as 2026-03-02. */
export const dayName = (date: string): string => DAYS[new Date(`${date}T00:00:00Z`).getUTCDay()] ?? date;

export const table = (heads: readonly string[]): string[] => [
  `| ${heads.join(" | ")} |`,
  `|${heads.map(() => "---").join("|")}|`,
];

/** Ids of a store are other ones in each run. */
const SHORT_ID = /(?<=\(\w+), [0-9a-z]{8}(?=\))/g;

/** What people and agents wrote shows as they wrote it, whatever it means in Markdown. */
export const cell = (text: string): string =>
  text
    .replace(SHORT_ID, "")
    .replace(/\s+/g, " ")
    .replace(/[\\`*_<>|[\]~]/g, "\\$&");

export function quoted(text: string, longest: number): string {
  const flat = text.replace(/\s+/g, " ").trim();
  return cell(flat.length <= longest ? flat : `${flat.slice(0, longest)} …`);
}
