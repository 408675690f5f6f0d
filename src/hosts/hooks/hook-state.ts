/** What the answers to hooks are made with. */

import type { Home } from "../../daemon/home.ts";
import type { Principal } from "../../doors/backend.ts";
import type { Clock } from "../../engine/adapters/clock.ts";
import type { Log } from "../../engine/adapters/log.ts";
import type { LruCache } from "../../engine/domain/collections/lru-cache.ts";
import type { Policy } from "../../engine/domain/redaction/policy.ts";
import type { Outcome, ToolRequest } from "../../engine/tools/outcome.ts";
import type { TypedCall } from "../../engine/tools/typed-call.ts";
import type { Given } from "../openings/opening-file.ts";
import type { Dialect, HookReading } from "./dialects.ts";
import type { Noticed } from "./notice.ts";
import type { Prompts } from "./prompts.ts";
import type { By } from "./spool/files.ts";
import type { Pickup } from "./spool/pickup.ts";

export interface HookParts {
  readonly home: Home;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether this butler has a memory at all. */
  remembers(butler: string): boolean;
  invoke(principal: Principal, butler: string, request: ToolRequest): Promise<Outcome>;
  readonly pickup: Pickup;
  /**
   * A number that is another one whenever this butler may have learned something; undefined where no line tells the person. Absent: none
   * does.
   */
  notices?(butler: string): number | undefined;
  /** A session is in this folder, whose project was not named explicitly. */
  seen?(butler: string, folder: string): void;
  /** What the settings of a butler take out of what is kept, beside secrets. */
  policy?(butler: string): Policy | undefined;
  /** How a hook that brings context was answered. */
  outcome?(butler: string, outcome: "told" | "late" | "without"): void;
  /** How long memory has for an answer. */
  readonly limitMs?: number;
  /** How long a prompt waits for a note that could be lost. */
  readonly noteMs?: number;
}

export interface HookState extends HookParts {
  readonly limitMs: number;
  readonly noteMs: number;
  readonly prompts: Prompts;
  readonly noticed: Noticed;
  /** Sessions whose first prompt is in the log, by key. */
  readonly asked: LruCache<string, true>;
  /**
   * The answers that are being sent, by session key. The next answer of a session waits for it, because what the session has been given is
   * known only when the answer has arrived or is lost.
   */
  readonly sending: Map<string, Promise<void>>;
  /** Where the transcripts of sessions are, as this process has written it down, by session key. */
  readonly announced: LruCache<string, string>;
  /** Announcements are written in the order of their events. */
  readonly announcing: (work: () => Promise<void>) => Promise<void>;
}

/** One event of an agent's session, read and assigned to a caller, a butler and a project. */
export interface SessionEvent {
  readonly by: By;
  readonly reading: HookReading;
  readonly agent: string;
  /** As the agent calls it. */
  readonly name: string;
  readonly butler: string;
  readonly project: string | undefined;
  /** The project was not named: it is that of the folder. */
  readonly ofFolder: boolean;
  /** Of the session, see `sessionKey`. */
  readonly key: string;
  readonly dialect: Dialect;
  /** The opening that the session has been given without asking. */
  readonly given: Given | undefined;
  /** When the agent went on without waiting for an answer, in milliseconds since 1970. */
  readonly gone: number | undefined;
  readonly call: TypedCall;
}

export const nowOf = ({ clock }: HookState): string => clock.now().toISOString();
