/** Asks several butlers at once: a few at a time, each with a limit of its own. Who does not answer is named, with the reason. */
import type { Outcome } from "../../../engine/tools/outcome.ts";
import type { ButlerInfo } from "../../backend.ts";
import { mayUse } from "../guards.ts";
import type { Asked } from "./define.ts";

/** Stores that are closed are opened by the question, which takes a second each. */
const AT_ONCE = 4;
const PATIENCE_MS = 5_000;

export type Told<T> =
  | { readonly name: string; readonly ok: true; readonly answer: T }
  | { readonly name: string; readonly ok: false; readonly reason: string };

/** In the order of the butlers. `T` is what the output schema of the called view has checked. */
export async function askAll<T>(asked: Asked, question: (butler: ButlerInfo) => Promise<Outcome>): Promise<Told<T>[]> {
  const mine = (await asked.backend.butlers()).filter((butler) => mayUse(asked.principal, butler));
  const told: Told<T>[] = [];
  const next = mine.entries();
  const worker = async () => {
    for (const [at, butler] of next) told[at] = await askOne<T>(butler.name, () => question(butler));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return told;
}

async function askOne<T>(name: string, question: () => Promise<Outcome>): Promise<Told<T>> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((done) => {
    timer = setTimeout(() => done(undefined), PATIENCE_MS);
  });
  try {
    const outcome = await Promise.race([question(), late]);
    if (outcome === undefined)
      return { name, ok: false, reason: `It gave no answer within ${PATIENCE_MS / 1_000} seconds.` };
    if (!outcome.ok) return { name, ok: false, reason: outcome.error.message };
    return { name, ok: true, answer: outcome.answer as T };
  } finally {
    clearTimeout(timer);
  }
}

export const answersOf = <T>(told: readonly Told<T>[]): { readonly name: string; readonly answer: T }[] =>
  told.flatMap((one) => (one.ok ? [{ name: one.name, answer: one.answer }] : []));

export const isPartial = (told: readonly Told<unknown>[]): boolean => told.some(({ ok }) => !ok);

/** Of those who answered; null when nobody did: a number that is not known is no zero. */
export function sumOf<T>(told: readonly Told<T>[], number: (answer: T) => number): number | null {
  const known = answersOf(told);
  return known.length === 0 ? null : known.reduce((sum, { answer }) => sum + number(answer), 0);
}
