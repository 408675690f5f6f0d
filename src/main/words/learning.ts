/** The question who may be asked when episodes are learned from, and what is said of the answer. */
import type { Provider } from "../../engine/adapters/extractor/port.ts";

/** One that can be had on this machine; the first is what Enter means. */
export interface Offer {
  readonly provider: Provider;
  readonly words: string;
}

const WORDS: Readonly<Record<Provider, string>> = {
  local: "no model: everything stays on this machine and costs nothing; less is learned",
  "claude-cli": "your own Claude login: the claude program sends it to Anthropic, and it counts against your plan",
  anthropic: "Anthropic's interface, paid with the key in ANTHROPIC_API_KEY",
  "openai-compatible": "OpenAI or a server like it, paid with the key in OPENAI_API_KEY; you name address and model",
};

export const offerOf = (provider: Provider): Offer => ({ provider, words: WORDS[provider] });

export const dollars = (amount: number): string => `$${amount.toFixed(2)}`;

export function questionText(offers: readonly Offer[], budget: number): string {
  return [
    "",
    "May a language model help to learn from your sessions?",
    "Every few hours the exchanges that may teach something are read: what you asked, what the agent answered, and names of",
    `files and commands, with passwords and keys taken out. A model would be sent these texts, for at most ${dollars(budget)} a day.`,
    "",
    ...offers.map(({ words }, at) => `  ${at + 1}  ${words}`),
    "",
    `Which? [1 to ${offers.length}; Enter is 1] `,
  ].join("\n");
}

export interface LearningTold {
  readonly provider: Provider;
  readonly budget: number;
  /** Where it is written. */
  readonly place: string;
}

export const learningLine = ({ provider, budget, place }: LearningTold): string =>
  provider === "local"
    ? `It learns without a language model (${place}).`
    : `It learns with ${provider}, for at most ${dollars(budget)} a day (${place}).`;

export const changeLine = (agent: string): string =>
  `To change that: butler install ${agent} --learn-with local, claude-cli, anthropic or openai-compatible.`;
