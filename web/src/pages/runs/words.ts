/** What came of a run, in words. */
import type { ApiRun, ApiRuns } from "../../../../src/doors/http/api/types.ts";

export type Run = ApiRuns["runs"][number];
export type Decision = ApiRun["decisions"][number];

export const OUTCOMES = ["learned", "confirmed", "superseded", "nothing"] as const;
export type Outcome = (typeof OUTCOMES)[number];

export function outcomesOf({ counts }: Pick<Run, "counts">): Readonly<Record<Outcome, number>> {
  const n = (name: string) => counts[name] ?? 0;
  return {
    learned: n("facts_created") + n("rules_created"),
    confirmed: n("facts_confirmed") + n("rules_confirmed"),
    superseded: n("facts_superseded") + n("facts_contradicted"),
    nothing: Object.entries(counts).reduce(
      (sum, [name, count]) => (name.startsWith("dropped_") ? sum + count : sum),
      0,
    ),
  };
}

const KINDS: Readonly<Record<string, readonly [outcome: Outcome, words: string]>> = {
  create_fact: ["learned", "new fact"],
  create_rule: ["learned", "new rule"],
  confirm_fact: ["confirmed", "fact confirmed"],
  confirm_rule: ["confirmed", "rule confirmed"],
  supersede_fact: ["superseded", "fact changed"],
  contradict_fact: ["superseded", "fact contradicted"],
};

export const kindWords = (kind: string): string => KINDS[kind]?.[1] ?? kind.replaceAll("_", " ");
export const outcomeOf = (kind: string): Outcome => KINDS[kind]?.[0] ?? "learned";

export const OUTCOME_WORDS: Readonly<Record<Outcome, string>> = {
  learned: "learned",
  confirmed: "confirmed",
  superseded: "changed",
  nothing: "not kept",
};

const REASONS: Readonly<Record<string, string>> = {
  ephemeral: "It is true for the moment only.",
  unchanged: "It was known already, from the same words.",
  repeated: "It was found twice in this run and kept once.",
  echo: "Somebody who is trusted less repeats or denies what is known.",
  outdated: "What is known is newer.",
  over: "Its time is over.",
  nameless: "It does not say whom or what it is about.",
  unknown_episode: "It rests on an episode that was not read.",
  unknown_memory: "It speaks of a memory that does not exist.",
  tool_rule: "The output of a tool makes no rules.",
  unsure: "The reader was not sure enough.",
};

export const reasonWords = (reason: string): string => REASONS[reason] ?? reason.replaceAll("_", " ");

export const STATE_WORDS: Readonly<Record<Run["state"], string>> = {
  running: "running",
  done: "done",
  failed: "failed",
  lost: "lost: its process ended",
  released: "given back",
};

export const readerOf = ({ provider, model }: Pick<Run, "provider" | "model">): string =>
  model === "" || model === provider ? provider : `${provider} · ${model}`;

export function durationWords(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 120_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.round(ms / 60_000)} min`;
}
