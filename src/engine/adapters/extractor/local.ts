/** Learns from text by patterns, with no model: free, always at hand, and the same answer for the same episodes. */
import { type Extractor, NO_USAGE } from "./port.ts";

const MAX_CHARS = 400_000;

export function localExtractor(): Extractor {
  return {
    provider: "local",
    model: "patterns-1",
    maxChars: MAX_CHARS,
    ceiling: () => 0,
    extract: async (material) => {
      // Twenty files of patterns that an owner which only answers questions never needs.
      const { learn } = await import("./local/collect.ts");
      return { answer: learn(material), usage: NO_USAGE, repaired: false };
    },
    close: async () => {},
  };
}
