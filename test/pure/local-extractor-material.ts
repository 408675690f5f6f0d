/** Material for tests of the local extractor: episodes on one Wednesday, said by the user unless told otherwise. */
import type { EpisodeShown, Material } from "../../src/engine/adapters/extractor/port.ts";

const DAY = "2026-03-11";

function episodes(texts: readonly (string | Partial<EpisodeShown>)[]): EpisodeShown[] {
  return texts.map((one, at) => ({
    label: `e${at + 1}`,
    text: "",
    speaker: "user",
    day: DAY,
    trust: "user",
    session: "s1",
    ...(typeof one === "string" ? { text: one } : one),
  }));
}

export const material = (
  texts: readonly (string | Partial<EpisodeShown>)[],
  more: Partial<Material> = {},
): Material => ({
  butler: "general",
  today: DAY,
  episodes: episodes(texts),
  facts: [],
  rules: [],
  ...more,
});
