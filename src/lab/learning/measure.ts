/** What is learned from labelled messages: how much of what was worth keeping, and how much of it was wanted. */
import { learn } from "../../engine/adapters/extractor/local/collect.ts";
import type { Reader } from "../../engine/adapters/extractor/local/reader/reader.ts";
import { hopeOf } from "../../engine/adapters/extractor/local/worth-a-call.ts";
import { KINDS, type Kind } from "../../engine/domain/learning/kinds.ts";
import { lexemes } from "../../engine/domain/text/lexemes.ts";
import type { Message } from "./corpus.ts";

export interface Judged {
  readonly message: Message;
  /** How sure the reader may be that the message is worth the call of a model. */
  readonly hope: number;
  /** Of each part that was worth keeping: whether it was learned. */
  readonly parts: readonly { readonly part: string; readonly kind: Kind; readonly learned: boolean }[];
  /** Of each item that was learned: whether it was wanted. */
  readonly items: readonly { readonly content: string; readonly wanted: boolean; readonly inverted: boolean }[];
}

/** As the transcript of an agent tells a message: what the person says, on its own. */
function learnedFrom(text: string, reader: Reader): string[] {
  const day = "2026-03-02";
  const said = { label: "e1", text, speaker: "user", day, trust: "user", session: "s" } as const;
  const { facts, rules } = learn({ butler: "general", today: day, episodes: [said], facts: [], rules: [] }, reader);
  return [...facts, ...rules].map(({ content }) => content);
}

/** An item holds a part when it has this share of its words that mean something. */
const HELD = 0.6;

/** Whom an item is about is said by the patterns, not by the person. */
const meaning = (text: string): Set<string> =>
  new Set(lexemes(text.replace(/^Der Nutzer /, "")).filter((word) => word !== "user"));

function holds(item: string, part: string): boolean {
  const [has, wants] = [meaning(item), meaning(part)];
  if (wants.size === 0) return item.toLowerCase().includes(part.toLowerCase());
  return [...wants].filter((word) => has.has(word)).length >= HELD * wants.size;
}

const DENIAL =
  /(?<![\p{L}])(?:not|no(?!,)|never|none|without|cannot|can't|dont|stop|avoid|hates?|dislikes?|despises?|loathes?|detests?|don't|doesn't|isn't|aren't|won't|nicht|kein\p{L}*|nie|ohne|hasse|hasst)(?![\p{L}])|n't(?![\p{L}])/giu;
const denials = (text: string): number => text.match(DENIAL)?.length ?? 0;

export function judge(message: Message, reader: Reader): Judged {
  const items = learnedFrom(message.text, reader);
  return {
    message,
    hope: hopeOf(message.text, reader),
    parts: message.keep.map(({ part, kind }) => ({ part, kind, learned: items.some((item) => holds(item, part)) })),
    items: items.map((content) => {
      const of = message.keep.find(({ part }) => holds(content, part) || holds(part, content));
      return {
        content,
        wanted: of !== undefined,
        inverted: of !== undefined && inverts(content, of.part, message.text),
      };
    }),
  };
}

/** Other words than the person's, without the denial of a part, or with one that it does not have. */
function inverts(content: string, part: string, text: string): boolean {
  const own = content.replace(/\.$/, "").toLowerCase();
  if (text.replace(/\s+/g, " ").toLowerCase().includes(own)) return false;
  return holds(content, part) && (denials(content) === 0) !== (denials(part) === 0);
}

export interface Figures {
  readonly messages: number;
  readonly parts: number;
  readonly recall: number;
  readonly items: number;
  readonly precision: number;
  readonly inverted: number;
}

export function figuresOf(judged: readonly Judged[]): Figures {
  const parts = judged.flatMap((one) => one.parts);
  const items = judged.flatMap((one) => one.items);
  return {
    messages: judged.length,
    parts: parts.length,
    recall: share(parts.filter(({ learned }) => learned).length, parts.length),
    items: items.length,
    precision: share(items.filter(({ wanted }) => wanted).length, items.length),
    inverted: items.filter(({ inverted }) => inverted).length,
  };
}

/** Of the parts of each kind. */
export const recallByKind = (judged: readonly Judged[]): Record<Kind, number> =>
  Object.fromEntries(
    KINDS.map((kind) => {
      const parts = judged.flatMap((one) => one.parts).filter((part) => part.kind === kind);
      return [kind, share(parts.filter(({ learned }) => learned).length, parts.length)];
    }),
  ) as Record<Kind, number>;

const share = (some: number, all: number): number => (all === 0 ? 0 : Math.round((1_000 * some) / all) / 1_000);
