/** Who said it. Part of provenance: what is learned is never trusted more than the best of its witnesses. */
export const TRUST = ["tool", "imported", "agent", "user"] as const;
export type Trust = (typeof TRUST)[number];

export const trustRank = (trust: Trust): number => TRUST.indexOf(trust);

/** The highest of them. Nobody at all is no better than a tool. */
export const bestTrust = (all: readonly Trust[]): Trust =>
  all.reduce<Trust>((best, trust) => (trustRank(trust) > trustRank(best) ? trust : best), "tool");

/** However sure an extractor is, a claim is not surer than its source. */
export const MOST_CONFIDENT: Readonly<Record<Trust, number>> = { tool: 0.6, imported: 0.8, agent: 0.8, user: 1 };

const AGENTS = new Set(["assistant", "agent", "ai", "bot", "butler", "model"]);
const TOOLS = new Set(["tool", "function", "system"]);

/** An episode without a speaker is an agent's own account. Whoever has a name is a person. */
export function trustOfSpeaker(speaker: string | null): Trust {
  const said = (speaker ?? "").trim().toLowerCase();
  if (said === "" || AGENTS.has(said)) return "agent";
  return TOOLS.has(said.split(/[\s:/]/, 1)[0] ?? "") ? "tool" : "user";
}
