/** Names that other memory tools, and models that remember them, use for our arguments. */
import { plainName } from "../domain/text/spelling.ts";

const MEANS: Readonly<Record<string, readonly string[]>> = {
  content: [
    "text",
    "object",
    "value",
    "body",
    "note",
    "message",
    "memory",
    "statement",
    "observation",
    "data",
    "fact",
    "rule",
  ],
  query: ["q", "question", "search", "search_query", "term", "terms", "keywords", "text", "prompt", "topic", "input"],
  topic: ["query", "q", "question", "subject", "text", "prompt"],
  trigger_prompt: ["prompt", "query", "q", "question", "text", "message", "input", "task", "topic"],
  subject: ["entity", "entity_name", "name", "about", "source", "node"],
  predicate: ["relation", "relation_type", "attribute", "property", "key", "field", "edge"],
  id: ["memory_id", "fact_id", "rule_id", "episode_id", "uuid", "key"],
  rule_id: ["id", "memory_id", "uuid", "rule"],
  limit: ["n", "k", "top_k", "topk", "max", "max_results", "num_results", "count", "size"],
  token_budget: ["budget", "max_tokens", "tokens", "limit"],
  types: ["type", "kind", "kinds", "memory_type", "memory_types"],
  type: ["types", "kind", "memory_type"],
  tags: ["tag", "labels", "categories", "category", "keywords"],
  session_id: ["session", "conversation_id", "thread_id", "run_id"],
  reason: ["note", "comment", "why", "explanation"],
  episodes: ["memories", "items", "messages", "rows", "batch", "observations"],
  requests: ["queries", "prompts", "items", "batch"],
  valid_from: ["valid_at", "from", "since", "start"],
  importance: ["priority", "weight", "salience"],
};

/** Of the arguments that a tool knows and was not given, the one that `name` means elsewhere. */
export const sameMeaning = (name: string, known: readonly string[]): string | undefined =>
  known.find((argument) => MEANS[argument]?.includes(plainName(name)));
