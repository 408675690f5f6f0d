/** What an owner tells the process that started it. */

/** On this file descriptor the owner writes one line: `ready`, `held` (another owner came first), or why it failed. */
export const REPORT_FD = 3;
export type StartReport = { readonly state: "ready" | "held" } | { readonly state: "failed"; readonly reason: string };

export function failureNote(reason: string): string {
  return `${JSON.stringify({ pid: process.pid, reason })}\n`;
}
