/** What an owner that was started says to its starter. */

/** The owner's first and only words on descriptor 3: `ready`, `held` (another owner came first), or why it failed. */
export const REPORT_FD = 3;
export type StartReport = { readonly state: "ready" | "held" } | { readonly state: "failed"; readonly reason: string };

export function failureNote(reason: string): string {
  return `${JSON.stringify({ pid: process.pid, reason })}\n`;
}
