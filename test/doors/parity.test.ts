/** One list of calls through every door, each on a fresh house with the same clock: the same answers, the same refusals. */
import { afterAll, describe, expect, it } from "vitest";
import { parseToolFlags } from "../../src/serve/cli.ts";
import { exitCode } from "../../src/serve/failures.ts";
import { toolNamed, tools } from "../../src/tools/index.ts";
import type { Outcome } from "../../src/tools/outcome.ts";
import { butler, cleanUp, emptyHome } from "../support/owner-processes.ts";
import { openRealHost, outcomeOf, plain, type RealHost } from "../support/real-host.ts";

type Input = Readonly<Record<string, unknown>>;
/** `$name` in an input stands for the id that the step of that name got. */
interface Step {
  readonly name?: string;
  readonly tool: string;
  readonly input: Input;
  /** Flags are text and become what the tool wants, so a wrong JSON type cannot be said with them. */
  readonly jsonOnly?: boolean;
  /** Also said to the real command, which takes most of a second each time. */
  readonly terminal?: boolean;
}

const NOBODY = "0198c0de-1234-7abc-8def-0123456789ab";
const step = (tool: string, input: Input, more: Partial<Step> = {}): Step => ({ tool, input, ...more });

const GOOD: readonly Step[] = [
  step("memory_stats", {}),
  step("memory_context", { trigger_prompt: "anything" }),
  step("memory_store_episode", { content: "Ada chose green tea over coffee.", session_id: "s-1", tags: ["tea", "kitchen"], importance: 7 }, { name: "episode" }),
  step("memory_store_episode", { content: "Ada chose green tea over coffee.", session_id: "s-1" }),
  step("memory_store_episode", { content: "Key sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789 was used.", butler: "general", speaker: "Ada", occurred_at: "2026-02-01T10:00:00+02:00", metadata: { place: { room: ["kitchen", 2] }, ok: true, none: null } }),
  step("memory_store_episode", { content: "Once only.", idempotency_key: "k-1" }),
  step("memory_store_episode", { content: "Once only.", idempotency_key: "k-1" }),
  step("memory_store_fact", { subject: "Ada", predicate: "likes:green tea", content: "Ada likes green tea", importance: 8, permanence: "stable", source_episode_id: "$episode" }, { name: "fact" }),
  step("memory_store_fact", { subject: "ada", predicate: "Likes: green_tea", content: "ada likes green tea." }),
  step("memory_store_fact", { subject: "Ada", predicate: "lives in", content: "Oslo", scope: "general", confidence: 0.9, valid_from: "2026-01-01", valid_to: "2027-01-01" }, { name: "oslo" }),
  step("memory_store_fact", { subject: "Ada", predicate: "lives in", content: "Bergen", scope: "general", tags: ["home, sweet home"] }, { name: "bergen" }),
  step("memory_store_rule", { content: "Warm the pot before making tea.", tags: ["tea"], matcher: { task: "tea" } }, { name: "rule" }),
  step("memory_store_rule", { content: "Warm the pot before making tea!" }),
  step("memory_store", { content: "A note for the year.", tier: "long" }, { name: "note" }),
  step("memory_store", { content: "--dashes at the start" }),
  step("memory_search", { query: "green tea" }),
  step("memory_search", { query: "green tea", types: ["fact", "rule"], mode: "keyword", limit: 2, explain: true, rank: "composite", min_confidence: 0.5 }),
  step("memory_search", { query: "note", tier: "long" }),
  step("memory_search", { query: "tea", tags: ["kitchen"], scope: "general", explain: false }),
  step("memory_search", { query: "zebra" }),
  step("memory_recall", { topic: "tea", limit: 5 }),
  step("memory_recall", { topic: "where does Ada live", scope: "global" }),
  step("memory_get", { id: "$fact" }),
  step("memory_get", { id: "$oslo", type: "fact" }),
  step("memory_get", { id: "$episode" }),
  step("memory_confirm", { type: "fact", id: "$fact", request_context: { request_id: "r-1", segment_id: "seg" } }),
  step("memory_mark_helpful", { rule_id: "$rule", session_id: "s-1", note: "It was hot." }),
  step("memory_mark_helpful", { rule_id: "$rule", session_id: "s-1" }),
  step("memory_mark_harmful", { rule_id: "$rule", reason: "It broke.", session_id: "s-2" }),
  step("memory_forget", { id: "$note", reason: "Not needed." }),
  step("memory_restore", { id: "$note" }),
  step("memory_context", { trigger_prompt: "Make Ada some tea", butler: "general", token_budget: 500 }),
  step("memory_context_batch", { requests: [{ trigger_prompt: "tea" }, { trigger_prompt: "" }, { trigger_prompt: "home", token_budget: 40 }] }),
  step("memory_ingest_batch", { episodes: [{ content: "Row one." }, { content: "Row two.", importance: 99 }, { content: "Row one." }] }),
  step("memory_activity_stream", { limit: 5 }),
  step("memory_activity_stream", { since: "2026-03-01", cursor: "e5", scope: "general" }),
  step("memory_stats", { scope: "general" }),
];

