/** Sessions in words. */
import { useInfiniteQuery } from "@tanstack/react-query";
import type { ApiSessions } from "../../../../src/doors/http/api/types.ts";
import { sessionsQuery } from "../../api/queries.ts";
import { butlerPath } from "../../frame/link.tsx";
import { counted, projectWords } from "../../parts/words.ts";

export type Session = ApiSessions["sessions"][number];

export const sessionWords = ({ agent, project }: Session): string =>
  project === undefined ? agent : `${agent} in ${projectWords(project)}`;

export const sessionHref = (butler: string, id: string): string =>
  butlerPath(butler, `sessions/${encodeURIComponent(id)}`);

/** Each state with what it means, if its word does not say it. */
export const STATE_MEANS: Readonly<Record<Session["state"], string>> = {
  running: "It has not ended yet.",
  done: "It has ended.",
  failed: "The agent ended with an error.",
  lost: "It began more than a day ago, and its end was never logged.",
};

/** The last sessions of the log by the id that episodes name. */
export function useKnownSessions(butler: string): ReadonlyMap<string, Session> {
  const { data } = useInfiniteQuery(sessionsQuery(butler));
  return new Map(data?.pages.flatMap(({ sessions }) => sessions).map((session) => [session.session_id, session]));
}

/** What it was given at its start and later; the log says why it was given nothing. */
export function toldWords({ told, memory }: Pick<Session, "told" | "memory">): string {
  if (told.length === 0)
    return memory === "used" ? "what it was told is not in the log" : `was told nothing${because(memory)}`;
  const memories = told.reduce((sum, one) => sum + one.memories, 0);
  const tokens = told.reduce((sum, one) => sum + one.tokens, 0);
  const times = told.length > 1 ? `, in ${told.length} parts` : "";
  return `was told ${counted(memories, "memory")} (${counted(tokens, "token")}${times})`;
}

const because = (memory: string): string => (memory === "empty" ? ": nothing was known yet" : `: ${memory}`);
