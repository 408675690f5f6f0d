/** What a session leaves behind: its exchanges as episodes, handed to the owner or left for it as files. */

import type { OwnerAccess } from "../../daemon/line/ask-owner.ts";
import type { Outcome } from "../../engine/tools/outcome.ts";
import type { AgentResult } from "../agents/port.ts";
import { spoolRow } from "../hooks/spool/rows.ts";
import { announce } from "../hooks/spool/sessions.ts";
import { type EpisodeRow, episodeOf } from "../transcripts/episodes.ts";
import { askedOf, exchangeOf } from "../transcripts/prompt-reply.ts";
import { type Exchange, readExchanges, type TranscriptAgent } from "../transcripts/read.ts";
import { askOwner, SESSION_WAIT_MS } from "./ask-owner.ts";

export interface EndedSession {
  readonly butler: string;
  readonly agent: string;
  /** Our own name for the session. */
  readonly session: string;
  readonly prompt: string;
  readonly folder: string;
  readonly project: string | undefined;
  /** ISO time of its beginning. */
  readonly at: string;
  readonly now: string | undefined;
  readonly ended: AgentResult;
}

export interface Stored {
  /** New ones; -1 when they wait for the owner. */
  readonly episodes: number;
  readonly tools: readonly string[];
}

/** Left for later: told apart from none. */
export const LATER = -1;

const TRANSCRIPT_AGENT: TranscriptAgent = "claude-code";
const BATCH = 100;
/** Tags that say how an exchange went, not what was used in it. */
const HOW_IT_WENT = new Set(["correction", "failure", "decision"]);

export async function storeSession(access: OwnerAccess, past: EndedSession): Promise<Stored> {
  const until = performance.now() + SESSION_WAIT_MS;
  const { exchanges, read, cut } = await exchangesOf(past, until);
  const tools = [...new Set(exchanges.flatMap(({ tags }) => tags))].filter((tag) => !HOW_IT_WENT.has(tag)).sort();
  const session = read ? (past.ended.sessionId ?? past.session) : past.session;
  const { agent, folder, project } = past;
  const about = { agent, session, folder, ...(project === undefined ? {} : { project }) };
  const rows = exchanges.map((exchange) => episodeOf(exchange, about));
  try {
    if (cut === true) throw new Error("the transcript was not read to its end");
    let episodes = 0;
    for (let at = 0; at < rows.length; at += BATCH)
      episodes += await ingest(access, past, session, rows.slice(at, at + BATCH), until);
    return { episodes, tools };
  } catch {
    leave(access, past, session, read ? undefined : rows);
    return { episodes: LATER, tools };
  }
}

interface Told {
  readonly exchanges: readonly Exchange[];
  /** They come from the transcript. */
  readonly read: boolean;
  /** It takes longer than a host waits: it is announced, and the owner reads it in its own time. */
  readonly cut?: boolean;
}

/** From the transcript; without one that can be read, the prompt and the answer are what is known. */
async function exchangesOf(past: EndedSession, until: number): Promise<Told> {
  const { transcript: path, result } = past.ended;
  const exchanges: Exchange[] = [];
  if (path !== undefined) {
    const signal = AbortSignal.timeout(Math.max(1, Math.floor(until - performance.now())));
    try {
      for await (const one of readExchanges({ agent: TRANSCRIPT_AGENT, path, final: true, signal }))
        exchanges.push(one);
    } catch {
      // As good as none.
    }
    if (exchanges.length > 0 || signal.aborted) return { exchanges, read: true, cut: signal.aborted };
  }
  const spoken = exchangeOf(askedOf(past.prompt), result, past.at);
  return { exchanges: spoken === undefined ? [] : [spoken], read: false };
}

async function ingest(
  access: OwnerAccess,
  { butler, project, now }: EndedSession,
  session: string,
  episodes: readonly Record<string, unknown>[],
  until: number,
): Promise<number> {
  const request = {
    tool: "memory_ingest_batch",
    input: { episodes },
    session,
    ...(project === undefined ? {} : { project }),
    ...(now === undefined ? {} : { now }),
  };
  const body = { butler, agent: true, voice: "user", request };
  const outcome = (await askOwner(access, "/owner/call", body, until)) as Outcome;
  if (!outcome.ok) throw new Error(outcome.error.message);
  const results = outcome.answer.results as readonly { readonly ok: boolean; readonly duplicate?: boolean }[];
  return results.filter(({ ok, duplicate }) => ok && duplicate !== true).length;
}

function leave(
  { home }: OwnerAccess,
  { butler, folder, project, ended }: EndedSession,
  session: string,
  rows: readonly EpisodeRow[] | undefined,
): void {
  try {
    if (rows !== undefined) for (const row of rows) spoolRow(home, { by: "local", butler, project, row });
    else if (ended.transcript !== undefined)
      announce(home, {
        by: "local",
        agent: TRANSCRIPT_AGENT,
        session,
        butler,
        transcript: ended.transcript,
        folder,
        ended: true,
        ...(project === undefined ? {} : { project }),
      });
  } catch {
    // A home that cannot be written: the session's answer is out, and nothing else can be done.
  }
}
