/** What share of messages needs no call of a language model, because the reader sees that they teach nothing. */
import { WORTH } from "../../engine/adapters/extractor/local/worth-a-call.ts";
import type { Judged } from "./measure.ts";

export interface CallFigures {
  readonly messages: number;
  /** Share of the messages that need no call. */
  readonly saved: number;
  /** Share of what is worth keeping that a model is still shown. */
  readonly shown: number;
  /** For each share that is to be shown: the share of messages that the best bar for these very messages saves. */
  readonly best: readonly { readonly shown: number; readonly bar: number; readonly saved: number }[];
}

const WANTED = [1, 0.99, 0.97] as const;

interface Rated {
  readonly hope: number;
  /** How many parts of it are worth keeping. */
  readonly parts: number;
}

export function callFigures(judged: readonly Judged[]): CallFigures {
  const rated = judged.map(({ hope, parts }) => ({ hope, parts: parts.length }));
  const parts = partsOf(rated);
  const saved = (bar: number) => share(rated.filter(({ hope }) => hope < bar).length, rated.length);
  const best = WANTED.map((shown) => {
    const bar = barFor(rated, Math.floor((1 - shown) * parts + 1e-9));
    return { shown, bar, saved: saved(bar) };
  });
  const shown = share(partsOf(rated.filter(({ hope }) => hope >= WORTH)), parts);
  return { messages: rated.length, saved: saved(WORTH), shown, best };
}

/** The highest bar below which no more than `spare` parts are. */
function barFor(rated: readonly Rated[], spare: number): number {
  let lost = 0;
  for (const { hope, parts } of rated.filter((one) => one.parts > 0).toSorted((a, b) => a.hope - b.hope)) {
    lost += parts;
    if (lost > spare) return hope;
  }
  return 1;
}

const partsOf = (rated: readonly Rated[]): number => rated.reduce((sum, { parts }) => sum + parts, 0);
const share = (some: number, all: number): number => (all === 0 ? 0 : Math.round((1_000 * some) / all) / 1_000);

const percent = (of: number): string => `${(100 * of).toFixed(1)} %`;

export function callLine({ messages, saved, shown, best }: CallFigures): string {
  const bests = best.map((one) => `${percent(one.saved)} for ${100 * one.shown} %`);
  return [
    `Where a model is asked: of ${messages.toLocaleString("en")} messages ${percent(saved)} need no call, and it is shown`,
    `${percent(shown)} of the parts worth keeping (the best bar for these messages would save ${bests.join(", ")}).`,
  ].join(" ");
}
