/** What one of many people does with the memory on a day: sessions that read and write, now and then a fact, a rule or a mark. */
import type { Memory } from "../../engine/memory/memory.ts";
import { callTool } from "../../engine/tools/call.ts";
import { episodeText, factOf, type Pick, promptText, ruleText } from "../sentences.ts";
import { PEOPLE, PLACES, PROJECTS, THINGS, TOPICS } from "../vocabulary.ts";

/** By kind of call: how long each took, and how many failed. */
export interface Lived {
  readonly times: Map<string, number[]>;
  readonly errors: Map<string, number>;
}

export const newLife = (): Lived => ({ times: new Map(), errors: new Map() });

/** As the specification expects of a person: one to five facts a week, one to five rules a month. */
const FACTS_A_DAY = 3 / 7;
const RULES_A_DAY = 3 / 30;
/** A tenth of what people say is worth keeping: consolidation writes 5 to 15 % of the episodes. */
const TELLING = 0.1;

const TOLD: readonly ((p: Pick) => string)[] = [
  (p) => `I live in ${p.of(PLACES)} now.`,
  (p) => `I prefer ${p.of(TOPICS)} to everything else.`,
  (p) => `My manager is ${p.of(PEOPLE)}.`,
  (p) => `We decided to keep the ${p.of(THINGS)} of ${p.of(PROJECTS)}.`,
  (p) => `Never change the ${p.of(THINGS)} of ${p.of(PROJECTS)} without a review.`,
];

export interface Person {
  readonly tenant: string;
  readonly p: Pick;
  /** Rules of this person that may be marked. */
  readonly rules: string[];
}

export async function session(memory: Memory, person: Person, name: string, sessions: number, lived: Lived) {
  const { p } = person;
  const call = (tool: string, input: object) => timed(memory, person, name, lived, tool, input);
  await call("memory_context", { trigger_prompt: promptText(p) });
  const told = TOLD[p.number(TOLD.length)] as (p: Pick) => string;
  const content = p.chance(TELLING) ? told(p) : episodeText(p);
  await call("memory_store_episode", { content, session_id: name, speaker: "user" });
  if (p.chance(FACTS_A_DAY / sessions)) {
    // Few predicates, so that most facts take the place of an earlier one.
    const predicate = ["editor", "city", "team", "project", "likes"][p.number(5)];
    await call("memory_store_fact", { subject: "user", predicate, content: factOf(p).content });
  }
  if (p.chance(RULES_A_DAY / sessions)) {
    const answer = await call("memory_store_rule", { content: ruleText(p) });
    if (typeof answer?.id === "string") person.rules.push(answer.id);
  }
  const rule = person.rules[p.number(Math.max(1, person.rules.length))];
  if (rule !== undefined && p.chance(1 / sessions))
    await call(p.chance(0.9) ? "memory_mark_helpful" : "memory_mark_harmful", { rule_id: rule, session_id: name });
}

async function timed(
  memory: Memory,
  { tenant }: Person,
  session: string,
  { times, errors }: Lived,
  tool: string,
  input: object,
): Promise<Record<string, unknown> | undefined> {
  const by = { name: tenant, tenant, butler: "*", admin: false, voice: "user" } as const;
  const started = performance.now();
  const outcome = await callTool(memory, by, { tool, input, session });
  const ms = performance.now() - started;
  if (outcome.ok) {
    times.set(tool, [...(times.get(tool) ?? []), ms]);
    return outcome.answer;
  }
  const failed = `${tool}: ${outcome.error.code}`;
  errors.set(failed, (errors.get(failed) ?? 0) + 1);
  return undefined;
}
