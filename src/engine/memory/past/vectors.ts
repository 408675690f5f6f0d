/** Vectors of then: stored ones where the words are still the same, else made anew as far as time allows. */
import { nearestThen, type PastVectors, speakersThen, vectorsThen, withoutVector } from "../../store/history/as-of.ts";
import type { VectorArm } from "../../store/index/search.ts";
import { type Embedded, queryVector, spokenText } from "../embed.ts";
import type { Found } from "../find.ts";
import type { Call } from "../memory.ts";
import { indexedText, type PastMemory, unreadRowsThen } from "./past.ts";

/** Memories whose vector is gone are embedded anew, the best by keyword first: 64 short texts take about 0.2 s. */
const EMBED_ANEW = 64;

/** What a reranker reads of a vector. */
export interface Vectored {
  readonly cosine: number;
  readonly pieces: number;
  readonly tokens: Uint8Array | undefined;
}

export type Near = readonly [id: string, distance: number];

export interface VectorsThen {
  /** The nearest of a group whose best by keyword stand first. */
  nearest(arm: VectorArm, group: readonly PastMemory[], limit: number): Promise<Near[]>;
  /** Of these memories, the most important first. */
  evidence(arm: VectorArm, memories: readonly PastMemory[]): Promise<Map<string, Vectored>>;
  /** How many a search by meaning could not compare. */
  missing(): number;
}

/** For one question: what was embedded anew is kept until it is answered. */
export function openVectorsThen(call: Call): VectorsThen {
  const { db } = call.memory;
  const anew = new Map<string, Embedded>();
  let missing = 0;
  // Evidence is asked for once a page of keywords; all pages together embed no more than one arm does.
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

/** As filing did: an episode without the names of those who had spoken in its session by the time it was told. */
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
