import { z } from "zod";
import { mapInTurns } from "../adapters/turns.ts";
import { forbidden, MemoryError } from "../domain/errors.ts";
import { butlerOf } from "../domain/scope.ts";
import type { Call } from "../memory/memory.ts";
import { type Ingested, ingest, type KeyedEpisode } from "../memory/remember/ingest.ts";
import { defineTool } from "./define.ts";
import * as f from "./fields.ts";
import { checkInput } from "./invalid-input.ts";
import { episodeAnswer, episodeFields } from "./memory-store-episode.ts";
import { lenientRow, RowError } from "./rows.ts";

const Episode = z.strictObject(episodeFields);

const Output = f.output({
  results: z.array(z.union([z.object({ ok: z.literal(true), ...episodeAnswer }), RowError])),
});

type Answer = z.infer<typeof Output>;

export const memoryIngestBatch = defineTool({
  name: "memory_ingest_batch",
  title: "Store many episodes",
  description:
    "Store up to 500 episodes in one transaction; results in order, and one bad row does not lose the others.",
  input: f.input({ episodes: z.array(lenientRow(Episode)).min(1).max(500) }),
  output: Output,
  effect: "write",
  core: false,
  async run(call, input) {
    const checked = await mapInTurns(input.episodes, ROW_CHARS, (row, index) => check(call, row, index));
    const good = checked.filter((row): row is KeyedEpisode => !(row instanceof MemoryError));
    const ingested = good.length === 0 ? [] : await ingest(call, input, good);
    let at = 0;
    return { results: checked.map((row) => present(row instanceof MemoryError ? row : (ingested[at++] as Ingested))) };
  },
  text: (a) => {
    const refused = refusedRows(a);
    const stored = `Stored ${a.results.length - refused.length} of ${a.results.length} episodes`;
    if (refused.length === 0) return `${stored}.`;
    const more = refused.length > TOLD ? [`… and ${refused.length - TOLD} more`] : [];
    return [`${stored}; ${refused.length} refused:`, ...refused.slice(0, TOLD).map((why) => `- ${why}`), ...more].join(
      "\n",
    );
  },
  brief: {
    shape: { stored: z.number(), refused: z.array(z.string()) },
    tell(a) {
      const refused = refusedRows(a);
      return { stored: a.results.length - refused.length, refused };
    },
  },
});

const refusedRows = ({ results }: Answer): string[] =>
  results.flatMap((row, index) => (row.ok ? [] : [reason(row.error.message, `episodes.${index}`)]));

/** Names the row, where the message of the error does not. */
const reason = (message: string, row: string) => (message.includes(row) ? message : `${row}: ${message}`);

/** Reasons that are told in the text; all of them stand in `results`. */
const TOLD = 10;

/** An estimate: the size of a row is not known before it is checked, and checking even a long one is quick. */
const ROW_CHARS = () => 1_000;

function check(call: Call, row: unknown, index: number): KeyedEpisode | MemoryError {
  const checked = checkInput(Episode, row, `episodes.${index}`);
  if (!checked.ok) return checked.error;
  const { butler, ...episode } = checked.value;
  if (butler !== undefined && butler !== butlerOf(call.caller.butler))
    return forbidden(`butler "${butler}" is not yours.`, `episodes.${index}.butler`);
  return episode;
}

function present(row: Ingested) {
  if (!(row instanceof MemoryError)) return { ok: true as const, ...row, redactions: [...row.redactions] };
  return {
    ok: false as const,
    error: { code: row.code, message: row.message, ...(row.field ? { field: row.field } : {}) },
  };
}
