/**
 * One line for the person about what was learned since their project was last told: facts and rules that were learned or changed without
 * them looking. Exchanges that were merely stored are no news (every turn stores one), nor is what was confirmed, nor what the person
 * stored themselves at the command line. Nothing waits for it: a line that is not ready in time comes with the next prompt.
 */

import { type LruCache, lruCache } from "../../engine/domain/collections/lru-cache.ts";
import { factSentence } from "../../engine/domain/fact.ts";
import { projectScope } from "../../engine/domain/scope.ts";
import { neutralLine } from "../../engine/domain/text/neutral.ts";
import { PRIVATE_MARK } from "../../engine/domain/text/private.ts";
import { clip } from "../../engine/domain/text/text.ts";
import type { ToolAnswer } from "../../engine/tools/index.ts";
import { faultOf } from "./fault.ts";
import type { HookState, SessionEvent } from "./hook-state.ts";
import { readJson, writeJson } from "./spool/files.ts";
import { sessionKey } from "./spool/sessions.ts";

export interface Notice {
  /** Undefined when there is nothing to say, or it is not known yet. */
  line(): string | undefined;
  /** The answer has left; `shown`: with the line. */
  settled(shown: boolean): void;
}

type LearnedEvent = ToolAnswer<"memory_activity_stream">["events"][number];

/** What projects were told, by the key of each; kept in the memory of the owner. */
export interface Noticed {
  /** What `notices` said at the last look: a look takes 5 ms of a prompt's 20, and is made only when there may be news. */
  readonly changedAt: LruCache<string, number>;
  /** Whose line is being sent: two sessions of a project are not told the same. */
  readonly telling: Set<string>;
  /** Lines that were found when their prompt had been answered: a prompt may be answered sooner than any look is made, each time. */
  readonly waiting: LruCache<string, Waiting>;
}

interface Waiting {
  /** What `notices` said at that look: what was forgotten or changed since is looked up anew. */
  readonly changed: number;
  readonly found: Found;
}

/** Callers name their projects: however many they name, so many are remembered. */
const MOST_PROJECTS = 1_000;

export const noticed = (): Noticed => ({
  changedAt: lruCache(MOST_PROJECTS),
  telling: new Set(),
  waiting: lruCache(MOST_PROJECTS),
});

const SILENT: Notice = { line: () => undefined, settled: () => undefined };

/** Cursor would put the line into the conversation, before its model. */
const SHOW_MESSAGES = new Set(["claude-code", "codex", "gemini", "opencode"]);

const CURSOR_FILE = ".told.json";
const PAGE = 1_000;

/** Begins to look, beside the search for context. Never throws. */
export function lookForNotice(state: HookState, event: SessionEvent): Notice {
  try {
    return lookFor(state, event);
  } catch (error) {
    state.log.warn({ reason: faultOf(error) }, "what was learned could not be looked up");
    return SILENT;
  }
}

function lookFor(state: HookState, event: SessionEvent): Notice {
  const { by, butler, project, agent } = event;
  const { noticed: before } = state;
  const changed = SHOW_MESSAGES.has(agent) ? state.notices?.(butler) : undefined;
  if (changed === undefined) return SILENT;
  const key = sessionKey({ by, butler, agent: "", session: project ?? "" });
  if (before.telling.has(key) || before.changedAt.get(key) === changed) return SILENT;
  before.telling.add(key);
  const waiting = before.waiting.get(key);
  let found = waiting?.changed === changed ? waiting.found : undefined;
  let over = false;
  if (found === undefined)
    void look(state, event, key)
      .then((answer) => {
        found = answer;
        // Only a look that was made is not repeated until the memory changes again.
        if (answer !== undefined && answer.line === undefined) before.changedAt.set(key, changed);
        else if (answer !== undefined) before.waiting.set(key, { changed, found: answer });
      })
      .catch((error: unknown) => state.log.warn({ reason: faultOf(error) }, "what was learned could not be looked up"))
      .finally(() => {
        if (over || found?.line === undefined) before.telling.delete(key);
      });
  return {
    line: () => found?.line,
    settled(shown) {
      over = true;
      before.telling.delete(key);
      if (!shown || found?.line === undefined) return;
      before.changedAt.set(key, changed);
      try {
        saveCursor(state, key, found.cursor);
      } catch (error) {
        // The same line would come again with the next change.
        state.log.warn({ reason: faultOf(error) }, "what was told could not be noted");
      }
    },
  };
}

interface Found {
  readonly line: string | undefined;
  readonly cursor: string;
}

const saveCursor = (state: HookState, key: string, cursor: string): void =>
  writeJson(state.home.spool, `${key}${CURSOR_FILE}`, { cursor });

async function look(state: HookState, event: SessionEvent, key: string): Promise<Found | undefined> {
  const told = readJson<{ readonly cursor?: unknown }>(state.home.spool, `${key}${CURSOR_FILE}`);
  return lookAfter(state, event, key, typeof told?.cursor === "string" ? told.cursor : undefined);
}

async function lookAfter(
  state: HookState,
  event: SessionEvent,
  key: string,
  cursor: string | undefined,
): Promise<Found | undefined> {
  const { butler, project, call } = event;
  // What was learned before a project had hooks is no news.
  const where = cursor === undefined ? { newest: true, limit: 1 } : { cursor, limit: PAGE };
  const outcome = await call("memory_activity_stream", { changes: true, ...where });
  // The place of another store, such as one that was deleted.
  if (!outcome.ok && cursor !== undefined && outcome.error.code === "invalid_input")
    return lookAfter(state, event, key, undefined);
  if (!outcome.ok) return undefined;
  const { events, next_cursor } = outcome.answer;
  const step = project === undefined ? butler : projectScope(butler, project);
  const own = cursor === undefined ? [] : events.filter((one) => isNews(one, step));
  const line = own.length === 0 ? undefined : noticeLine(own);
  if (line === undefined && next_cursor !== cursor) saveCursor(state, key, next_cursor);
  return { line, cursor: next_cursor };
}

const NEWS = new Set(["fact.stored", "rule.stored"]);

/** Learned in this project: what came from another one is told there. */
const isNews = ({ event_type, butler, actor, memory }: LearnedEvent, own: string): boolean =>
  NEWS.has(event_type) &&
  butler === own &&
  actor !== "local" &&
  (memory?.state === "active" || memory?.state === "fading");

const LONGEST = 160;
const LONGEST_ITEM = 60;
const REDACTED = /\[redacted:/;

/** Of at most 160 characters. What holds a secret or a private mark is counted and not quoted. */
export function noticeLine(learned: readonly Pick<LearnedEvent, "memory" | "replaced">[]): string {
  const total = learned.length === 1 ? "1 thing" : `${learned.length} things`;
  const begin = `Butler Memory learned ${total}`;
  const end = " · butler log shows more";
  let line = begin;
  let quoted = 0;
  for (const { memory, replaced } of learned) {
    const text = memory?.text ?? "";
    if (text === "" || REDACTED.test(text) || text.includes(PRIVATE_MARK)) continue;
    const said = memory?.type === "fact" ? factSentence(text) : text;
    const verb = replaced === undefined ? memory?.type : `changed ${memory?.type}`;
    const item = `${quoted === 0 ? ": " : " · "}${verb} “${clip(neutralLine(clip(said, 400)), LONGEST_ITEM)}”`;
    if (line.length + item.length + end.length > LONGEST) break;
    line += item;
    quoted += 1;
  }
  return `${line}${end}`;
}
