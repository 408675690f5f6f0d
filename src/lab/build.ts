/** Fills a store through the product's own tools: 80 % episodes, 15 % facts, 5 % rules, in two scopes of one tenant. */
import { MemoryError } from "../engine/domain/errors.ts";
import { projectScope } from "../engine/domain/scope.ts";
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
  where: { readonly session?: string; readonly project?: string | undefined } = {},
): Promise<ToolAnswer<N>> {
  const { project, ...session } = where;
  const call = typedCall((request) => callTool(memory, WHO, request));
  const outcome = await call(tool, input, { ...session, ...(project === undefined ? {} : { project }) });
  if (!outcome.ok) throw new MemoryError(outcome.error.code, `${tool}: ${outcome.error.message}`);
  return outcome.answer;
}

export async function countMemories(memory: Memory, project?: string): Promise<number> {
  const { episodes, facts, rules } = await answerOf(memory, "memory_stats", {}, { project });
  return episodes.total + facts.total + rules.total;
}

/** In a project the memories belong to its scope instead of the butler's. */
export async function buildStore(memory: Memory, n: number, progress: Progress, project?: string): Promise<Build> {
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
  const own = project === undefined ? memory.butler : projectScope(memory.butler, project);
  const scope = () => ({ scope: p.chance(0.4) ? "global" : own });
  for (const content of rules) {
    await answerOf(memory, "memory_store_rule", { content, ...scope() }, { project });
    progress(++done, n, "rules");
  }
  for (const [index, fact] of facts.entries()) {
    const lasting = index < PROFILE ? { permanence: "stable" as const, importance: 8 } : { importance: p.number(7) };
    await answerOf(memory, "memory_store_fact", { ...fact, ...lasting, ...scope() }, { project });
    progress(++done, n, "facts");
  }
  const structuredMs = performance.now() - started;
  const told = (count: number) => progress(done + count, n, "episodes");
  const episodesMs = await ingestAll(memory, episodes, p, told, project);
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
  project?: string,
): Promise<number> {
  const started = performance.now();
  for (let at = 0; at < texts.length; at += BATCH) {
    const episodes = texts.slice(at, at + BATCH).map((content, index) => {
      const { session_id, speaker } = turnOf(at + index);
      return { content, session_id, importance: p.number(10), ...(speaker === undefined ? {} : { speaker }) };
    });
    const { results } = await answerOf(memory, "memory_ingest_batch", { episodes }, { project });
    const refused = results.filter((result) => !result.ok).length;
    if (refused > 0) throw new MemoryError("internal", `${refused} episodes were refused`);
    progress(Math.min(texts.length, at + BATCH));
  }
  return performance.now() - started;
}
