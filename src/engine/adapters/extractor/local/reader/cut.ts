/** Cuts the task out of a sentence that also says something lasting: "fix the login, and we never use default exports here". */
import { type Features, featuresOf } from "./features.ts";
import { marksOf } from "./marks.ts";
import type { Said } from "./split.ts";
import { wordsOf } from "./words.ts";

/** Where a clause may begin. The words between two clauses are left out with the one that goes. */
const SEAM =
  /,\s+(?:(?:and|so|but|also|oh and|because|since|as|cause|cos|plus|btw|und|aber|also|weil|denn|da)\s+)?|\s(?:and|so|but|because|since|cos|cause|btw|und|aber|weil|denn)\s+(?=(?:i|we|our|my|the|it|you|never|always|please|pls|can|could|don't|no|ich|wir|unser|mein|die|der|das|nie|immer|bitte|kannst)\b)|:\s+|\s\(/giu;
const SHORTEST = 10;
const MOST_SEAMS = 8;

const isTask = (text: string): boolean => {
  const marks = marksOf(
    text,
    wordsOf(text).map((word) => word.toLowerCase()),
  );
  return marks.includes("task") || marks.includes("question");
};

interface Sure extends Said {
  readonly sureness: number;
}

/** `sureness`: of a text that stands alone. */
export function withoutTask<T extends Sure>(said: T, sureness: (features: Features) => number): T {
  const { text } = said;
  const seams = [...text.matchAll(SEAM)].slice(0, MOST_SEAMS);
  if (seams.length === 0) return said;
  const surenessOf = (piece: string) => {
    const [features] = featuresOf([{ ...said, text: piece, question: false }]);
    return features === undefined ? 0 : sureness(features);
  };
  const whole = surenessOf(text);
  let best = said;
  for (const { 0: seam, index } of seams) {
    const end = index + seam.length;
    const [head, tail] = [text.slice(0, index), text.slice(end).replace(/\)$/, "")];
    const pieces = [
      { goes: head, stays: tail, at: said.at + end },
      { goes: tail, stays: head, at: said.at },
    ];
    for (const { goes, stays, at } of pieces) {
      if (stays.length < SHORTEST || !isTask(goes)) continue;
      const its = surenessOf(stays);
      if (its > Math.max(whole, best.sureness)) best = { ...said, text: stays, at, sureness: its };
    }
  }
  return best;
}
