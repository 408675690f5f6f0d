/** Why a memory is in a context block or not: its section, what says the same, and the token budget. */

import type { MemoryType } from "../../../domain/memory-types.ts";
import type { Line, Section } from "../../../domain/ranking/budget.ts";
import { type Outcome, outcomesOf } from "../../../domain/ranking/budget-outcome.ts";
import type { Call } from "../../memory.ts";
import { type ContextItem, FRAME, inJson } from "../block.ts";
import type { RankedResult } from "../rank-results.ts";
import { keyOf } from "../retell.ts";
import { type Step, step } from "./step.ts";

export interface Filling {
  readonly id: string;
  readonly type: MemoryType;
  readonly budget: number;
  /** Before those that say the same were taken out. */
  readonly profile: readonly Line<ContextItem>[];
  readonly ranked: readonly RankedResult[];
  readonly sections: readonly Section<ContextItem>[];
}

export interface InBlock {
  readonly shown: { readonly section: string; readonly place: number; readonly of: number } | undefined;
  /** What became of it in the profile; empty when it was not a candidate for it or is shown elsewhere. */
  readonly profile: readonly Step[];
  /** What became of it in the section of its type; empty when it was not found. */
  readonly section: readonly Step[];
}

const TITLES: Readonly<Record<string, string>> = {
  profile: "Always",
  facts: "Facts",
  rules: "Rules",
  episodes: "Earlier",
};
export const titleOf = (section: string): string => `“${TITLES[section] ?? section}”`;

export function inBlock(call: Call, filling: Filling): InBlock {
  const { id, type, profile, ranked, sections, budget } = filling;
  const { tokenizer } = call.memory;
  const outcomes = outcomesOf(
    FRAME,
    sections,
    budget,
    (text) => tokenizer.count(text),
    (item) => item.id === id,
    inJson(call, budget),
  );
  const shown = outcomes.find((outcome) => outcome.kind === "shown");
  const steps = (name: string, twin: string | undefined): Step[] => {
    if (twin !== undefined) return [same(name, twin, name)];
    return outcomes.filter((outcome) => outcome.section === name).map(stepOf);
  };
  const lasting = steps(
    "profile",
    twinOf(
      id,
      profile.map(({ key, item }) => ({ key, id: item.id })),
    ),
  );
  const ofType = ranked.filter(({ candidate }) => candidate.type === type);
  if (shown === undefined)
    return {
      shown,
      profile: lasting.map((made) => ({ ...made, check: "profile" })),
      section: steps(
        `${type}s`,
        twinOf(
          id,
          ofType.map(({ id: other, candidate }) => ({ id: other, key: keyOf(candidate) })),
        ),
      ),
    };
  const where = { section: shown.section, place: shown.place, of: shown.of };
  const made = [stepOf(shown)];
  if (shown.section !== "profile") return { shown: where, profile: [], section: made };
  return { shown: where, profile: made.map((one) => ({ ...one, check: "profile" })), section: [] };
}

/** Another that says the same and comes before it. */
function twinOf(id: string, lines: readonly { readonly key: string; readonly id: string }[]): string | undefined {
  const own = lines.find((line) => line.id === id);
  const first = own && lines.find(({ key }) => key === own.key);
  return first === undefined || first.id === id ? undefined : first.id;
}

const same = (section: string, by: string, where: string): Step =>
  step(
    "said",
    false,
    `The same is already said in ${titleOf(where)} by ${by}, so ${titleOf(section)} does not repeat it.`,
  );

function stepOf(outcome: Outcome<ContextItem>): Step {
  if (outcome.kind === "said") return same(outcome.section, outcome.by.id, outcome.in);
  const { section, place, of, needs, room } = outcome;
  const where = `In ${titleOf(section)} it is place ${place} of ${of}`;
  switch (outcome.kind) {
    case "shown":
      return step("room", true, `${where} and takes ${needs} of the section's ${room} tokens.`);
    case "too long":
      return step(
        "room",
        false,
        `${where}, but it needs ${needs} tokens and the whole section has ${Math.max(0, room)}.`,
      );
    case "no room":
      return step(
        "room",
        false,
        `${where}, but it needs ${needs} tokens and ${outcome.left} of the section's ${room} were left.`,
      );
    case "behind":
      return step(
        "room",
        false,
        `${where}; the section was closed before it by ${outcome.behind.id}, for which ${outcome.left} of ${room} tokens were too few.`,
      );
    case "cut":
      return step("room", false, `${where}, but the whole block was over its token budget and it was cut off the end.`);
  }
}
