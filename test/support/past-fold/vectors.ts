/** Vectors for a search in the past: stored ones where the text is still the same, else made again, a limited number of them. */

import { type Embedded, queryVector, spokenText } from "../../../src/engine/memory/embed.ts";
import type { Found } from "../../../src/engine/memory/find.ts";
import type { Call } from "../../../src/engine/memory/memory.ts";
import { unreadRowsThen } from "../../../src/engine/memory/past/rows.ts";
import { nearestThen, type PastVectors, vectorsThen, withoutVector } from "../../../src/engine/store/history/as-of.ts";
import type { VectorArm } from "../../../src/engine/store/index/search.ts";
import { indexedText, type PastMemory } from "./past.ts";
import { speakersThen } from "./steps.ts";

/** At most so many memories whose vector is gone are embedded again, the best by keyword first: 64 short texts take about 0.2 s. */
const EMBED_ANEW = 64;

/** What a reranker reads of a vector. */
export interface Vectored {
  readonly cosine: number;
  readonly pieces: number;
  readonly tokens: Uint8Array | undefined;
}

export type Near = readonly [id: string, distance: number];

export interface VectorsThen {
  /** The nearest of a group, which is sorted by keyword score. */
  nearest(arm: VectorArm, group: readonly PastMemory[], limit: number): Promise<Near[]>;
  /** Vectors of these memories, which are sorted with the most important first. */
  evidence(arm: VectorArm, memories: readonly PastMemory[]): Promise<Map<string, Vectored>>;
  /** How many memories a search by meaning could not compare. */
  missing(): number;
}

/** For one question: vectors that were made again are kept until it is answered. */
export function openVectorsThen(call: Call): VectorsThen {
  const { db } = call.memory;
  const anew = new Map<string, Embedded>();
  let missing = 0;
  // Evidence is fetched once for each page of keyword hits; all pages together may embed as many as `nearest` does for one group.
  let spare = EMBED_ANEW;
  const past = ({ version, as }: VectorArm): PastVectors => ({ version, as, until: call.now });

  return {
    missing: () => missing,
    async nearest(arm, group, limit) {
      const ids = group.map(({ id }) => id);
      if (ids.length === 0) return [];
      const stored = await nearestThen(db, past(arm), ids, arm.query, limit);
      const lacking = await withoutVector(db, past(arm), ids, EMBED_ANEW);
      await embedAnew(call, arm.version, lacking.ids, anew);
      const made = lacking.ids.flatMap((id): Near[] => {
        const embedded = anew.get(id);
        return embedded === undefined ? [] : [[id, distance(embedded.vector, arm.query)]];
      });
      missing += lacking.total - made.length;
      return [...stored.map((row): Near => [row.id, row.distance]), ...made].toSorted(nearestFirst).slice(0, limit);
    },
    async evidence(arm, memories) {
      const ids = memories.map(({ id }) => id);
      const stored = ids.length === 0 ? [] : await vectorsThen(db, past(arm), ids, arm.query);
      const found = new Map(
        stored.map(({ id, cosine, pieces, tokens }): [string, Vectored] => [
          id,
          { cosine, pieces: pieces ?? 0, tokens: tokens ?? undefined },
        ]),
      );
      const lacking = ids.filter((id) => !found.has(id));
      const unknown = lacking.filter((id) => !anew.has(id)).slice(0, spare);
      spare -= unknown.length;
      await embedAnew(call, arm.version, unknown, anew);
      for (const id of lacking) {
        const embedded = anew.get(id);
        if (embedded !== undefined) found.set(id, vectoredAs(embedded, arm.query));
      }
      return found;
    },
  };
}

export const nearestFirst = ([a, near]: Near, [b, far]: Near): number => near - far || (a < b ? -1 : 1);

const vectoredAs = ({ vector, tokens }: Embedded, query: Float32Array): Vectored => ({
  cosine: 1 - distance(vector, query),
  pieces: tokens.pieces,
  tokens: tokens.bits,
});

async function embedAnew(
  call: Call,
  version: number,
  ids: readonly string[],
  anew: Map<string, Embedded>,
): Promise<void> {
  const rows = [...(await unreadRowsThen(call, ids)).values()];
  const texts = await embeddedTexts(call, rows);
  await Promise.all(
    rows.map(async ({ row }, index) => {
      const made = await queryVector(call.memory, texts[index] ?? "");
      if (made?.version === version) anew.set(row.id, made);
    }),
  );
}

/** As when it was stored: an episode without the names of the speakers that its session had until then. */
async function embeddedTexts({ memory, caller, now }: Call, rows: readonly Found[]): Promise<string[]> {
  const sessions = new Set(
    rows.flatMap(({ type, row }) => (type === "episode" && row.speaker !== null ? (row.session_id ?? []) : [])),
  );
  const spoken =
    sessions.size === 0
      ? []
      : await speakersThen(memory.db, caller.tenant, { names: [], sessions: [...sessions] }, now);
  return rows.map(({ type, row }) => {
    const text = indexedText(type, { ...row });
    if (type !== "episode") return text;
    const others = spoken.filter(({ session, since }) => session === row.session_id && since <= row.created_at);
    return spokenText(
      text,
      row.speaker,
      others.map(({ name }) => name),
    );
  });
}

function distance(a: Float32Array, b: Float32Array): number {
  let dot = 0;
  let aa = 0;
  let bb = 0;
  for (let i = 0; i < a.length; i++) {
    const x = a[i] as number;
    const y = b[i] as number;
    dot += x * y;
    aa += x * x;
    bb += y * y;
  }
  return 1 - dot / Math.sqrt(aa * bb);
}
