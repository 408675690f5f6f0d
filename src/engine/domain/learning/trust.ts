/** Who said it. Part of provenance: what is learned is never trusted more than the best of those who said it. */
export const TRUST = ["tool", "imported", "agent", "user"] as const;
export type Trust = (typeof TRUST)[number];

export const trustRank = (trust: Trust): number => TRUST.indexOf(trust);

export const isWeaker = (a: Trust, b: Trust): boolean => trustRank(a) < trustRank(b);

/** The lower of two. */
export const atMost = (trust: Trust, most: Trust): Trust => (isWeaker(most, trust) ? most : trust);

/** The higher of two. */
export const atLeast = (trust: Trust, least: Trust): Trust => (isWeaker(trust, least) ? least : trust);

/** The highest of them; `tool` when there are none. */
export const bestTrust = (all: readonly Trust[]): Trust =>
  all.reduce<Trust>((best, trust) => (trustRank(trust) > trustRank(best) ? trust : best), "tool");

/** The lowest of them. */
export const leastTrust = (all: readonly Trust[]): Trust =>
  all.length === 0 ? "tool" : all.reduce((least, trust) => atMost(least, trust));

/** However sure an extractor is, a claim is not surer than its source. */
export const MOST_CONFIDENT: Readonly<Record<Trust, number>> = { tool: 0.6, imported: 0.8, agent: 0.8, user: 1 };

const AGENTS = new Set(["assistant", "agent", "ai", "bot", "butler", "model"]);
const TOOLS = new Set(["tool", "function", "system"]);

/**
 * Of an episode: whoever is named as its speaker can only be trusted less than the connection it was told over, never more.
 * Without a speaker it is the word of the connection itself. Whoever has a name is a person.
 */
export function trustOfEpisode(voice: Trust, speaker: string | null): Trust {
  const said = (speaker ?? "").trim().toLowerCase();
  if (said === "") return voice;
  if (AGENTS.has(said)) return atMost("agent", voice);
  return TOOLS.has(said.split(/[\s:/]/, 1)[0] ?? "") ? "tool" : voice;
}

/** A person who says it too makes it their word. Nobody else raises what was said: an agent repeats what it reads. */
export const vouched = (known: Trust, said: Trust): Trust => (said === "user" ? "user" : known);
