/** The calls that every door must answer alike: a story that works, then everything that must be refused. */
type Input = Readonly<Record<string, unknown>>;
/** `$name` in an input stands for the id that the step of that name got. */
export interface Step {
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

export const GOOD: readonly Step[] = [
  step("memory_stats", {}),
  step("memory_context", { trigger_prompt: "anything" }),
  step(
    "memory_store_episode",
    { content: "Ada chose green tea over coffee.", session_id: "s-1", tags: ["tea", "kitchen"], importance: 7 },
    { name: "episode" },
  ),
  step("memory_store_episode", { content: "Ada chose green tea over coffee.", session_id: "s-1" }),
  step("memory_store_episode", {
    content: "Key sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789 was used.",
    butler: "general",
    speaker: "Ada",
    occurred_at: "2026-02-01T10:00:00+02:00",
    metadata: { place: { room: ["kitchen", 2] }, ok: true, none: null },
  }),
  step("memory_store_episode", { content: "Once only.", idempotency_key: "k-1" }),
  step("memory_store_episode", { content: "Once only.", idempotency_key: "k-1" }),
  step(
    "memory_store_fact",
    {
      subject: "Ada",
      predicate: "likes:green tea",
      content: "Ada likes green tea",
      importance: 8,
      permanence: "stable",
      source_episode_id: "$episode",
    },
    { name: "fact" },
  ),
  step("memory_store_fact", { subject: "ada", predicate: "Likes: green_tea", content: "ada likes green tea." }),
  step(
    "memory_store_fact",
    {
      subject: "Ada",
      predicate: "lives in",
      content: "Oslo",
      scope: "general",
      confidence: 0.9,
      valid_from: "2026-01-01",
      valid_to: "2027-01-01",
    },
    { name: "oslo" },
  ),
  step(
    "memory_store_fact",
    { subject: "Ada", predicate: "lives in", content: "Bergen", scope: "general", tags: ["home, sweet home"] },
    { name: "bergen" },
  ),
  step(
    "memory_store_rule",
    { content: "Warm the pot before making tea.", tags: ["tea"], matcher: { task: "tea" } },
    { name: "rule" },
  ),
  step("memory_store_rule", { content: "Warm the pot before making tea!" }),
  step("memory_store", { content: "A note for the year.", tier: "long" }, { name: "note" }),
  step("memory_store", { content: "--dashes at the start" }),
  step("memory_search", { query: "green tea" }),
  step("memory_search", {
    query: "green tea",
    types: ["fact", "rule"],
    mode: "keyword",
    limit: 2,
    explain: true,
    rank: "composite",
    min_confidence: 0.5,
  }),
  step("memory_search", { query: "note", tier: "long" }),
  step("memory_search", { query: "tea", tags: ["kitchen"], scope: "general", explain: false }),
  step("memory_search", { query: "zebra" }),
  step("memory_recall", { topic: "tea", limit: 5 }),
  step("memory_recall", { topic: "where does Ada live", scope: "global" }),
  step("memory_get", { id: "$fact" }),
  step("memory_get", { id: "$oslo", type: "fact" }),
  step("memory_get", { id: "$episode" }),
  step("memory_why", { id: "$fact", query: "green tea" }),
  step("memory_why", { id: "$oslo", query: "home", types: ["fact"], limit: 3, mode: "keyword", scope: "general" }),
  step("memory_why", { id: "$rule", query: "Make Ada some tea", for: "context", token_budget: 500 }),
  step("memory_confirm", { type: "fact", id: "$fact", request_context: { request_id: "r-1", segment_id: "seg" } }),
  step("memory_mark_helpful", { rule_id: "$rule", session_id: "s-1", note: "It was hot." }),
  step("memory_mark_helpful", { rule_id: "$rule", session_id: "s-1" }),
  step("memory_mark_harmful", { rule_id: "$rule", reason: "It broke.", session_id: "s-2" }),
  step("memory_forget", { id: "$note", reason: "Not needed." }),
  step("memory_restore", { id: "$note" }),
  step("memory_context", { trigger_prompt: "Make Ada some tea", butler: "general", token_budget: 500 }),
  step("memory_context_batch", {
    requests: [{ trigger_prompt: "tea" }, { trigger_prompt: "" }, { trigger_prompt: "home", token_budget: 40 }],
  }),
  step("memory_ingest_batch", {
    episodes: [{ content: "Row one." }, { content: "Row two.", importance: 99 }, { content: "Row one." }],
  }),
  step("memory_activity_stream", { limit: 5 }),
  step("memory_activity_stream", { since: "2026-03-01", cursor: "e0", scope: "general" }),
  step("memory_activity_stream", { newest: true, changes: true, limit: 3 }),
  step("memory_stats", { scope: "general" }),
  step("memory_dead_letters", { limit: 3 }),
  step("memory_learning", { limit: 3 }),
  step("memory_learning", { reset: true }),
  step("memory_consolidate", { limit: 2 }),
];

export const BAD: readonly Step[] = [
  step("memory_consolidate", { run_id: "the last one" }),
  step("memory_consolidate", { facts: [{ subject: "user" }] }, { jsonOnly: true }),
  step("memory_dead_letters", { limit: 0 }),
  step("memory_learning", { limit: 0 }),
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
  step("memory_store_fact", {
    subject: "a",
    predicate: "b",
    content: "c",
    valid_from: "2026-02-01",
    valid_to: "2026-01-01",
  }),
  step("memory_store_fact", { subject: "a", predicate: "b", content: "c", permanence: "eternal" }),
  step("memory_store_fact", { subject: "a", predicate: "b", content: "c", scope: "*" }),
  step(
    "memory_store_fact",
    { subject: "a", predicate: "b", content: "c", source_episode_id: NOBODY },
    { terminal: true },
  ),
  step("memory_store_rule", { content: "x", source_episode_id: "nonsense" }),
  step("memory_store", { content: "x", tier: "attic" }),
  step("memory_get", { id: NOBODY }, { terminal: true }),
  step("memory_get", { id: "nonsense" }),
  step("memory_get", { id: "$fact", type: "rule" }),
  step("memory_why", { id: NOBODY, query: "tea" }, { terminal: true }),
  step("memory_why", { id: "$fact", query: "tea", token_budget: 100 }),
  step("memory_why", { id: "$fact", query: "tea", for: "context", limit: 3 }),
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

export const STEPS = [...GOOD, ...BAD];
