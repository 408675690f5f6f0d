/** Brings together what the log of sessions and the streams of all butlers tell, from the past and as it comes. */
import type { Home } from "../../daemon/home.ts";
import type { OwnerClient } from "../../daemon/line/client.ts";
import { type FollowedLog, followLog } from "../../hosts/sessions/follow-log.ts";
import type { SessionLogEvent, SessionStarted } from "../../hosts/sessions/session-log.ts";
import { askStream, type StreamQuestion } from "./ask-stream.ts";
import { type Happening, ofSessionLog, ofStream } from "./happenings.ts";

export interface LogFilter {
  readonly butler?: string | undefined;
  /** The whole id. */
  readonly session?: string | undefined;
  readonly project?: string | undefined;
  /** ISO time. */
  readonly since?: string | undefined;
}

export interface LogReader {
  /** The last of what happened; `limit` of each butler. */
  past(client: OwnerClient, butlers: readonly string[], limit: number): Promise<Happening[]>;
  /** What has happened since; `changed` names the butlers to ask. Those that cannot be asked now are asked the next time. */
  next(client: OwnerClient, changed: ReadonlySet<string>): Promise<Happening[]>;
}

interface ReaderState {
  readonly filter: LogFilter;
  readonly sessionLog: FollowedLog;
  /** By the id that their episodes carry. */
  readonly known: Map<string, Pick<SessionStarted, "butler" | "agent" | "project">>;
  /** Ids of sessions that have ended: an end is noted again when their transcript is read. */
  readonly ended: Set<string>;
  /** Where each stream is read on. */
  readonly cursors: Map<string, string>;
  /** Butlers that have changed and could not be asked. */
  readonly waiting: Set<string>;
  readonly begun: string;
  /** A sentence for the person; said once. */
  note(line: string): void;
}

export interface ReaderParts {
  readonly home: Home;
  readonly filter: LogFilter;
  readonly now: Date;
  note(line: string): void;
}

/** A project is looked for in this many of the last events. */
const LOOKED_AT = 1_000;

export function logReader({ home, filter, now, note }: ReaderParts): LogReader {
  const said = new Set<string>();
  const state: ReaderState = {
    filter,
    sessionLog: followLog(home),
    known: new Map(),
    ended: new Set(),
    cursors: new Map(),
    waiting: new Set(),
    begun: now.toISOString(),
    note(line) {
      if (!said.has(line)) note(line);
      said.add(line);
    },
  };
  return {
    past: (client, butlers, limit) => past(state, client, butlers, limit),
    next: (client, changed) => next(state, client, changed),
  };
}

async function past(
  state: ReaderState,
  client: OwnerClient,
  butlers: readonly string[],
  limit: number,
): Promise<Happening[]> {
  const sessions = readSessionLog(state);
  const { since, project } = state.filter;
  const newest = since === undefined ? (project === undefined ? limit : LOOKED_AT) : undefined;
  const told: Happening[] = [];
  for (const butler of butlers) told.push(...(await askOne(state, client, butler, { newest })));
  return inOrder([...sessions, ...told].filter((one) => matches(state.filter, one))).slice(-limit);
}

async function next(state: ReaderState, client: OwnerClient, changed: ReadonlySet<string>): Promise<Happening[]> {
  const sessions = readSessionLog(state);
  const asked = new Set([...changed, ...state.waiting, ...sessions.map(({ butler }) => butler)]);
  const told: Happening[] = [];
  for (const butler of asked) {
    if (state.filter.butler !== undefined && butler !== state.filter.butler) continue;
    const cursor = state.cursors.get(butler);
    told.push(...(await askOne(state, client, butler, cursor === undefined ? { since: state.begun } : { cursor })));
  }
  return inOrder([...sessions, ...told].filter((one) => matches(state.filter, one)));
}

async function askOne(
  state: ReaderState,
  client: OwnerClient,
  butler: string,
  where: StreamQuestion,
): Promise<Happening[]> {
  const { session: session_id, since } = state.filter;
  const answer = await askStream(client, butler, { since, ...where, session_id });
  if ("failure" in answer) {
    state.waiting.add(butler);
    state.note(`${butler}: ${answer.failure.message}`);
    return [];
  }
  state.waiting.delete(butler);
  state.cursors.set(butler, answer.cursor);
  return answer.events.flatMap((event) => ofStream(butler, event, state.known) ?? []);
}

function readSessionLog(state: ReaderState): Happening[] {
  return state.sessionLog.read().flatMap((event) => {
    if ("ended" in event && state.ended.has(event.ended.id)) return [];
    learnSession(state, event);
    return ofSessionLog(event, state.known) ?? [];
  });
}

function learnSession({ known, ended }: ReaderState, event: SessionLogEvent): void {
  if ("ended" in event) ended.add(event.ended.id);
  if (!("started" in event)) return;
  const { id, butler, agent, project } = event.started;
  ended.delete(id);
  known.set(id, { butler, agent, ...(project === undefined ? {} : { project }) });
}

function matches({ butler, session, project, since }: LogFilter, happening: Happening): boolean {
  if (butler !== undefined && happening.butler !== butler) return false;
  if (session !== undefined && happening.session !== session) return false;
  if (project !== undefined && happening.project !== project) return false;
  return since === undefined || Date.parse(happening.at) >= Date.parse(since);
}

/** Of the same moment, sessions come first: what they were told before what they said. */
const inOrder = (happenings: readonly Happening[]): Happening[] =>
  happenings.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
