/** Invented episodes for those who extract. */
import type { EpisodeShown, Material } from "../../src/engine/adapters/extractor/port.ts";

export const episode = (label: string, text: string, more: Partial<EpisodeShown> = {}): EpisodeShown => ({
  label,
  text,
  speaker: "user",
  day: "2026-03-02",
  trust: "user",
  session: "session-a",
  ...more,
});

export const material = (episodes: readonly EpisodeShown[], more: Partial<Material> = {}): Material => ({
  butler: "general",
  today: "2026-03-05",
  episodes,
  facts: [],
  rules: [],
  ...more,
});

export const TEA = material([episode("e1", "I moved to Graz last week, and I only drink green tea.")], {
  facts: [{ label: "f1", subject: "user", predicate: "lives_in", content: "The user lives in Linz.", scope: "global" }],
  rules: [{ label: "r1", content: "Answer briefly.", scope: "own" }],
});
