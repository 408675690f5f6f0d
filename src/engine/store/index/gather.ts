/**
 * The candidates of a search. A server is asked for those of the words and for those of the nearest vectors as soon as each are known: rows, neighbours
 * and evidence of the ones while the others are still being looked for. Where the words were first by so much that theirs have come, only what is
 * missing is asked for.
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
  const { found, brought } = arm ?? {};
  if (found === undefined) return askForCandidates(sql, wanted);
  const whole = async () => askForCandidates(sql, { ...wanted, near: await found });
  if (around === undefined || hits.length === 0 || (brought === undefined && !isIdle(sql))) return whole();
  const ofWords = askForCandidates(sql, { ...wanted, near: [], part: "first" });
  // Whoever waits for it hears of a failure.
  ofWords.catch(() => undefined);
  const isNearFirst = await Promise.race([found.then(() => true), ofWords.then(() => false)]);
  if (brought !== undefined || (isNearFirst && isCalm())) {
    const near = await found;
    const ofVectors = brought ?? askForCandidates(sql, { ...wanted, hits: [], near, part: "first" });
    return joined(...(await Promise.all([ofWords, ofVectors])), near) ?? whole();
  }
  const [[first, known], near] = await Promise.all([ofWords.then((words) => [words, knownOf(words)] as const), found]);
  const second = await askForCandidates(sql, { ...wanted, near, part: known });
  return known !== undefined && second.row?.same === true ? together(first, second, near) : second;
}

/** The candidates that the nearest vectors bring, for a search whose words are not known yet; undefined where that would hold up others. */
export const bringNear = (
  sql: Asker,
  near: readonly Near[],
  arm: VectorArm,
  filters: Filters,
  around: Surroundings,
): Promise<Answered> | undefined =>
  isIdle(sql) && isCalm() ? askForCandidates(sql, { hits: [], arm, near, filters, around, part: "first" }) : undefined;

/** Where connections are scarce, or searches many, two statements would wait longer than one. Two of them may be answered by different replicas. */
function isIdle({ pool, replicas }: Asker): boolean {
  if (pool === undefined || replicas !== undefined) return false;
  const { max, in_use, waiting } = pool();
  return waiting === 0 && 2 * in_use < max;
}

/** For so long after two statements have seen different moments only what completes the first is asked for: others are writing. */
const CALM_MS = 1_000;
let changedAt = Number.NEGATIVE_INFINITY;
const isCalm = () => performance.now() - changedAt >= CALM_MS;

/** Both halves, each of which was asked for by itself; undefined where something was committed between them. */
function joined(words: Answered, vectors: Answered, near: readonly Near[]): Gathered | undefined {
  const { snapshot } = words.row ?? {};
  if (typeof snapshot !== "string" || snapshot !== vectors.row?.snapshot) {
    changedAt = performance.now();
    return undefined;
  }
  const known = new Set(words.candidates.map(({ id }) => id));
  return together(words, { ...vectors, candidates: vectors.candidates.filter(({ id }) => !known.has(id)) }, near);
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
