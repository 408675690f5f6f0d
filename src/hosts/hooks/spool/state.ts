/** The state of the spool for people: how much waits, what fails repeatedly, and what was given up. */
import type { Home } from "../../../daemon/home.ts";
import { failedRows, readRow, type Trouble, waitingRows } from "./rows.ts";
import { announcedKeys, readAnnounced, readProgress } from "./sessions.ts";

export interface Problem {
  readonly what: "exchange" | "session";
  /** The name of the file, or the id of the session. */
  readonly name: string;
  /** Undefined where the file cannot be read. */
  readonly butler: string | undefined;
  readonly code: string;
  readonly attempts: number;
  /** ISO time of the next attempt; absent: there is none. */
  readonly retry_at?: string;
  /** ISO time of the exchange. */
  readonly said_at?: string;
}

export interface SpoolState {
  /** Exchanges that will be stored with the next sweep. */
  readonly waiting: number;
  readonly troubled: readonly Problem[];
  readonly failed: readonly Problem[];
}

export function spoolState(home: Home): SpoolState {
  const rows = waitingRows(home).map((name) => ({ name, left: readRow(home, name) }));
  const troubled = [
    ...rows.flatMap(({ name, left }) =>
      left?.trouble ? [problem("exchange", name, left.butler, left.trouble, left.row.occurred_at)] : [],
    ),
    ...announcedKeys(home).flatMap((key) => {
      const entry = readAnnounced(home, key);
      const trouble = readProgress(home, key)?.trouble;
      return entry && trouble ? [problem("session", entry.session, entry.butler, trouble, undefined)] : [];
    }),
  ];
  const failed = failedRows(home).map(({ said_at, ...row }): Problem => {
    return { what: "exchange", ...row, ...(said_at === undefined ? {} : { said_at }) };
  });
  return { waiting: rows.filter(({ left }) => left?.trouble === undefined).length, troubled, failed };
}

function problem(what: Problem["what"], name: string, butler: string, trouble: Trouble, said: unknown): Problem {
  return { what, name, butler, ...trouble, ...(typeof said === "string" ? { said_at: said } : {}) };
}
