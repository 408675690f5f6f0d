/** Asks every question once, as an agent would, and records the results and their cost. */
import type { Memory } from "../../engine/memory/memory.ts";
import type { Mode } from "../../engine/memory/recall/retrieve.ts";
import type { ToolAnswer } from "../../engine/tools/index.ts";
import { answerOf } from "../build.ts";
import { picker, queryText } from "../sentences.ts";
import { stopwatch } from "../stopwatch.ts";
import type { Question } from "./data.ts";
import { type Filled, idIn, type Unit } from "./fill.ts";
import { type Scores, scoresOf } from "./metrics.ts";

export interface Asked {
  readonly unit: Unit;
  readonly category: string;
  readonly scores: Scores;
  readonly ms: number;
}

export interface Asking {
  readonly asked: readonly Asked[];
  /** CPU time of all threads, with the counting of references that follows each answer. */
  readonly cpuMs: number;
  readonly embedMs: number;
  readonly seconds: number;
  readonly mode: string;
  readonly degraded: string | undefined;
}

const LIMIT = 50;
/** References are counted after an answer; without a pause now and then the queue would only grow. */
const PAUSE_EVERY = 50;
const WARM_UP = 10;

export async function askAll(
  memory: Memory,
  units: readonly Unit[],
  filled: Filled,
  mode: Mode | undefined,
  progress: (done: number, total: number) => void,
): Promise<Asking> {
  const watch = stopwatch(memory);
  const search = (query: string) =>
    answerOf(watch.memory, "memory_search", { query, limit: LIMIT, ...(mode === undefined ? {} : { mode }) });
  const words = picker(20_260_601);
  for (let call = 0; call < WARM_UP; call++) await search(queryText(words));
  await memory.afterwards.settled();
  watch.take();

  const questions = units.flatMap((unit) => unit.corpus.questions.map((question) => ({ unit, question })));
  progress(0, questions.length);
  const answers: { unit: Unit; question: Question; answer: ToolAnswer<"memory_search">; ms: number }[] = [];
  const cpu = process.cpuUsage();
  const started = performance.now();
  for (const [index, { unit, question }] of questions.entries()) {
    const since = performance.now();
    const answer = await search(question.question);
    answers.push({ unit, question, answer, ms: performance.now() - since });
    if (index % PAUSE_EVERY !== PAUSE_EVERY - 1) continue;
    await memory.afterwards.settled();
    progress(index + 1, questions.length);
  }
  await memory.afterwards.settled();
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const embedMs = watch.take().embeds.reduce((total, ms) => total + ms, 0);

  const tokensOf = counted(memory);
  const asked = answers.map(({ unit, question, answer, ms }) => {
    const evidence = question.evidence.map((id) => filled.stored.get(idIn(unit, id)));
    const results = answer.results.map((result) => ({ id: result.id, tokens: tokensOf(result) }));
    return { unit, category: question.category, scores: scoresOf({ evidence, results }), ms };
  });
  const [first] = answers;
  const degraded = answers.find(({ answer }) => answer.degraded !== undefined)?.answer.degraded;
  return {
    asked,
    cpuMs: (user + system) / 1000,
    embedMs,
    seconds,
    mode: first?.answer.mode ?? mode ?? memory.settings.retrieval.default_mode,
    degraded,
  };
}

/** Counts the tokens of a memory once, however many questions it is returned for. */
function counted(memory: Memory): (result: { readonly id: string; readonly content: string }) => number {
  const known = new Map<string, number>();
  return ({ id, content }) => {
    const tokens = known.get(id) ?? memory.tokenizer.count(content);
    known.set(id, tokens);
    return tokens;
  };
}
