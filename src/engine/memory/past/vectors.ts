/** Vectors for a search in the past: stored ones where the text is still the same, else made again, a limited number of them. */
import { nearestThen, type PastVectors, vectorsThen, withoutVector } from "../../store/history/as-of.ts";
import type { VectorArm } from "../../store/index/search.ts";
import { EMBED_CHARS, type Embedded, queryVector, spokenText } from "../embed.ts";
import type { Found } from "../find.ts";
import type { Call } from "../memory.ts";
import type { AllVectors } from "./gone-vectors.ts";
import type { PastMemory, PastView } from "./past.ts";
import { unreadRowsThen } from "./rows.ts";
import { spokenThen } from "./spoken.ts";
import type { Followed } from "./timelines.ts";
import { indexedText } from "./told.ts";

/** At most so many memories whose vector is gone are embedded again, the best by keyword first: 64 short texts take about 0.2 s. */
const EMBED_ANEW = 64;

/** What a reranker reads of a vector. */
export interface Vectored {
  readonly cosine: number;
  readonly pieces: number;
  readonly tokens: Uint8Array | undefined;
}

export type Near = readonly [id: string, distance: number];

/** What is wanted of an arm. */
export interface Wanted {
  /** Numbers of lines. */
  readonly lines: Int32Array;
  isWanted(memory: PastMemory): boolean;
  /** Those that are embedded again come first. */
  preferred(a: PastMemory, b: PastMemory): number;
  readonly limit: number;
  /** So many more of these. */
  readonly also: { readonly ids: ReadonlySet<string>; readonly limit: number } | undefined;
}

export interface VectorsThen {
  /** The nearest of what is wanted, in no order. */
  nearest(arm: VectorArm, wanted: Wanted): Promise<Near[]>;
  /** Vectors of these memories, which are sorted with the most important first. */
  evidence(arm: VectorArm, memories: readonly PastMemory[]): Promise<Map<string, Vectored>>;
  /** How many memories a search by meaning could not compare. */
  missing(): number;
}

/** For one question: vectors that were made again are kept until it is answered. */
export function openVectorsThen(call: Call, followed: Followed, view: PastView): VectorsThen {
  const { timeline, vectors } = followed;
  const { db } = call.memory;
  const anew = new Map<string, Embedded>();
  let missing = 0;
  // Evidence is fetched once for each page of keyword hits; all pages together may embed as many as `nearest` does for one group.
  let spare = EMBED_ANEW;
  const past = ({ version, as }: VectorArm): PastVectors => ({ version, as, until: call.now });

  const reworded = timeline.rewordedAfter(call.now.getTime());
  const inModel = (held: AllVectors, arm: VectorArm, memories: readonly PastMemory[]): Map<string, Vectored> => {
    const { vectors: all } = held.model;
    const kept = memories.flatMap(({ id }) => {
      const nth = timeline.lineOf(id)?.nth ?? -1;
      const slot = held.slots[nth] ?? -1;
      return slot < 0 || reworded.has(nth) ? [] : [{ id, slot }];
    });
    const far = all.distances(
      all.queryOf(arm.query),
      Int32Array.from(kept, ({ slot }) => slot),
    );
    return new Map(
      kept.map(({ id, slot }, nth) => [
        id,
        { cosine: 1 - (far[nth] as number), pieces: all.piecesOf(slot), tokens: all.tokensOf(slot) },
      ]),
    );
  };
  /** All are compared in memory; only of the nearest it is looked whether they were visible. */
  const inMemory = (held: AllVectors, arm: VectorArm, wanted: Wanted): Compared => {
    const query = held.model.vectors.queryOf(arm.query);
    const { kept, gone, lacking } = sorted(held, wanted.lines);
    const among = (depth: number): Near[] =>
      [
        ...held.model.vectors.nearest(query, kept, depth).map((one): Near => [held.model.idOf(one.slot), one.distance]),
        ...held.gone.nearest(query, gone, depth).map((one): Near => [view.lineAt(one.slot).id, one.distance]),
      ]
        .sort(nearestFirst)
        .slice(0, depth);
    const isWanted = ([id]: Near): boolean => {
      const memory = view.find(id);
      return memory !== undefined && wanted.isWanted(memory);
    };
    const without = lacking.flatMap((nth) => view.memory(view.lineAt(nth)) ?? []).filter(wanted.isWanted);
    const first = without.toSorted(wanted.preferred).slice(0, EMBED_ANEW);
    return {
      near: [...nearestOf(among, kept.length + gone.length, wanted.limit, isWanted), ...theirs()],
      lacking: { ids: first.map(({ id }) => id), total: without.length },
    };
    function theirs(): Near[] {
      const also = wanted.also?.ids;
      if (also === undefined) return [];
      const ofThem = Int32Array.from([...also].flatMap((id) => timeline.lineOf(id)?.nth ?? [])).sort();
      const own = sorted(
        held,
        ofThem.filter((nth) => isAmong(wanted.lines, nth)),
      );
      const [near, far] = [held.model.vectors.distances(query, own.kept), held.gone.distances(query, own.gone)];
      return [
        ...Array.from(own.kept, (slot, at): Near => [held.model.idOf(slot), near[at] as number]),
        ...Array.from(own.gone, (nth, at): Near => [view.lineAt(nth).id, far[at] as number]),
      ].filter(isWanted);
    }
  };
  /** Lines whose vector the model has, by slot; those that have left it, by number; and those without one of the words of then. */
  const sorted = ({ slots, gone }: AllVectors, lines: Int32Array) => {
    const kept = new Int32Array(lines.length);
    const left: number[] = [];
    const lacking: number[] = [];
    let n = 0;
    for (let at = 0; at < lines.length; at++) {
      const nth = lines[at] as number;
      const slot = slots[nth] ?? -1;
      if (reworded.size > 0 && reworded.has(nth)) lacking.push(nth);
      else if (slot >= 0) kept[n++] = slot;
      else if (gone.has(nth)) left.push(nth);
      else lacking.push(nth);
    }
    return { kept: kept.subarray(0, n), gone: Int32Array.from(left), lacking };
  };
  const inStore = async (arm: VectorArm, wanted: Wanted): Promise<Compared> => {
    const group = Array.from(wanted.lines, (nth) => view.memory(view.lineAt(nth)) ?? [])
      .flat()
      .filter(wanted.isWanted);
    const ids = group.toSorted(wanted.preferred).map(({ id }) => id);
    if (ids.length === 0) return { near: [], lacking: { ids: [], total: 0 } };
    const limit = wanted.also === undefined ? wanted.limit : ids.length;
    const stored = await nearestThen(db, past(arm), ids, arm.query, limit);
    return {
      near: stored.map(({ id, distance }): Near => [id, distance]),
      lacking: await withoutVector(db, past(arm), ids, EMBED_ANEW),
    };
  };

  return {
    missing: () => missing,
    async nearest(arm, wanted) {
      const held = await vectors.caughtUp(call, timeline, arm.version);
      const { near, lacking } = held === undefined ? await inStore(arm, wanted) : inMemory(held, arm, wanted);
      await embedAnew(call, followed, arm.version, lacking.ids, anew);
      const made = lacking.ids.flatMap((id): Near[] => {
        const embedded = anew.get(id);
        return embedded === undefined ? [] : [[id, distance(embedded.vector, arm.query)]];
      });
      missing += lacking.total - made.length;
      const all = [...new Map([...near, ...made].map((one) => [one[0], one])).values()].toSorted(nearestFirst);
      const also = all.filter(([id]) => wanted.also?.ids.has(id)).slice(0, wanted.also?.limit ?? 0);
      return [...new Set([...all.slice(0, wanted.limit), ...also])];
    },
    async evidence(arm, memories) {
      const ids = memories.map(({ id }) => id);
      const held = await vectors.caughtUp(call, timeline, arm.version);
      const found = held === undefined ? new Map<string, Vectored>() : inModel(held, arm, memories);
      const others = ids.filter((id) => !found.has(id));
      const stored = others.length === 0 ? [] : await vectorsThen(db, past(arm), others, arm.query);
      for (const { id, cosine, pieces, tokens } of stored)
        found.set(id, { cosine, pieces: pieces ?? 0, tokens: tokens ?? undefined });
      const lacking = ids.filter((id) => !found.has(id));
      const unknown = lacking.filter((id) => !anew.has(id)).slice(0, spare);
      spare -= unknown.length;
      await embedAnew(call, followed, arm.version, unknown, anew);
      for (const id of lacking) {
        const embedded = anew.get(id);
        if (embedded !== undefined) found.set(id, vectoredAs(embedded, arm.query));
      }
      return found;
    },
  };
}