const BAD: readonly Step[] = [
  step("memory_search", {}, { terminal: true }),
  step("memory_search", { query: "" }, { jsonOnly: true }),
  step("memory_search", { query: " \u200b " }),
  step("memory_search", { query: "tea", limit: 0 }),
  step("memory_search", { query: "tea", limit: -1 }),
  step("memory_search", { query: "tea", limit: 1.5 }, { terminal: true }),
  step("memory_search", { query: "tea", limit: "many" }),
  step("memory_search", { query: "tea", types: ["fact", "foo"] }),
  step("memory_search", { query: "tea", mode: "psychic" }),
  step("memory_search", { query: "tea", scope: "*" }),
  step("memory_search", { query: "tea", scope: "travel" }),
  step("memory_search", { query: "tea", colour: "red" }, { terminal: true }),
  step("memory_search", { query: 7 }, { jsonOnly: true }),
  step("memory_search", { query: "tea", explain: "perhaps" }),
  step("memory_recall", { topic: "tea", request_context: { request_id: "r-2", span: "x" } }, { terminal: true }),
  step("memory_store_episode", { content: "a\u0000b" }),
  step("memory_store_episode", { content: "x", importance: 11, request_context: { request_id: "r-3" } }),
  step("memory_store_episode", { content: "x", butler: "travel" }, { terminal: true }),
  step("memory_store_episode", { content: "x", tags: ["ok", " "] }, { jsonOnly: true }),
  step("memory_store_episode", { content: "x", tags: "ok" }, { jsonOnly: true }),
  step("memory_store_episode", { content: "x", occurred_at: "2026-02-30" }),
  step("memory_store_episode", { content: "x", metadata: [1] }),
  step("memory_store_episode", { content: "Something else.", idempotency_key: "k-1" }),
  step("memory_store_fact", { subject: "a", predicate: "b", content: "c", valid_from: "2026-02-01", valid_to: "2026-01-01" }),
  step("memory_store_fact", { subject: "a", predicate: "b", content: "c", permanence: "eternal" }),
  step("memory_store_fact", { subject: "a", predicate: "b", content: "c", scope: "*" }),
  step("memory_store_fact", { subject: "a", predicate: "b", content: "c", source_episode_id: NOBODY }, { terminal: true }),
  step("memory_store_rule", { content: "x", source_episode_id: "nonsense" }),
  step("memory_store", { content: "x", tier: "attic" }),
  step("memory_get", { id: NOBODY }, { terminal: true }),
  step("memory_get", { id: "nonsense" }),
  step("memory_get", { id: "$fact", type: "rule" }),
  step("memory_confirm", { type: "episode", id: NOBODY }),
  step("memory_confirm", { id: "$oslo" }),
  step("memory_mark_helpful", { rule_id: NOBODY }),
  step("memory_mark_harmful", { rule_id: "$fact" }),
  step("memory_forget", { id: NOBODY, type: "fact" }),
  step("memory_restore", { id: "$oslo" }),
  step("memory_context", { trigger_prompt: "x", token_budget: 0 }),
  step("memory_context_batch", { requests: [] }),
  step("memory_ingest_batch", { episodes: {} }, { jsonOnly: true }),
  step("memory_activity_stream", { cursor: "garbage" }, { terminal: true }),
  step("memory_stats", { scope: "*" }),
];

const STEPS = [...GOOD, ...BAD];

type Door = (real: RealHost) => Promise<(step: Step) => Promise<Outcome>>;

const overPost: Door = async (real) => async ({ tool, input }) => {
  const { status, body } = await real.post(tool, JSON.stringify(input));
  return status === 200 ? { ok: true, answer: body } : { ok: false, error: body.error };
};

const overMcpHttp: Door = async (real) => {
  const client = await real.overHttp();
  return async ({ tool, input }) => outcomeOf(await client.callTool({ name: tool, arguments: input }));
};

const overMcpLines: Door = async (real) => {
  const lines = real.overLines();
  lines.send('{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}');
  await lines.next();
  let id = 0;
  return async ({ tool, input }) => {
    id += 1;
    lines.send(JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name: tool, arguments: input } }));
    return outcomeOf((await lines.next()).result);
  };
};

const overCli =
  (words: (step: Step) => string[]): Door =>
  async (real) =>
  async (step) => {
    const tool = toolNamed(step.tool);
    if (tool === undefined) throw new Error(`no tool ${step.tool}`);
    const parsed = parseToolFlags(tool, words(step));
    if (!parsed.ok) return parsed;
    return real.host.invoke(plain, "general", { tool: step.tool, input: parsed.command.input });
  };

