/** What one of many people does with the memory on a day: sessions that read and write, now and then a fact, a rule or a mark. */
import type { Memory } from "../../engine/memory/memory.ts";
import { callTool } from "../../engine/tools/call.ts";
import { distinct, episodeText, factOf, type Pick, picker, promptText, ruleText } from "../sentences.ts";
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

/**
 * What people ask and tell, the same sentences for all: each then goes through the model once in a run, and what it would cost to embed them again for
 * everybody is added to the figures from how often it was asked.
 */
export interface Bank {
  readonly prompts: readonly string[];
  readonly episodes: readonly string[];
}

export function newBank(size: number): Bank {
  const p = picker(20_270_101);
  return { prompts: distinct(size, () => promptText(p)), episodes: distinct(size, () => episodeText(p)) };
}

/** Larger than any bank, and prime: a person comes upon each sentence once before the first comes again. */
const STRIDE = 104_729;

const turnOf = (sentences: readonly string[], { first, said }: Person) =>
  sentences[(first + said * STRIDE) % sentences.length] ?? "";

export interface Person {
  readonly tenant: string;
  readonly p: Pick;
  /** Where in the bank this person begins, and how many sessions there were. */
  readonly first: number;
  said: number;
  /** Rules of this person that may be marked. */
  readonly rules: string[];
}

export const newPerson = (index: number): Person => ({
  ...{ tenant: `user-${index}`, p: picker(31_337 * (index + 1)), rules: [], first: index * 31, said: 0 },
});

export interface Stay {
  readonly memory: Memory;
  readonly bank: Bank;
  /** Of each person, a day. */
  readonly sessions: number;
  readonly lived: Lived;
}

export async function session({ memory, bank, sessions, lived }: Stay, person: Person, name: string): Promise<void> {
  const { p } = person;
  const call = (tool: string, input: object) => timed(memory, person, name, lived, tool, input);
  await call("memory_context", { trigger_prompt: turnOf(bank.prompts, person) });
  const told = TOLD[p.number(TOLD.length)] as (p: Pick) => string;
  const content = p.chance(TELLING) ? told(p) : turnOf(bank.episodes, person);
  person.said++;
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
    const all = times.get(tool);
    if (all === undefined) times.set(tool, [ms]);
    else all.push(ms);
    return outcome.answer;
  }
  const failed = `${tool}: ${outcome.error.code}`;
  errors.set(failed, (errors.get(failed) ?? 0) + 1);
  return undefined;
}
