/** An exchange as a row of `memory_ingest_batch`. */
import { createHash } from "node:crypto";
import { EXCHANGE_FORMAT } from "../../engine/domain/learning/exchange.ts";
import { cleanText, hasNul, isBlank, isWellFormed } from "../../engine/domain/text/text.ts";
import type { ToolInput } from "../../engine/tools/index.ts";
import type { Exchange } from "./read.ts";

export type EpisodeRow = ToolInput<"memory_ingest_batch">["episodes"][number];

export interface About {
  readonly agent: string;
  readonly session: string;
  readonly folder?: string;
  readonly project?: string | undefined;
}

const ORDINARY = 5;
const NOTABLE = 7;
/** The longest name and key that a row may have. */
const LONGEST = 200;

/** Remote callers name folders too: a row in the spool stays small whatever they send. The cut may go through a sign of two parts. */
const LONGEST_PATH = 1_000;

/** The same exchange gives the same row, and so one episode, whether it comes from a hook, an import or `butler run`, and however often. */
export function episodeOf(exchange: Exchange, about: About): EpisodeRow {
  const { agent, session, folder, project } = about;
  const notable = exchange.tags.includes("correction") || exchange.tags.includes("decision");
  return {
    content: exchange.content,
    session_id: sessionIdOf(session),
    importance: notable ? NOTABLE : ORDINARY,
    tags: [...exchange.tags],
    occurred_at: exchange.at,
    metadata: {
      ...{ format: EXCHANGE_FORMAT, agent },
      ...(folder === undefined ? {} : { folder: cleanText(folder.slice(0, LONGEST_PATH)) }),
      ...(project === undefined ? {} : { project }),
    },
    idempotency_key: short(`transcript:${agent}:${nameOf(exchange.key, session)}`),
  };
}

/** The session of an episode as it is stored. */
export const sessionIdOf = (session: string): string => short(session);

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A resumed session may begin with a copy of the old one under a new id; its prompts keep their ids. */
const nameOf = (key: string, session: string): string => (UUID.test(key) ? key : `${session}:${key}`);

/** An id that is too long, or that no store takes, goes by its digest: one odd transcript must not end the import of all others. */
function short(text: string): string {
  if (!isWellFormed(text) || hasNul(text) || isBlank(text)) return `unreadable:${digestOf(text)}`;
  return text.length <= LONGEST ? text : `${text.slice(0, 100).replace(/[\ud800-\udbff]$/, "")}:${digestOf(text)}`;
}

const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex");
