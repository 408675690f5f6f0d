/** What a session was told, what was stored of it and what was learned from it, with every memory as it is now. */
import type { OwnerClient } from "../../daemon/line/client.ts";
import type { SessionRecord } from "../../hosts/sessions/read-sessions.ts";
import { sessionIdOf } from "../../hosts/transcripts/episodes.ts";
import { askStream, type StreamAnswer } from "./ask-stream.ts";
import { type Happening, ofStream, type StreamEvent, sessionName, some } from "./happenings.ts";

type Seen = StreamEvent["memory"];

export interface SessionReport {
  readonly session: SessionRecord["session"];
  readonly told: readonly {
    readonly at: string;
    readonly tokens: number;
    readonly memories: readonly { readonly id: string; readonly memory?: Seen }[];
  }[];
  /** Exchanges. */
  readonly stored: readonly Happening[];
  /** Facts and rules, each once: as it was learned, in the state that it is in now. */
  readonly learned: readonly Happening[];
  /** Why the memories are not shown. */
  readonly why?: string;
}

export async function sessionReport(client: OwnerClient, { session, told }: SessionRecord): Promise<SessionReport> {
  const ids = [...new Set(told.flatMap((one) => one.ids))];
  const given = ids.length === 0 ? NONE : await askStream(client, session.butler, { ids });
  const name = sessionIdOf(session.id);
  const own = await askStream(client, session.butler, { session_id: name });
  const seen = new Map(eventsOf(given).map(({ entity_id, memory }) => [entity_id, memory]));
  const known = new Map([[name, { butler: session.butler, agent: session.agent }]]);
  // What other sessions did to the same memories is not this one's.
  const ofThis = eventsOf(own).filter(({ sessions = [] }) => sessions.map(sessionName).includes(name));
  const happenings = ofThis.flatMap((event) => ofStream(session.butler, event, known) ?? []);
  const failed = [given, own].flatMap((answer) => ("failure" in answer ? [answer.failure.message] : []));
  return {
    session,
    told: told.map(({ at, tokens, ids: list }) => ({
      at,
      tokens,
      memories: list.map((id) => ({ id, ...some({ memory: seen.get(id) }) })),
    })),
    stored: happenings.filter(({ type, what }) => type === "episode" && what === "stored"),
    learned: learnedIn(happenings),
    ...(failed[0] === undefined ? {} : { why: failed[0] }),
  };
}

const NONE: StreamAnswer = { events: [], cursor: "" };
const eventsOf = (answer: StreamAnswer): readonly StreamEvent[] => ("failure" in answer ? [] : answer.events);

const LEARNED = new Set(["learned", "changed", "confirmed"]);

function learnedIn(happenings: readonly Happening[]): Happening[] {
  const first = new Map<string, Happening>();
  for (const one of happenings)
    if (LEARNED.has(one.what) && one.type !== "episode" && one.id !== undefined && !first.has(one.id))
      first.set(one.id, one);
  return [...first.values()];
}
