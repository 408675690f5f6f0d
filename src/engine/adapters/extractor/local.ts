/** The extractor without a language model: sentence patterns and a trained reader, free of cost, and the same answer for the same episodes. */
import { READER } from "../../domain/learning/sureness.ts";
import { type Extractor, NO_USAGE } from "./port.ts";

/** An answer holds 60 facts and 20 rules at most: so much text rarely teaches more. */
const MAX_CHARS = 100_000;

export function localExtractor(): Extractor {
  return {
    provider: "local",
    model: READER,
    maxChars: MAX_CHARS,
    ceiling: () => 0,
    extract: async (material) => {
      // Loaded at the first call: an owner that only answers questions needs no patterns.
      const { learnFrom } = await import("./local/collect.ts");
      return { ...learnFrom(material), usage: NO_USAGE, repaired: false };
    },
    close: async () => {},
  };
}