const asJson = ({ input }: Step) => ["--json", JSON.stringify(input)];
const asFlags = (step: Step) => (step.jsonOnly ? asJson(step) : Object.entries(step.input).map(([name, value]) => flag(name, value)));
const flag = (name: string, value: unknown) =>
  `--${name.replaceAll("_", "-")}=${typeof value === "string" ? value : JSON.stringify(value)}`;

const DOORS: Readonly<Record<string, Door>> = {
  "MCP over HTTP": overMcpHttp,
  "MCP over stdio": overMcpLines,
  "call --json": overCli(asJson),
  "call with flags": overCli(asFlags),
};

/** Ids come from chance and are numbered in the order they appear; a hash of a text with ids in it says nothing. */
async function transcript(open: Door): Promise<unknown[]> {
  const real = await openRealHost();
  try {
    const call = await open(real);
    const ids = new Map<string, string>();
    const numbers = new Map<string, string>();
    const outcomes: unknown[] = [];
    for (const { input, ...rest } of STEPS) {
      const filled = JSON.parse(JSON.stringify(input), (_, value) => (typeof value === "string" && value.startsWith("$") ? (ids.get(value) ?? value) : value));
      const outcome = await call({ ...rest, input: filled });
      await real.house.settled();
      if (outcome.ok && rest.name !== undefined) ids.set(`$${rest.name}`, String(outcome.answer.id));
      outcomes.push(normalised(outcome, numbers));
    }
    return outcomes;
  } finally {
    await real.close();
  }
}

function normalised(outcome: Outcome, numbers: Map<string, string>): unknown {
  const text = JSON.stringify(outcome).replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => {
    if (!numbers.has(id)) numbers.set(id, `#${numbers.size + 1}`);
    return numbers.get(id) ?? id;
  });
  return JSON.parse(text, (key, value) => {
    if (key === "hash") return "…";
    // The command line speaks of flags where the others speak of arguments; code and field are the same.
    return key === "message" && /^(There is no flag --|unknown argument )/.test(value) ? "unknown" : value;
  });
}

let reference: Promise<unknown[]> | undefined;
const overHttp = () => (reference ??= transcript(overPost));

describe("HTTP, against which the others are held", () => {
  it("calls every tool both well and badly, with the expected outcomes", async () => {
    const outcomes = (await overHttp()) as Outcome[];
    expect(new Set(STEPS.map(({ tool }) => tool)).size).toBe(tools.length);
    GOOD.forEach((step, at) => expect(outcomes[at], `${step.tool} ${JSON.stringify(step.input)}`).toMatchObject({ ok: true }));
    BAD.forEach((step, at) => expect(outcomes[GOOD.length + at], `${step.tool} ${JSON.stringify(step.input)}`).toMatchObject({ ok: false }));
    const codes = new Set(outcomes.flatMap((outcome) => (outcome.ok ? [] : [outcome.error.code])));
    expect([...codes].toSorted()).toEqual(["conflict", "forbidden", "integrity", "invalid_input", "not_found"]);
  });
});

describe.each(Object.entries(DOORS))("%s", (_, door) => {
  it("gives the same answers and refusals as HTTP", async () => {
    const [ours, theirs] = [await transcript(door), await overHttp()];
    STEPS.forEach((step, at) => expect(ours[at], `${step.tool} ${JSON.stringify(step.input)}`).toEqual(theirs[at]));
  });
});

describe("the butler command", () => {
  afterAll(cleanUp);
  const NOW = { BUTLER_NOW: "2026-03-01T12:00:00.000Z" };

  it("prints the same JSON and ends with the code of the failure", async () => {
    const home = emptyHome();
    const run = async (tool: string, input: unknown) => {
      const { code, stdout, stderr } = await butler(home, ["call", tool, "--json", JSON.stringify(input)], NOW);
      expect(stderr).toBe("");
      return { code, body: JSON.parse(stdout) };
    };
    const stored = await run("memory_store_fact", { subject: "Ada", predicate: "drinks", content: "tea", request_context: { request_id: "r-9" } });
    expect(stored).toMatchObject({ code: 0, body: { status: "created", state: "active", scope: "global", request_id: "r-9" } });
    const real = await openRealHost();
    await real.post("memory_store_fact", JSON.stringify({ subject: "Ada", predicate: "drinks", content: "tea" }));
    for (const { tool, input } of BAD.filter(({ terminal }) => terminal)) {
      const { code, body } = await run(tool, input);
      const { body: wanted } = await real.post(tool, JSON.stringify(input));
      expect(body, JSON.stringify(input)).toEqual(wanted);
      expect(code).toBe(exitCode(wanted.error.code));
    }
    const stats = await run("memory_stats", {});
    const { body: wanted } = await real.post("memory_stats", "{}");
    expect(stats.body.facts).toEqual(wanted.facts);
    await real.close();
    await butler(home, ["stop"]);
  });
});
