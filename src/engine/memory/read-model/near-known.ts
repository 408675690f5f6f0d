/** The memories nearest to what was learned, from memory: what `nearest` in engine/store/jobs/consolidation-known.ts says in SQL. */
import type { Sql } from "../../adapters/db/port.ts";
import type { ReadModel } from "../../domain/read-model/model.ts";
import type { Near as NearSlot, Query } from "../../domain/read-model/vectors.ts";
import { heardOf, MOST_NEAR, type Near, type NearQuery } from "../../store/jobs/consolidation-known.ts";

/** Hidden ones are looked at by so many, and more where all of these are nearer than what is visible. */
const STEP = 16;

export async function nearKnown({ vectors, idOf }: ReadModel, sql: Sql, asked: NearQuery): Promise<Near[]> {
  const now = asked.now.getTime();
  const visible = vectors.among(asked.sks, (slot) => vectors.isSeen(slot, now, false));
  const hidden = vectors.among(asked.sks, (slot) => !vectors.isSeen(slot, now, false));
  const nearerThan = (query: Query, limit: number): NearSlot[] => {
    for (let most = STEP; ; most *= 4) {
      const found = vectors.nearest(query, hidden, most);
      if (found.length < most || (found.at(-1) as NearSlot).distance > limit)
        return found.filter(({ distance }) => distance <= limit);
    }
  };
  const found = asked.vectors.map((vector) => {
    const query = vectors.queryOf(vector);
    const seen = vectors.nearest(query, visible, MOST_NEAR);
    const last = seen.length < MOST_NEAR ? undefined : seen.at(-1);
    return { seen, unseen: nearerThan(query, last?.distance ?? 2) };
  });
  const unseen = new Set(found.flatMap((one) => one.unseen.map(({ slot }) => slot)));
  const heard = await heardOf(sql, asked.type, [...unseen].map(idOf));
  return found.flatMap((one, nth) =>
    [...one.seen, ...one.unseen.filter(({ slot }) => heard.has(idOf(slot)))]
      .sort((a, b) => a.distance - b.distance)
      .slice(0, MOST_NEAR)
      .map(({ slot, distance }) => ({ nth, id: idOf(slot), cosine: 1 - distance })),
  );
}
