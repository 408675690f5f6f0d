/** What happened, as `butler log` tells it: made of the log of sessions and of the events of the stream. Pure. */
import { butlerOf } from "../../engine/domain/scope.ts";
import type { ToolAnswer } from "../../engine/tools/index.ts";
import { AGENT_NAMES } from "../../hosts/hooks/dialects.ts";
import type { SessionLogEvent, SessionStarted } from "../../hosts/sessions/session-log.ts";

export type StreamEvent = ToolAnswer<"memory_activity_stream">["events"][number];

/** One line of the log. */
export interface Happening {
  readonly at: string;
  readonly butler: string;
  /** Of the agent that said it or that it was told to. */
  readonly session?: string;
  readonly agent?: string;
  readonly project?: string;
  /** Who did it: `local` is the person at the command line, `job:<name>` a job. */
  readonly by?: string;
  readonly what: string;
  readonly type?: string;
  readonly id?: string;
  /** Of the memory now. */
  readonly state?: string;
  /** Absent when the memory was forgotten or is gone. */
  readonly text?: string;
  /** What stood there before. */
  readonly was?: string;
  readonly trust?: string;
  /** Who read the episodes that it was learned from. */
  readonly reader?: string;
  /** How sure its reader was, from 0 to 1; `hint`: not sure enough to tell it to anybody. */
  readonly sureness?: number;
  readonly hint?: boolean;
  /** Where it went: a maturity, a tier; of a session, what it began with or how it ended. */
  readonly note?: string;
  readonly ids?: readonly string[];
  readonly tokens?: number;
  /** How many alike it stands for. */
  readonly count?: number;
}

/** The sessions that are known, by the id that episodes carry. */
export type KnownSessions = ReadonlyMap<string, Pick<SessionStarted, "butler" | "agent" | "project">>;

export function ofSessionLog(event: SessionLogEvent, known: KnownSessions): Happening | undefined {
  if ("started" in event) {
    const { id, at, butler, agent, project, memory } = event.started;
    return { at, butler, session: id, agent, ...some({ project }), what: "began", note: memory };
  }
  // What is said is told when it is stored.
  if ("asked" in event) return undefined;
  const { id, at } = "told" in event ? event.told : event.ended;
  const session = known.get(id);
  if (session === undefined) return undefined;
  const about = { at, session: id, ...session };
  if ("ended" in event) return { ...about, what: "ended", note: event.ended.state };
  const { ids, tokens } = event.told;
  return { ...about, what: "told", ids, tokens, count: ids.length };
}

/** A word for each event that is not simply called by its own name. */
const WORDS: Readonly<Record<string, string>> = {
  "episode.dead_lettered": "gave up",
  "episode.failed": "gave up",
  "episode.redriven": "tries again",
  "fact.stored": "learned",
  "fact.repeated": "confirmed",
  "fact.contradicted": "doubted",
  "fact.began": "became true",
  "fact.review_expired": "no longer under review",
  "rule.review_expired": "no longer under review",
  "rule.stored": "learned",
  "rule.repeated": "confirmed",
  "rule.contradicted": "doubted",
  "rule.inverted": "is a warning now",
  "rule.marked_helpful": "helped",
  "rule.marked_harmful": "harmed",
};

/** Undefined for an event that another one tells as well. */
export function ofStream(butler: string, event: StreamEvent, known: KnownSessions): Happening | undefined {
  const { event_type: name, entity_type, payload } = event;
  if (name === "learning.reset")
    return { ...placeOf(butler, event, known), by: event.actor, what: "reset", text: RESET };
  if (name.startsWith("access.")) return ofAccess(butler, event);
  if (entity_type === "consolidation")
    return name === "consolidation.failed" ? failedReading(butler, event) : undefined;
  if (name === "fact.superseded" && payload.superseded_by !== undefined) return undefined;
  const what = WORDS[name] ?? name.slice(name.indexOf(".") + 1).replaceAll("_", " ");
  const { memory, replaced, reader, actor } = event;
  return {
    ...placeOf(butler, event, known),
    by: actor,
    what: replaced === undefined || what !== "learned" ? what : "changed",
    type: entity_type,
    id: event.entity_id,
    ...some({ state: memory?.state, text: memory?.text, trust: memory?.trust, was: replaced?.text, reader }),
    ...some({ sureness: memory?.learned?.sureness, hint: memory?.learned?.hint }),
    ...some({ note: noteOf(event) }),
  };
}

/** Somebody was turned away, or looked in from another tenant. */
function ofAccess(butler: string, event: StreamEvent): Happening {
  const { kind, door, count, tool } = event.payload;
  const place = { ...placeOf(butler, event, new Map()), by: event.actor };
  if (event.event_type === "access.elevated")
    return { ...place, what: "looked in", text: `${event.actor} of another tenant called ${String(tool)}` };
  const times = count === 1 ? "once" : `${String(count)} times`;
  return {
    ...place,
    what: "refused",
    text: `${event.actor} was turned away ${times} at the door ${String(door)}: ${String(kind)}`,
  };
}

const RESET = "how sure the reader must be is as shipped again";

function failedReading(butler: string, event: StreamEvent): Happening {
  const { kind, provider, episodes } = event.payload;
  return {
    ...placeOf(butler, event, new Map()),
    by: event.actor,
    what: "failed",
    text: `${episodes} exchanges could not be read by ${provider} (${String(kind).replaceAll("_", " ")})`,
  };
}

function placeOf(butler: string, event: StreamEvent, known: KnownSessions) {
  const session = event.sessions?.map(sessionName)[0];
  const own = butlerOf(event.butler);
  const project = event.butler === own ? undefined : event.butler.slice(own.length + 1);
  const { agent, project: named = project } = (session === undefined ? undefined : known.get(session)) ?? {};
  return { at: event.occurred_at, butler, ...some({ session, agent, project: named }) };
}

/** A hook calls as `<agent>:<session>`; episodes carry the session alone. */
export function sessionName(session: string): string {
  const agent = AGENT_NAMES.find((name) => session.startsWith(`${name}:`));
  return agent === undefined ? session : session.slice(agent.length + 1);
}

const LEVEL_EVENTS = new Set(["rule.promoted", "rule.demoted", "episode.promoted"]);

function noteOf({ event_type, payload }: StreamEvent): string | undefined {
  const { from, to, why } = payload;
  if (LEVEL_EVENTS.has(event_type) && typeof to === "string") return `${from} → ${to}`;
  return typeof why === "string" ? why.replaceAll("_", " ") : undefined;
}

/** So many alike in a row become one. */
const MANY = 4;

/** What a job did to many memories, or many exchanges of one session that were stored at once, is told in one line. */
export function together(happenings: readonly Happening[]): Happening[] {
  const groups: Happening[][] = [];
  for (const one of happenings) {
    const last = groups.at(-1);
    if (last?.[0] && alike(last[0], one)) last.push(one);
    else groups.push([one]);
  }
  return groups.flatMap((group) => (group.length < MANY ? group : [summaryOf(group)]));
}

const alike = (a: Happening, b: Happening): boolean =>
  (b.by?.startsWith("job:") === true || b.what === "stored") &&
  (["butler", "session", "by", "what", "type"] as const).every((field) => a[field] === b[field]) &&
  // What was learned is worth a line of its own.
  b.what !== "learned" &&
  b.what !== "changed";

function summaryOf(group: readonly Happening[]): Happening {
  const { id: _, state: __, text: ___, was: ____, note: _____, ...rest } = group.at(-1) ?? (group[0] as Happening);
  return { ...rest, count: group.length };
}

/** Without the fields that are undefined. */
export const some = <T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
