/** A small host for the doors: a few tools of the real menu's shape, and a host that checks input as the real one does. */
import { z } from "zod";
import type { Backend, ButlerInfo, Health, Principal } from "../../src/doors/backend.ts";
import { RequestContext } from "../../src/engine/domain/request.ts";
import type { Call } from "../../src/engine/memory/memory.ts";
import { defineTool, type Tool } from "../../src/engine/tools/define.ts";
import type { Outcome, ToolRequest } from "../../src/engine/tools/outcome.ts";

const lineage = { request_context: RequestContext.optional() };
const answerId = z.object({ id: z.string(), butler: z.string().optional(), request_id: z.string().optional() });

const storeEpisode = defineTool({
  name: "memory_store_episode",
  title: "Store an episode",
  description: "Store what happened.",
  input: z.strictObject({
    content: z.string().min(1).describe("What happened."),
    butler: z.string(),
    session_id: z.string().optional(),
    importance: z.number().min(0).max(10).default(5),
    tags: z.array(z.string()).default([]),
    occurred_at: z.iso.datetime({ offset: true }).optional(),
    metadata: z.record(z.string(), z.unknown()).optional(),
    ...lineage,
  }),
  output: answerId,
  effect: "write",
  core: true,
  run: async (_call, input) => ({ id: `episode of ${input.content.length} letters`, butler: input.butler }),
  text: (answer) => `Stored ${answer.id}.`,
});

const storeFact = defineTool({
  name: "memory_store_fact",
  title: "Store a fact",
  description: "Store a fact.",
  input: z.strictObject({
    subject: z.string(),
    predicate: z.string(),
    content: z.string(),
    permanence: z.enum(["permanent", "stable", "standard"]).default("standard"),
    ...lineage,
  }),
  output: answerId,
  effect: "write",
  core: true,
  run: async (_call, input) => ({ id: `${input.subject} ${input.predicate} ${input.content}` }),
  text: (answer) => `Stored ${answer.id}.`,
});

const storeRule = defineTool({
  name: "memory_store_rule",
  title: "Store a rule",
  description: "Store a rule.",
  input: z.strictObject({ content: z.string(), ...lineage }),
  output: answerId,
  effect: "write",
  core: true,
  run: async (_call, input) => ({ id: input.content }),
  text: (answer) => `Stored ${answer.id}.`,
});

const search = defineTool({
  name: "memory_search",
  title: "Search memories",
  description: "Search everything.",
  input: z.strictObject({
    query: z.string().min(1),
    types: z.array(z.enum(["episode", "fact", "rule"])).optional(),
    limit: z.int().min(1).max(100).default(10),
    explain: z.boolean().default(false),
    ...lineage,
  }),
  output: z.object({
    results: z.array(z.looseObject({ type: z.string(), id: z.string(), content: z.string(), score: z.number() })),
    mode: z.string(),
    request_id: z.string().optional(),
  }),
  effect: "read",
  core: true,
  run: async (_call, input) => ({
    results: [{ type: "fact", id: "f1", content: `about ${input.query}`, score: 0.5 + input.limit / 1000 }],
    mode: "hybrid",
    ...(input.request_context ? { request_id: input.request_context.request_id } : {}),
  }),
  text: (answer) => answer.results.map((row) => `${row.type}: ${row.content}`).join("\n"),
});

const recall = defineTool({
  name: "memory_recall",
  title: "Recall a topic",
  description: "Facts and rules about a topic.",
  input: z.strictObject({ topic: z.string().min(1), limit: z.int().default(10), ...lineage }),
  output: z.object({ results: z.array(z.looseObject({ type: z.string() })) }),
  effect: "read",
  core: true,
  run: async () => ({ results: [] }),
  text: () => "Nothing.",
});

const context = defineTool({
  name: "memory_context",
  title: "Memory context",
  description: "What to know before a task.",
  input: z.strictObject({ trigger_prompt: z.string().min(1), butler: z.string(), token_budget: z.int().optional() }),
  output: z.object({ text: z.string(), tokens: z.int() }),
  effect: "read",
  core: true,
  run: async (_call, input) => ({ text: `<memory>${input.butler}: ${input.trigger_prompt}</memory>`, tokens: 9 }),
  text: (answer) => answer.text,
});

