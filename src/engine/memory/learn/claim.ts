/** Claims a batch: the oldest episodes of a shard, under a lease that keeps every other run from that shard. */
import type { EpisodeShown, Material } from "../../adapters/extractor/port.ts";
import { dialogueOf, EXCHANGE_FORMAT, turnsOf } from "../../domain/learning/exchange.ts";
import { atMost, type Trust } from "../../domain/learning/trust.ts";
import { withoutOwnBlock } from "../../domain/text/own-block.ts";
import { clip } from "../../domain/text/text.ts";
import { appendEvents } from "../../store/history/events.ts";
import {
  type BatchEpisode,
  dropRun,
  dueEpisodes,
  openRun,
  type Run,
  reserve,
  type Shard,
  setBatch,
} from "../../store/jobs/consolidation.ts";
import type { Call } from "../memory.ts";
import { asOwner } from "../tenancy.ts";
import { countAttempt, setStatuses, statusOf } from "./episode-status.ts";
import { sizeAllowed } from "./provider-trouble.ts";

export const ATTEMPTS = 5;
const LEASE_MS = 300_000;
const MOST_EPISODES = 100;

export interface Claimed {
  readonly run: Run;
  readonly episodes: readonly BatchEpisode[];
}

export interface Asker {
  readonly provider: string;
  readonly model: string;
  readonly maxChars: number;
  readonly maxEpisodes?: number | undefined;
}

/** Episodes that failed together are tried again in smaller batches: 100, 25, 6, 1. One that makes its batch fail ends up alone. */
const batchSize = (attempts: number): number => Math.max(1, Math.floor(MOST_EPISODES / 4 ** attempts));

const shardOf = ({ caller }: Call): Shard => ({ tenant: caller.tenant, butler: caller.butler });

/** `busy` when another run holds this shard; undefined when nothing waits. `only`: ids, and no others are claimed. */
export async function claim(
  call: Call,
  asker: Asker,
  only?: ReadonlySet<string>,
): Promise<Claimed | "busy" | undefined> {
  const { memory, now } = call;
  return memory.db.tx(async (sql) => {
    const allowed = await sizeAllowed(sql, shardOf(call), asker.provider, now);
    const most = Math.min(allowed, asker.maxEpisodes ?? MOST_EPISODES);
    const run = newRun(call, asker);
    const opened = await openRun(sql, run);
    // Only now: what was due before may have been learned by the run that held the shard until a moment ago.
    const waiting = await dueEpisodes(sql, shardOf(call), now, most);
    const due = only === undefined ? waiting : waiting.filter(({ id }) => only.has(id));
    if (!opened) return due.length === 0 ? undefined : "busy";
    const exhausted = due.filter(({ consolidation_attempts: attempts }) => attempts >= ATTEMPTS);
    if (exhausted.length > 0)
      await appendEvents(sql, await setStatuses(call, sql, run, exhausted.map(exhaustedStatus)));
    const episodes = fitting(
      due.filter((episode) => !exhausted.includes(episode)),
      asker.maxChars,
    );
    const episode_ids = episodes.map(({ id }) => id);
    if (episodes.length === 0) {
      await dropRun(sql, run.id);
      return undefined;
    }
    await setBatch(sql, run.id, episode_ids);
    return { run: { ...run, episode_ids }, episodes };
  });
}

function newRun({ memory, caller, now }: Call, { provider, model }: Asker): Run {
  return {
    ...{ id: memory.ids.next(now), tenant_id: caller.tenant, butler: caller.butler, state: "running" },
    ...{ provider, model, episode_ids: [], lease_until: new Date(now.getTime() + LEASE_MS) },
    ...{ started_at: now, finished_at: null, input: null, answer: null, decisions: null, counts: null },
    ...{ input_tokens: 0, output_tokens: 0, cost_usd: 0, reserved_usd: 0, duration_ms: null, error: null },
    failure: null,
  };
}