interface Compared {
  /** The nearest of those that have a vector, as many as may be wanted or more. */
  readonly near: readonly Near[];
  /** Those without one: the preferred ones, and how many there are. */
  readonly lacking: { readonly ids: readonly string[]; readonly total: number };
}

/** The nearest for which it holds: it is looked at among ever more of them, until there are enough, and nobody as near is missing. */
function nearestOf(
  among: (depth: number) => readonly Near[],
  most: number,
  limit: number,
  holds: (near: Near) => boolean,
): Near[] {
  if (limit === 0) return [];
  for (let depth = 4 * limit; ; depth *= 4) {
    const close = among(depth);
    const isAll = depth >= most;
    const furthest = close.at(-1)?.[1] ?? 0;
    const found: Near[] = [];
    for (const near of close) {
      if (found.length === limit || (!isAll && near[1] === furthest)) break;
      if (holds(near)) found.push(near);
    }
    if (found.length === limit || isAll) return found;
  }
}

/** Numbers in ascending order. */
function isAmong(numbers: Int32Array, number: number): boolean {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] as number) < number) low = middle + 1;
    else high = middle;
  }
  return numbers[low] === number;
}

export const nearestFirst = ([a, near]: Near, [b, far]: Near): number => near - far || (a < b ? -1 : 1);

const vectoredAs = ({ vector, tokens }: Embedded, query: Float32Array): Vectored => ({
  cosine: 1 - distance(vector, query),
  pieces: tokens.pieces,
  tokens: tokens.bits,
});

async function embedAnew(
  call: Call,
  { timeline, madeAnew }: Followed,
  version: number,
  ids: readonly string[],
  anew: Map<string, Embedded>,
): Promise<void> {
  const rows = [...(await unreadRowsThen(call, ids)).values()];
  const texts = embeddedTexts(call, timeline, rows);
  await Promise.all(
    rows.map(async ({ row }, index) => {
      const text = texts[index] ?? "";
      const key = `${version} ${text.slice(0, EMBED_CHARS)}`;
      const made = madeAnew.get(key) ?? (await queryVector(call.memory, text));
      if (made?.version !== version) return;
      madeAnew.set(key, made);
      anew.set(row.id, made);
    }),
  );
}

/** As when it was stored: an episode without the names of the speakers that its session had until then. */
function embeddedTexts({ now }: Call, timeline: Followed["timeline"], rows: readonly Found[]): string[] {
  const sessions = new Set(
    rows.flatMap(({ type, row }) => (type === "episode" && row.speaker !== null ? (row.session_id ?? []) : [])),
  );
  const spoken = spokenThen(timeline, { names: [], sessions: [...sessions] }, now);
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
