/** An extractor that says what a test tells it to, and remembers what it was shown. */
import {
  type Extractor,
  ExtractorFailure,
  type FailureKind,
  type Material,
} from "../../src/engine/adapters/extractor/port.ts";

export interface Script {
  readonly extractor: Extractor;
  readonly seen: Material[];
}

export type Reply = object | FailureKind;

export function scripted(answer: (material: Material) => Reply, more: Partial<Extractor> = {}): Script {
  const seen: Material[] = [];
  const usage = { input_tokens: 100, output_tokens: 20, cost_usd: more.ceiling === undefined ? 0 : 0.01 };
  return {
    seen,
    extractor: {
      provider: "anthropic",
      model: "scripted",
      maxChars: 100_000,
      ceiling: () => 0,
      async extract(material) {
        seen.push(material);
        const reply = answer(material);
        if (typeof reply === "string") throw new ExtractorFailure(reply, `scripted: ${reply}`, usage);
        return { answer: reply, usage, repaired: false };
      },
      close: () => Promise.resolve(),
      ...more,
    },
  };
}

/** The label of the episode whose text has these words. */
export const labelled = ({ episodes }: Material, words: string): string =>
  episodes.find(({ text }) => text.includes(words))?.label ?? "e999";

export const fact = (predicate: string, content: string, episodes: readonly string[], more: object = {}) => ({
  ...{ subject: "user", predicate, content, permanence: "stable", episodes },
  ...more,
});
