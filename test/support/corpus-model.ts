/** A model for the messages of the corpus: it reads a prompt as it was sent, and knows what each message is worth. */
import { type Message, readCorpus } from "../../src/lab/learning/corpus.ts";
import type { Asked } from "./fake-model.ts";

/** Every so many messages, from both parts of the corpus. */
const EACH = 31;

/** Messages of every author, a third of them with something to learn, no rule and no part twice. */
export function sampleOf(count: number): Message[] {
  const { train, aside } = readCorpus();
  const all = [...aside, ...train];
  const texts = new Set<string>();
  const sample: Message[] = [];
  for (let at = 0; sample.length < count; at = (at + EACH) % all.length) {
    const message = all[at];
    if (message === undefined || texts.has(message.text)) continue;
    texts.add(message.text);
    sample.push(message);
  }
  return sample;
}

export interface EpisodeAsked {
  readonly label: string;
  readonly text: string;
}

/** What stands between the lines of a prompt that carry its code, and nothing else. */
export function episodesIn({ turns }: Asked): EpisodeAsked[] {
  const prompt = turns[0]?.text ?? "";
  const code = /The code of this message is ([0-9a-f]{16})\./.exec(prompt)?.[1] ?? "none";
  const block = new RegExp(`^<<<episode ${code} label=(e\\d+) [^\\n]*>>>\\n([\\s\\S]*?)\\n<<<end ${code}>>>$`, "gm");
  return [...prompt.matchAll(block)].map(([, label = "", text = ""]) => ({ label, text }));
}

const EMPTY = { importance: 5, confidence: 0.9, scope: "own", tags: [], valid_from: null, valid_to: null };

export const factOf = (content: string, episodes: readonly string[], more: object = {}) => ({
  ...{ subject: "user", predicate: `said:${content.slice(0, 120)}`, content, permanence: "stable", ...EMPTY },
  ...{ episodes, supersedes: null, contradicts: null, ...more },
});
export const ruleOf = (content: string, episodes: readonly string[]) => ({ content, scope: "own", tags: [], episodes });

/** The right answer: the labelled parts of the messages that were shown. */
export function rightAnswer(messages: readonly Message[], asked: Asked): string {
  const parts = episodesIn(asked).flatMap(({ label, text }) =>
    (messages.find((message) => message.text === text)?.keep ?? []).map((kept) => ({ ...kept, label })),
  );
  return JSON.stringify({
    facts: parts.filter(({ kind }) => kind !== "rule").map(({ part, label }) => factOf(part, [label])),
    rules: parts.filter(({ kind }) => kind === "rule").map(({ part, label }) => ruleOf(part, [label])),
    confirmations: [],
  });
}
