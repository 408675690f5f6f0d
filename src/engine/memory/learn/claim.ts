/** Taking a batch: the oldest episodes of a shard, with a lease, and nobody else at that shard meanwhile. */
import type { Material } from "../../adapters/extractor/port.ts";
import { EXCHANGE_FORMAT, turnsOf } from "../../domain/learning/exchange.ts";
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

/** Episodes that failed together come back in smaller batches: 100, 25, 6, 1. One that spoils its batch ends up alone. */
const batchSize = (attempts: number): number => Math.max(1, Math.floor(MOST_EPISODES / 4 ** attempts));

const shardOf = ({ caller }: Call): Shard => ({ tenant: caller.tenant, butler: caller.butler });

/** `busy` when somebody else is at this shard; undefined when nothing waits. */
export async function claim(call: Call, asker: Asker): Promise<Claimed | "busy" | undefined> {
  const { memory, now } = call;
  return memory.db.tx(async (sql) => {
    const allowed = await sizeAllowed(sql, shardOf(call), asker.provider, now);
    const most = Math.min(allowed, asker.maxEpisodes ?? MOST_EPISODES);
    const due = await dueEpisodes(sql, shardOf(call), now, most);
    const run = newRun(call, asker);
    if (!(await openRun(sql, run))) return due.length === 0 ? undefined : "busy";
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

/** Every process that tried it has died on the way. */
const exhaustedStatus = (episode: BatchEpisode) =>
  statusOf(episode, {
    consolidation_status: "dead_letter",
    consolidation_attempts: episode.consolidation_attempts,
    last_consolidation_error: `${ATTEMPTS} attempts were cut off before they ended.`,
  });

/** As many of the first as one call takes, all with the same number of failures behind them. */
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
 * What is shown of a batch, and whose word it is. Labels are given here and nowhere else: what an extractor cites and what is
 * believed because of it are read from one list. An episode of which nothing is left without our own block is not shown, but
 * is done with.
 */
export function labelledTurns(episodes: readonly BatchEpisode[]): LabelledTurn[] {
  return episodes
    .flatMap((episode) => wordsOf(episode).map((words) => ({ ...words, text: withoutOwnBlock(words.text), episode })))
    .filter(({ text }) => text !== "")
    .map((words, at) => ({ label: `e${at + 1}`, ...words }));
}

const SPEAKERS = { user: "user", agent: "assistant", tool: "tool" } as const;

/**
 * An exchange is several people's word, each trusted as far as they are and none more than whoever told the exchange. What a
 * tool tells is not believed to be one.
 */
function wordsOf({
  content,
  speaker,
  trust,
  format,
}: BatchEpisode): Pick<LabelledTurn, "text" | "speaker" | "trust">[] {
  if (format !== EXCHANGE_FORMAT || trust === "tool") return [{ text: content, speaker, trust }];
  return turnsOf(content).map((turn) => ({
    ...{ text: turn.text, speaker: SPEAKERS[turn.speaker], trust: atMost(turn.speaker, trust) },
  }));
}

export function materialOf(call: Call, { episodes }: Claimed, maxChars: number): Material {
  return {
    butler: call.caller.butler,
    today: call.now.toISOString().slice(0, 10),
    episodes: labelledTurns(episodes).map(({ label, text, speaker, trust, episode }) => ({
      label,
      text: clip(text, maxChars),
      speaker,
      day: episode.occurred_at.toISOString().slice(0, 10),
      trust,
      session: episode.session_id,
    })),
    facts: [],
    rules: [],
  };
}

/** The attempt is counted and its money set aside before anything is asked: a process that dies in the middle has tried. */
export async function beginAttempt(
  call: Call,
  { run, episodes }: Claimed,
  ceiling: number,
  budget: number,
): Promise<boolean> {
  const { memory, now } = call;
  const day = new Date(`${now.toISOString().slice(0, 10)}T00:00:00Z`);
  return memory.db.tx(async (sql) => {
    if (ceiling > 0 && !(await reserve(sql, run.id, ceiling, day, budget))) return false;
    await countAttempt(call, sql, run, episodes);
    return true;
  });
}
