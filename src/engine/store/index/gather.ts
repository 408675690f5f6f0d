/**
 * The candidates of a search. A server looks for the nearest vectors longer than it reads words, and is asked for the candidates that the
 * words brought meanwhile: rows, neighbours and evidence of two thirds of all. Afterwards it is asked for the others.
 */
import type { Db } from "../../adapters/db/port.ts";
import type { Hit } from "../../domain/ranking/words/bm25.ts";
import type { Surroundings } from "./evidence.ts";
import { KNOWN, type Known } from "./known.ts";
import type { Filters, Near, VectorArm } from "./nearest.ts";
import { type Answered, askForCandidates, type Gathered } from "./search.ts";

type Asker = Pick<Db, "query" | "pool" | "replicas">;

export async function gatherCandidates(
  sql: Asker,
  hits: readonly Hit[],
  arm: VectorArm | undefined,
  filters: Filters,
  around?: Surroundings,
): Promise<Gathered> {
  const wanted = { hits, arm, filters, around, near: undefined };
  const found = arm?.found;
  if (found === undefined) return askForCandidates(sql, wanted);
  const isThere = (await Promise.race([found, undefined])) !== undefined;
  if (isThere || around === undefined || hits.length === 0 || !isIdle(sql))
    return askForCandidates(sql, { ...wanted, near: await found });
  const [first, near] = await Promise.all([askForCandidates(sql, { ...wanted, near: [], part: "first" }), found]);
  const known = knownOf(first);
  const second = await askForCandidates(sql, { ...wanted, near, part: known });
  return known !== undefined && second.row?.same === true ? together(first, second, near) : second;
}

/** Where connections are scarce, or searches many, two statements would wait longer than one. Two of them may be answered by different replicas. */
function isIdle({ pool, replicas }: Asker): boolean {
  if (pool === undefined || replicas !== undefined) return false;
  const { max, in_use, waiting } = pool();
  return waiting === 0 && 2 * in_use < max;
}

function knownOf({ row, candidates, evidence }: Answered): Known | undefined {
  if (typeof row?.snapshot !== "string") return undefined;
  const best = new Set<string>(JSON.parse(row.best ?? "[]"));
  const steps = new Map<string, number>();
  for (const id of evidence.keys()) steps.set(id, KNOWN.beside);
  for (const { id, keyword } of candidates)
    steps.set(id, keyword === null ? KNOWN.found : best.has(id) ? KNOWN.best : KNOWN.met);
  return { snapshot: row.snapshot, ids: [...steps.keys()], steps: [...steps.values()] };
}

/** The first has not known what is near. */
function together(first: Answered, second: Answered, near: readonly Near[]): Gathered {
  const distances = new Map(near);
  return {
    candidates: [
      ...first.candidates.map((one) => ({ ...one, distance: distances.get(one.id) ?? null })),
      ...second.candidates,
    ],
    evidence: new Map([...first.evidence, ...second.evidence]),
  };
}