const stats = defineTool({
  name: "memory_stats",
  title: "Statistics",
  description: "Counts.",
  input: z.strictObject({ scope: z.string().optional() }),
  output: z.object({ episodes: z.looseObject({ total: z.int() }), links: z.int().nullable() }),
  effect: "read",
  core: false,
  run: async () => ({ episodes: { total: 3, by_tier: { eden: 2, mid: 1 } }, links: null }),
  text: (answer) => `${answer.episodes.total} episodes`,
});

const get = defineTool({
  name: "memory_get",
  title: "Read one memory",
  description: "One memory.",
  input: z.strictObject({ id: z.string(), type: z.enum(["episode", "fact", "rule"]).optional() }),
  output: z.object({ memory: z.looseObject({ id: z.string() }) }),
  effect: "read",
  core: false,
  run: async (_call, input) => ({ memory: { id: input.id, type: input.type ?? "fact" } }),
  text: (answer) => answer.memory.id,
});

const forget = defineTool({
  name: "memory_forget",
  title: "Forget",
  description: "Forget one memory.",
  input: z.strictObject({ id: z.string() }),
  output: z.object({ id: z.string(), state: z.string() }),
  effect: "forget",
  core: false,
  run: async (_call, input) => ({ id: input.id, state: "retracted" }),
  text: (answer) => `Forgot ${answer.id}.`,
});

export const fakeTools: readonly Tool[] = [
  storeEpisode,
  storeFact,
  storeRule,
  search,
  recall,
  context,
  stats,
  get,
  forget,
];

export const fakeTool = (name: string): Tool => {
  const tool = fakeTools.find((known) => known.name === name);
  if (tool === undefined) throw new Error(`the fake menu has no ${name}`);
  return tool;
};

export const anyone: Principal = { name: "root", tenant: "home", butler: "*", admin: true, voice: "agent" };

export interface Seen {
  readonly principal: Principal;
  readonly butler: string;
  readonly request: ToolRequest;
}

export interface FakeHost extends Backend {
  readonly seen: Seen[];
}

const HOUSE: readonly ButlerInfo[] = [
  { name: "general", role: "butler", description: "Does everything & more." },
  { name: "travel", role: "butler", description: "Plans <journeys>." },
  { name: "keeper", role: "memory", description: "Remembers for the others." },
];

export function fakeHost(overrides: Partial<Backend> = {}): FakeHost {
  const seen: Seen[] = [];
  return {
    seen,
    butlers: async () => HOUSE,
    health: async (): Promise<Health> => ({ ok: true, version: "1.2.3", model: "test", butlers: [] }),
    invoke: async (principal, butler, request) => {
      seen.push({ principal, butler, request });
      return answered(butler, request);
    },
    ...overrides,
  };
}

/** Ids `missing`, `locked`, `broken` and `down` stand for the ways in which a real memory fails. */
async function answered(butler: string, { tool: name, input }: ToolRequest): Promise<Outcome> {
  const tool = fakeTool(name);
  const parsed = tool.input.safeParse(input);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const unknown = issue?.code === "unrecognized_keys" ? issue.keys[0] : undefined;
    const field = unknown ?? issue?.path.join(".") ?? "";
    return { ok: false, error: { code: "invalid_input", message: `${field || "input"}: ${issue?.message}`, field } };
  }
  const { id, butler: named } = parsed.data as { id?: string; butler?: string };
  if (named !== undefined && named !== butler) {
    return { ok: false, error: { code: "forbidden", message: `You are ${butler}, not ${named}.`, field: "butler" } };
  }
  if (id === "missing") return { ok: false, error: { code: "not_found", message: "There is no memory missing." } };
  if (id === "locked") return { ok: false, error: { code: "conflict", message: "It changed.", request_id: "r1" } };
  if (id === "broken") return { ok: false, error: { code: "integrity", message: "Provenance is lost." } };
  if (id === "down") return { ok: false, error: { code: "unavailable", message: "The store is down." } };
  // The fake tools look at their input only.
  const answer = await tool.run({} as Call, parsed.data);
  return { ok: true, answer };
}
