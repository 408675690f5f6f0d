/** The extractor without a language model: sentence patterns and a trained reader, free of cost, and the same answer for the same episodes. */
import { READER } from "../../domain/learning/sureness.ts";
import { inTurns, lastTurn } from "../turns.ts";
import { type Extractor, NO_USAGE } from "./port.ts";

/** An answer holds 60 facts and 20 rules at most: so much text rarely teaches more. */
const MAX_CHARS = 100_000;
/** What a batch teaches is written in one transaction, for which an embedded store's other callers wait: of 100 episodes half a second. */
const MAX_EPISODES = 25;

export function localExtractor(): Extractor {
  return {
    provider: "local",
    model: READER,
    maxChars: MAX_CHARS,
    maxEpisodes: MAX_EPISODES,
    ceiling: () => 0,
    extract: async (material) => {
      // Loaded at the first call: an owner that only answers questions needs no patterns.
      const { learnInSteps } = await import("./local/collect.ts");
      return { ...(await inTurns(learnInSteps(material), lastTurn)), usage: NO_USAGE, repaired: false };
    },
    close: async () => {},
  };
}
