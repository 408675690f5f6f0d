/** An extractor that says what a test tells it to, and remembers what it was shown. */
import { localExtractor } from "../../src/engine/adapters/extractor/local.ts";
import {
  type Extractor,
  ExtractorFailure,
  type FailureKind,
  type Material,
  NO_USAGE,
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

/** Finds a hint in each batch. */
export const hinting = (kind: "fact" | "rule", told: (label: string) => object): Extractor => {
  const hint = { by: "reader-1", kind, sureness: 0.55, hint: true } as const;
  return {
    ...localExtractor(),
    extract: async ({ episodes }) => ({
      answer: { facts: [], rules: [], confirmations: [], ...told(episodes[0]!.label) },
      usage: NO_USAGE,
      repaired: false,
      found: { facts: [hint], rules: [hint] },
    }),
  };
};
