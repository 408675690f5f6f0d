/**
 * What a sentence of a person is: something that is to last (a rule, a preference, a decision), a statement, an order for now, or a question.
 * English and German. In doubt it is a statement, which is always told.
 */
import { splitSentences } from "../text/split-sentences.ts";

export type SentenceKind = "lasting" | "statement" | "order" | "question";

const ENDS = /(?<=[.!?;…])\s+/;
const ABBREVIATED =
  /(?:^|[\s(])(?:dr|mr|mrs|ms|prof|st|no|nr|vs|etc|e\.g|i\.e|z\.b|d\.h|u\.a|bzw|ca|approx|\p{L})\.$/iu;

/** At full stops, also where the next sentence begins with a small letter, as people type. */
export const sentencesIn = (text: string): string[] => splitSentences(text, ENDS, ABBREVIATED);

/** Words by which people say that something holds from now on. */
const LASTING =
  /\b(?:never|always|don't|dont|do not|doesn't|must|mustn't|from now on|any ?more|no longer|instead|rather than|prefer\w*|we (?:use|have|need|want|decided|agreed|keep|don't)|let's|i (?:prefer|like|hate|want|don't)|by the way|btw|fyi|each|every|whenever|has to|have to|needs to|supposed to|should|shouldn't|call it|remember|note that|convention|policy|nie|niemals|immer|kein\w*|muss|müssen|darf|dürfen|soll|sollen|sollte|ab jetzt|ab sofort|künftig|statt|lieber|stattdessen|wir (?:nutzen|verwenden|haben|nehmen|wollen)|ich (?:mag|will|möchte|hasse|bevorzuge)|übrigens|jede\w*)\b/i;

/** By these a sentence that begins like an order says something besides. */
const STATES =
  /\b(?:is|are|was|were|has|have|not|no|only|because|everywhere|when|my|our|ist|sind|war|hat|haben|nicht|nur|weil|überall|wenn|mein\w*|unser\w*)\b/i;

/** It is over with its day. */
const MOMENTARY =
  /\b(?:now|today|tonight|tomorrow|yesterday|this (?:morning|afternoon|evening)|right away|for now|yet|monday|tuesday|wednesday|thursday|friday|jetzt|heute|morgen|gestern|gleich|vorerst|montag|dienstag|mittwoch|donnerstag|freitag)\b/i;

/** Of what is not to last: it speaks of the day on which it was said. */
export const isMomentary = (sentence: string): boolean => MOMENTARY.test(sentence) && !LASTING.test(sentence);

const QUESTION =
  /\?["')\]]*$|^(?:how (?:do|does|can|to|come|much|many)|what(?:'s| is| are| does| do| did| was)|why|where (?:is|are|do)|who (?:is|are)|wie (?:kann|mache|geht|viele|viel)|was (?:ist|sind|macht|heißt|bedeutet)|warum|wieso|weshalb|wo (?:ist|sind))\b/i;

/** Words before the verb of an order. */
const SOFTENED =
  /^(?:(?:please|pls|bitte|now|then|next|ok|okay|so|and|also|just|first|great|good|nice|perfect|thanks|jetzt|dann|und|auch|mal|noch|also|gut|super)[,.:]?\s+|(?:can|could|would|will) you (?:please )?|(?:kannst|könntest|würdest) du (?:bitte )?|i want you to |i need you to |let's |we need to |ich will,? dass du )+/i;

const ORDER_VERBS = new Set(
  `add adjust analyse analyze append apply arrange attach benchmark build bump change check clean cleanup clear clone close collect commit compare compile complete
  compute configure connect continue convert copy count create debug define delete deploy describe diagnose disable document download draft drop
  dump edit enable execute expand explain export extend extract fetch figure fill find finish fix format generate give go grab group help hide
  implement import improve include increase initialise initialize inline insert inspect install instrument integrate investigate issue join launch let list load
  locate look lower make measure merge migrate mock modify move open optimise optimize organise organize outline parse patch pick plan plot port post
  prepare print profile propose publish pull push put raise read rebase rebuild recheck record redo reduce refactor regenerate release reload
  remove rename render reorder repair replace replay reproduce rerun research reset resolve restart restore restructure retry return revert review
  rework rewrite roll run save scaffold scan search send set setup show simplify skip sort split squash stage start stop sum
  summarise summarize suggest swap switch sync tag take tell test tidy time trace track transfer translate trim try turn undo uninstall unpack
  update upgrade upload validate verify view walk wire work wrap write zip
  analysiere ändere baue behebe benenne berechne beschreibe bring deinstalliere dokumentiere entferne ergänze erkläre erstelle exportiere finde fixe
  formatiere führe füge generiere gib hol importiere implementiere installiere kopiere korrigiere lade lass leg liste lies lösche mach mache merge migriere
  öffne optimiere prüfe räum refaktoriere schau schreib schreibe setz setze sortiere starte stell stelle stoppe such suche teste trag überarbeite übersetze
  verbessere vergleiche verschieb verschiebe zeig zeige zähle`
    .split(/\s+/)
    .filter(Boolean),
);

export function kindOf(sentence: string): SentenceKind {
  const text = sentence.trim().replace(/[’‘]/g, "'");
  if (QUESTION.test(text)) return "question";
  const bare = text.replace(SOFTENED, "").toLowerCase();
  const verb = /^[\p{L}-]+/u.exec(bare)?.[0] ?? "";
  if (!ORDER_VERBS.has(verb)) return LASTING.test(text) ? "lasting" : "statement";
  const rest = bare.slice(verb.length);
  if (LASTING.test(rest)) return "lasting";
  return STATES.test(rest) ? "statement" : "order";
}
