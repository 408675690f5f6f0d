/** Stores the exchanges of a session that has ended, through the owner or, when that fails, in the spool. */

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
  /** How many are new; `LATER` when they wait in the spool. */
  readonly episodes: number;
  readonly tools: readonly string[];
}

/** The number of episodes is not known yet. */
export const LATER = -1;

const TRANSCRIPT_AGENT: TranscriptAgent = "claude-code";
const BATCH = 100;
/** Tags that are no names of tools. */
const OUTCOME_TAGS = new Set(["correction", "failure", "decision"]);

export async function storeSession(access: OwnerAccess, past: EndedSession): Promise<Stored> {
  const until = performance.now() + SESSION_WAIT_MS;
  const { exchanges, read, cut } = await exchangesOf(past, until);
  const tools = [...new Set(exchanges.flatMap(({ tags }) => tags))].filter((tag) => !OUTCOME_TAGS.has(tag)).sort();
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
    leaveInSpool(access, past, session, read ? undefined : rows);
    return { episodes: LATER, tools };
  }
}

interface SessionExchanges {
  readonly exchanges: readonly Exchange[];
  /** Whether they come from the transcript. */
  readonly read: boolean;
  /** Reading the transcript took longer than the caller waits: it is announced in the spool, and the owner reads it later. */
  readonly cut?: boolean;
}

/** From the transcript, or from the prompt and the answer where no transcript can be read. */
async function exchangesOf(past: EndedSession, until: number): Promise<SessionExchanges> {
  const { transcript: path, result } = past.ended;
  const exchanges: Exchange[] = [];
  if (path !== undefined) {
    const signal = AbortSignal.timeout(Math.max(1, Math.floor(until - performance.now())));
    try {
      for await (const one of readExchanges({ agent: TRANSCRIPT_AGENT, path, final: true, signal }))
        exchanges.push(one);
    } catch {
      // The prompt and the answer are stored instead.
    }
    if (exchanges.length > 0 || signal.aborted) return { exchanges, read: true, cut: signal.aborted };
  }
  const exchange = exchangeOf(askedOf(past.prompt), result, past.at);
  return { exchanges: exchange === undefined ? [] : [exchange], read: false };
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

function leaveInSpool(
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
    // In a home that cannot be written nothing else can be done; the session's answer was printed before.
  }
}