/** For an episode of which every attempt ended with the death of its process. */
const exhaustedStatus = (episode: BatchEpisode) =>
  statusOf(episode, {
    consolidation_status: "dead_letter",
    consolidation_attempts: episode.consolidation_attempts,
    last_consolidation_error: `${ATTEMPTS} attempts were cut off before they ended.`,
  });

/** The first episodes that fit into one call, all with the same number of attempts. */
function fitting(due: readonly BatchEpisode[], maxChars: number): BatchEpisode[] {
  const [first] = due;
  if (first === undefined) return [];
  const attempts = first.consolidation_attempts;
  const fit: BatchEpisode[] = [];
  let chars = 0;
  for (const episode of due) {
    chars += Math.min(episode.content.length, maxChars);
    const full = fit.length >= batchSize(attempts) || chars > maxChars;
    if (fit.length > 0 && (full || episode.consolidation_attempts !== attempts)) break;
    fit.push(episode);
  }
  return fit;
}

export interface LabelledTurn {
  /** `e1`, `e2`, … over all that is shown. */
  readonly label: string;
  readonly episode: BatchEpisode;
  readonly text: string;
  readonly speaker: string | null;
  readonly trust: Trust;
}

/**
 * What an extractor is shown of a batch, and how far each turn is trusted. Labels are given here and nowhere else, so that what
 * is cited and what is believed because of it come from one list. An episode that consists of our own context block alone is not
 * shown, but counts as consolidated.
 */
export function labelledTurns(episodes: readonly BatchEpisode[]): LabelledTurn[] {
  return episodes
    .flatMap((episode) => wordsOf(episode).map((words) => ({ ...words, text: withoutOwnBlock(words.text), episode })))
    .filter(({ text }) => text !== "")
    .map((words, at) => ({ label: `e${at + 1}`, ...words }));
}

const SPEAKERS = { user: "user", agent: "assistant", tool: "tool" } as const;

/**
 * The turns of an exchange, and of a text that names who said what, are trusted as far as their speakers, and none more than the source of
 * the text. What a tool stored is not taken for a conversation, nor what came with the name of its one speaker.
 */
function wordsOf({
  content,
  speaker,
  trust,
  format,
}: BatchEpisode): Pick<LabelledTurn, "text" | "speaker" | "trust">[] {
  const isExchange = format === EXCHANGE_FORMAT;
  const turns = isExchange ? turnsOf(content) : speaker === null ? dialogueOf(content) : undefined;
  if (turns === undefined || trust === "tool") return [{ text: content, speaker, trust }];
  return turns.map((turn) => ({
    ...{ text: turn.text, speaker: SPEAKERS[turn.speaker], trust: atMost(turn.speaker, trust) },
  }));
}

export function materialOf(call: Call, { episodes }: Claimed, maxChars: number): Material {
  return {
    butler: call.caller.butler,
    today: call.now.toISOString().slice(0, 10),
    episodes: labelledTurns(episodes).map((turn) => ({ ...shownTurn(turn), text: clip(turn.text, maxChars) })),
    facts: [],
    rules: [],
  };
}

export const shownTurn = ({ label, text, speaker, trust, episode }: LabelledTurn): EpisodeShown => ({
  label,
  text,
  speaker,
  day: episode.occurred_at.toISOString().slice(0, 10),
  trust,
  session: episode.session_id,
});

/** Counts the attempt and reserves its cost before the provider is asked, so that a process that dies meanwhile has used an attempt. */
export async function beginAttempt(
  call: Call,
  { run, episodes }: Claimed,
  ceiling: number,
  budget: number,
): Promise<boolean> {
  const { memory, now } = call;
  const day = new Date(`${now.toISOString().slice(0, 10)}T00:00:00Z`);
  // The budget of a day is that of all tenants together.
  const db = ceiling > 0 ? asOwner(memory, "daily budget") : memory.db;
  return db.tx(async (sql) => {
    if (ceiling > 0 && !(await reserve(sql, run.id, ceiling, day, budget))) return false;
    await countAttempt(call, sql, run, episodes);
    return true;
  });
}
