import type { ApiPreview } from "../../../../src/doors/http/api/types.ts";

const SECTIONS: Readonly<Record<string, string>> = {
  profile: "always told",
  facts: "facts",
  rules: "rules",
  episodes: "what happened earlier",
};

export const sectionWords = (name: string): string => SECTIONS[name] ?? name;

export type Gate = ApiPreview["left_out"][number]["gate"];

/** In the order in which they are of use: what a reader can change comes first. */
export const GATES: readonly (readonly [gate: Gate, words: string, about: string])[] = [
  ["budget", "No room", "The budget was used up by what fits better. A larger one lets them in."],
  ["confidence", "Not sure enough", "They have faded below the threshold. Confirmed, they are told again."],
  ["scope", "Of another place", "They belong to a project or butler that this prompt is not asked in."],
  ["rank", "Others fit better", "They have to do with the prompt, but less than what is told."],
];
