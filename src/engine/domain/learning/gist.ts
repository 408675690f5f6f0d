/**
 * What an episode comes down to, as a person would tell it later. The person's own sentences come first: what they stated, decided or set
 * right. What they ordered or asked is told with what came of it, pastes by the error they name, and what teaches nothing is left out.
 */

import { type Unpasted, withoutPasted } from "../text/pasted.ts";
import { clip } from "../text/text.ts";
import { type ExchangeParts, failureShown, partsOf, withoutToolWords } from "./exchange.ts";
import { isIdle } from "./idle-prompt.ts";
import { isCorrection } from "./prompt-kind.ts";
import { isMomentary, kindOf, type SentenceKind, sentencesIn } from "./sentence-kind.ts";

/** 3: the person said what is to last, or decided. 2: they stated something, or something failed. 1: what was worked on. */
export type Worth = 1 | 2 | 3;

export interface Gist {
  readonly worth: Worth;
  /** On one line. */
  readonly text: string;
  /** What was left open then, if the agent said so. */
  readonly open: string;
  /** All that it says is over with its day. */
  readonly momentary: boolean;
}

/** Characters of the parts of a gist. */
const SAID = 200;
const OUTCOME = 150;
const ERROR = 100;
const TOLD = 240;

/** Undefined when there is nothing to tell. */
export function gistOf(content: string): Gist | undefined {
  const own = withoutToolWords(content);
  const parts = partsOf(own);
  return parts === undefined ? plainGist(own) : exchangeGist(parts);
}

/** Nothing but a greeting, thanks or an order for the moment, and nothing that was decided or went wrong. */
export function teachesNothing(content: string): boolean {
  const parts = partsOf(content);
  if (parts === undefined) return isIdle(content);
  return parts.decided.length + parts.failed.length === 0 && parts.user.every((text) => isIdle(text));
}

function plainGist(content: string): Gist | undefined {
  if (isIdle(content)) return undefined;
  const { words, pasted } = withoutPasted(content);
  const text = clip(oneLine([words, pasted ? `(pasted: ${pasted})` : ""]), TOLD);
  return text === "" ? undefined : { worth: 2, text, open: "", momentary: false };
}

interface Sentence {
  readonly text: string;
  readonly kind: SentenceKind;
}

function exchangeGist(parts: ExchangeParts): Gist | undefined {
  const user = parts.user.map((text) => withoutPasted(text));
  const sentences = user.flatMap(readSentences);
  const of = (...kinds: SentenceKind[]) => sentences.filter(({ kind }) => kinds.includes(kind)).map(({ text }) => text);
  const decided = parts.decided.map((text) => `decided: ${text}`);
  const open = leftOpen(parts.agent);
  const pasted = user.map((one) => one.pasted).find((error) => error);
  const error = clip(pasted ?? errorOf(parts.failed[0]), ERROR);
  const came = [error === "" ? "" : `failed: ${error}`, outcomeOf(parts.agent)];
  const lasting = [...of("lasting"), ...decided];
  if (lasting.length > 0) return told(3, [...of("lasting", "statement"), ...decided], [], open);
  const stated = of("statement");
  if (stated.length > 0) return told(2, stated, came, open);
  if (error !== "") return told(2, of("order", "question"), came, open);
  const asked = parts.did.length > 0 ? of("order", "question") : of("order");
  return asked.length === 0 ? undefined : told(1, asked, came, open);
}

