/** Fills a store through the product's own tools: 80 % episodes, 15 % facts, 5 % rules, in two scopes of one tenant. */
import { MemoryError } from "../engine/domain/errors.ts";
import { maintain } from "../engine/memory/keep/maintain.ts";
import type { Memory } from "../engine/memory/memory.ts";
import { callTool } from "../engine/tools/call.ts";
import type { ToolAnswer, ToolInput } from "../engine/tools/index.ts";
import { type AnyToolName, typedCall } from "../engine/tools/typed-call.ts";
import { type Build, round } from "./figures.ts";
import { turnOf } from "./hooks/sessions.ts";
import { distinct, episodeText, factOf, type Pick, picker, ruleText } from "./sentences.ts";

export type Progress = (done: number, total: number, what: string) => void;

const BATCH = 100;
/** Profile facts, with which every context block begins: a person has a few dozen of them, however large the store is. */
const PROFILE = 30;
const WHO = { name: "bench", tenant: "default", butler: "*", admin: false, voice: "user" } as const;

export async function answerOf<N extends AnyToolName>(
  memory: Memory,
  tool: N,
  input: ToolInput<N>,
  session?: string,
): Promise<ToolAnswer<N>> {
  const call = typedCall((request) => callTool(memory, WHO, request));
  const outcome = await call(tool, input, session === undefined ? {} : { session });
  if (!outcome.ok) throw new MemoryError(outcome.error.code, `${tool}: ${outcome.error.message}`);
  return outcome.answer;
}

export async function countMemories(memory: Memory): Promise<number> {
  const { episodes, facts, rules } = await answerOf(memory, "memory_stats", {});
  return episodes.total + facts.total + rules.total;
}

export async function buildStore(memory: Memory, n: number, progress: Progress): Promise<Build> {
  const p = picker(20_260_301);
  const rules = distinct(Math.round(n * 0.05), () => ruleText(p));
  const facts = distinct(
    Math.round(n * 0.15),
    () => factOf(p),
    ({ subject, predicate }) => `${subject}/${predicate}`.toLowerCase(),
  );
  const episodes = distinct(n - rules.length - facts.length, () => episodeText(p));
  const started = performance.now();
  let done = 0;
  const scope = () => ({ scope: p.chance(0.4) ? "global" : memory.butler });
  for (const content of rules) {
    await answerOf(memory, "memory_store_rule", { content, ...scope() });
    progress(++done, n, "rules");
  }
  for (const [index, fact] of facts.entries()) {
    const lasting = index < PROFILE ? { permanence: "stable" as const, importance: 8 } : { importance: p.number(7) };
    await answerOf(memory, "memory_store_fact", { ...fact, ...lasting, ...scope() });
    progress(++done, n, "facts");
  }
  const structuredMs = performance.now() - started;
  const episodesMs = await ingestAll(memory, episodes, p, (count) => progress(done + count, n, "episodes"));
  const builtMs = performance.now() - started;
  progress(n, n, "maintenance: folding words, building the vector index");
  const before = performance.now();
  await maintain(memory, { level: "full" });
  return {
    episodes: episodes.length,
    facts: facts.length,
    rules: rules.length,
    episodes_per_second: perSecond(episodes.length, episodesMs),
    facts_per_second: perSecond(rules.length + facts.length, structuredMs),
    seconds: round(builtMs / 1_000),
    maintenance_seconds: round((performance.now() - before) / 1_000),
  };
}

export const perSecond = (count: number, ms: number) => round(count / (ms / 1_000), 0);

/** Stores sessions of twenty episodes, half of them conversations of two people, and returns the milliseconds for all. */
export async function ingestAll(
  memory: Memory,
  texts: readonly string[],
  p: Pick,
  progress: (count: number) => void,
): Promise<number> {
  const started = performance.now();
  for (let at = 0; at < texts.length; at += BATCH) {
    const episodes = texts.slice(at, at + BATCH).map((content, index) => {
      const { session_id, speaker } = turnOf(at + index);
      return { content, session_id, importance: p.number(10), ...(speaker === undefined ? {} : { speaker }) };
    });
    const { results } = await answerOf(memory, "memory_ingest_batch", { episodes });
    const refused = results.filter((result) => !result.ok).length;
    if (refused > 0) throw new MemoryError("internal", `${refused} episodes were refused`);
    progress(Math.min(texts.length, at + BATCH));
  }
  return performance.now() - started;
}
