/**
 * Cuts the task out of a sentence that also says something lasting: "fix the login, and we never use default exports here"; and what is
 * asked or tried beside it: "I've never used Bootstrap before, can you show me how".
 */
import { marksOf } from "./marks.ts";
import { isAtIt } from "./moment.ts";
import type { Said } from "./split.ts";
import { wordsOf } from "./words.ts";

/** Where a clause may begin. The words between two clauses are left out with the one that goes. */
const SEAM =
  /,\s+(?:(?:and|so|but|also|oh and|because|since|as|cause|cos|plus|btw|und|aber|also|weil|denn|da)\s+)?|\s(?:and|so|but|because|since|cos|cause|btw|und|aber|weil|denn)\s+(?=(?:i|we|our|my|the|it|you|never|always|please|pls|can|could|don't|no|ich|wir|unser|mein|die|der|das|nie|immer|bitte|kannst)\b)|:\s+|\s\(/giu;
const SHORTEST = 10;
const MOST_SEAMS = 8;

/** "When I'm in the car, you read": no question, although it begins like one. */
const CONDITION =
  /^when(?:ever)? (?:i|i'm|im|i've|we|we're|you|you're|he|she|they|it|my|our|the|there|somebody|someone)(?![\p{L}'])/iu;

const isTask = (text: string): boolean => {
  if (CONDITION.test(text)) return false;
  const marks = marksOf(
    text,
    wordsOf(text).map((word) => word.toLowerCase()),
  );
  return marks.includes("task") || marks.includes("question");
};

interface Sure extends Said {
  readonly sureness: number;
}

const JOINT = /(?:[,;]|\s[-–—])\s+|\s(?=(?:and|but|so)\s+(?:i|we|can|could|how|what)\b)/giu;
/** What follows asks, or tells a mood, or shows something. */
const ASKED =
  /^(?:(?:so|and|but|then)\s+)?(?:please\s+)?(?:(?:can|could|would|will) (?:you|i|we)\b|what(?:'s| is| are| would| should| kind)\b|how (?:can|do|should|would|does|is|are|to)\b|should (?:i|we)\b|(?:do|does) (?:you|this|that|it)\b|(?:is|are) (?:there|this|that|these)\b|will (?:this|that|it)\b|any (?:tips|ideas?|advice|suggestions?)\b|here(?:'s| is| are)\b|which got me\b|you know\b|i (?:want|need|wanna|would like)(?: to)? (?:make sure|know|understand|ensure|see|help|plan|figure)\b|i'd like to (?:know|understand|see)\b)/iu;

/** In English: "ich bekomme davon Kopfschmerzen" is the reason for what was said before. */
const isStuck = (rest: string): boolean => /^(?:(?:and|but|so)\s+)?i(?:'m| am)\b/i.test(rest) && isAtIt(rest);

/** The sentence up to where the person begins to ask, and from where they have told what they are at. */
function withoutAsking<T extends Said>(said: T): T {
  let { text, at } = said;
  for (const { 0: joint, index } of text.matchAll(JOINT)) {
    const rest = text.slice(index + joint.length);
    if (index < SHORTEST || !(ASKED.test(rest) || isStuck(rest))) continue;
    text = text.slice(0, index);
    break;
  }
  const turn = /(?:,\s+|\s)(?:and|but|so|since|because)\s+(?=(?:i|we|my|our)\b)/iu.exec(text);
  if (turn !== null && isAtIt(text.slice(0, turn.index))) {
    at += turn.index + turn[0].length;
    text = text.slice(turn.index + turn[0].length);
  }
  return text.length < SHORTEST || text === said.text ? said : { ...said, text, at };
}

/** `sureness`: of a text that stands alone. */
export function withoutTask<T extends Sure>(whole: T, sureness: (said: Said) => number): T {
  const surenessOf = (piece: string) => sureness({ ...whole, text: piece, question: false });
  const cut = withoutAsking(whole);
  // What is left has to be worth keeping by itself.
  const said = cut === whole ? whole : { ...cut, sureness: Math.min(whole.sureness, surenessOf(cut.text)) };
  const { text } = said;
  const seams = [...text.matchAll(SEAM)].slice(0, MOST_SEAMS);
  if (seams.length === 0) return said;
  const alone = surenessOf(text);
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
      if (its > Math.max(alone, best.sureness)) best = { ...said, text: stays, at, sureness: its };
    }
  }
  return best;
}