/** "Here is the log": says nothing without what was pasted. */
const POINTS_AT =
  /^(?:(?:and )?here(?:'s| is| are)|see|look|(?:the )?(?:test )?(?:output|logs?|error|trace|diff)\b|hier (?:ist|sind|der|die|das)|schau)/i;

function readSentences({ words, pasted }: Unpasted): Sentence[] {
  // The whole prompt is asked too: "no, use tabs" is a correction by how it begins, whatever its sentences are.
  const corrects = isCorrection(words);
  return sentencesIn(words)
    .filter((text) => !isIdle(text) && (pasted === undefined || !POINTS_AT.test(text)))
    .map((text) => {
      const kind = kindOf(text);
      return { text, kind: corrects && (kind === "statement" || kind === "order") ? "lasting" : kind };
    });
}

function told(worth: Worth, said: readonly string[], came: readonly string[], open: string): Gist | undefined {
  const text = clip(said.join(" "), SAID);
  const outcome = [...new Set(came)].filter((one) => one !== "" && !open.includes(one)).join("; ");
  const whole = oneLine([text === "" ? "" : `user: ${text}`, text === "" || outcome === "" ? outcome : `→ ${outcome}`]);
  return whole === "" ? undefined : { worth, text: whole, open, momentary: said.length > 0 && said.every(isMomentary) };
}

const oneLine = (parts: readonly string[]): string => parts.filter(Boolean).join(" ").replace(/\s+/g, " ").trim();

function errorOf(failed = ""): string {
  const { call, names } = failureShown(failed);
  return names === "" ? call : names;
}

const OPEN =
  /\b(?:not (?:done|started|finished|tried|tested|moved|fixed|merged|deployed|implemented)(?: yet| over)?|still (?:to do|open|missing|fails|failing|needs?)|left open|is left|remains|remaining|todo|next (?:would be|step)|waits? for|noch (?:offen|nicht)|steht noch aus|fehlt noch)\b/i;

function leftOpen(agent: readonly string[]): string {
  const open = agent.flatMap((text) => sentencesIn(withoutPasted(text).words)).filter((text) => OPEN.test(text));
  return clip(ended(oneLine(open).replace(/^(?:open|not done yet|still open|offen|noch offen): /i, "")), OUTCOME);
}

const ended = (text: string): string => text.replace(/[;,:]$/, "");

/** The last answer tells what came of it; its first sentence that says anything, and the next if there is room. */
function outcomeOf(agent: readonly string[]): string {
  const sentences = sentencesIn(withoutPasted(agent.at(-1) ?? "").words);
  const [first = "", second = ""] = sentences.filter((text) => !isIdle(text) && !EMPTY.test(text) && !OPEN.test(text));
  const both = oneLine([first, second]);
  return clip(ended(both.length <= OUTCOME ? both : first), OUTCOME);
}

/** Said of every order that was carried out, and questions of the agent. */
const EMPTY =
  /^(?:done|noted|understood|committed|pushed|added|removed|deleted|renamed|formatted|fixed|updated|restored|tagged|merged|all (?:tests|\d+ files) pass|tests pass|erledigt|verstanden|notiert|gelöscht|hinzugefügt|gepusht)\b[^,;:]{0,40}[.!]?$|\?$/i;

/** Characters of the parts of an episode that is retold to a prompt it fits. */
const ASKED = 300;
const ANSWERED = 240;
const ACTIONS = 100;

/** An episode at length, for a prompt that it fits: without pastes, small talk and the words of tools, each part cut by itself. Other texts stay as they are. */
export function retold(content: string): string {
  const own = withoutToolWords(content);
  const parts = partsOf(own);
  if (parts === undefined) return own;
  const asked = parts.user.map((text) => {
    const { words, pasted } = withoutPasted(text);
    const said = sentencesIn(words).filter((sentence) => !isIdle(sentence));
    return oneLine([...(said.length === 0 ? [words] : said), pasted ? `(pasted: ${pasted})` : ""]);
  });
  const part = (label: string, texts: readonly string[], chars: number) => {
    const text = clip(oneLine(texts), chars);
    return text === "" ? "" : `${label}: ${text}`;
  };
  const agent = parts.agent.map((text) => withoutPasted(text).words);
  return oneLine([
    part("user", asked, ASKED),
    part("decided", parts.decided, ASKED),
    part("agent", agent, ANSWERED),
    part("failed", parts.failed, ACTIONS),
    part("did", parts.did, ACTIONS),
  ]);
}
