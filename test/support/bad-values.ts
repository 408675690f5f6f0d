/** For every argument of every tool: what must not get in, and why. */
export const ID = "0198c0de-1234-7abc-8def-0123456789ab";
/** Raw JSON, because half a surrogate pair and 10,000 levels do not survive every JSON.stringify. */
export const raw = (json: string) => ({ raw: json });
export const nested = (levels: number) => raw(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`);
export type Bad = readonly [why: string, value: unknown, field?: string];

const text = (max: number): Bad[] => [
  ["empty", ""],
  ["blank", " \n\t\u00a0"],
  ["zero-width only", "\u200b\u2060\ufeff\u200d"],
  ["NUL", "a\0b"],
  ["half a surrogate pair", raw('"a\\ud800b"')],
  ["too long", "x".repeat(max + 1)],
  ["a number", 7],
  ["null", null],
  ["a list", ["x"]],
  ["an object", { text: "x" }],
];
const LEARNED = { subject: "user", predicate: "likes", content: "Tea.", permanence: "stable", episodes: ["e1"] };
const choice: Bad[] = [
  ["unknown", "foo"],
  ["upper case", "FACT"],
  ["empty", ""],
  ["a number", 1],
  ["null", null],
];
const number = (below: number, above: number): Bad[] => [
  ["too small", below],
  ["too large", above],
  ["a word", "five"],
  ["NaN as text", "NaN"],
  ["infinite", raw("1e400")],
  ["null", null],
];
const whole = (above: number): Bad[] => [...number(0, above), ["negative", -1], ["1e9", 1e9], ["a fraction", 1.5]];
const id: Bad[] = [
  ["empty", ""],
  ["a word", "gibberish"],
  ["a letter too many", `${ID}0`],
  ["not hexadecimal", ID.replace("c", "z")],
  ["SQL", `${ID}' or true --`],
  ["NUL", `${ID}\0`],
  ["a number", 5],
  ["null", null],
];
const time: Bad[] = [
  ["a word", "yesterday"],
  ["month 13", "2026-13-01"],
  ["30 February", "2026-02-30T10:00:00Z"],
  ["hour 25", "2026-05-01T25:00:00Z"],
  ["year 0", "0000-01-01"],
  ["beyond year 9999", "9999-12-31T23:59:59-12:00"],
  ["a number", 1_700_000_000],
  ["empty", ""],
];
const tags: Bad[] = [
  ["text", "a,b"],
  ["33 tags", Array.from({ length: 33 }, (_, i) => `tag ${i}`)],
  ["a number inside", ["a", 7], "tags.1"],
  ["a list inside", [["a"]], "tags.0"],
  ["a blank one", ["a", " "], "tags.1"],
  ["NUL in one", ["\0"], "tags.0"],
  ["one too long", ["x".repeat(65)], "tags.0"],
];
const metadata: Bad[] = [
  ["100 levels", nested(100)],
  ["10,000 levels", nested(10_000)],
  ["NUL in a value", { a: ["b", "c\0"] }],
  ["NUL in a key", { "a\0": 1 }],
  ["half a surrogate pair", raw('{"a":"\\udc00"}')],
  ["too large", { a: "x".repeat(70_000) }],
  ["a list", [1]],
  ["text", "{"],
  ["a list as text", "[1]"],
  ["null", null],
];
export const request: Bad[] = [
  ["text", "r-1"],
  ["no request_id", { segment_id: "s" }, "request_context.request_id"],
  ["an empty one", { request_id: "" }, "request_context.request_id"],
  ["a number", { request_id: 5 }, "request_context.request_id"],
  ["too long", { request_id: "r".repeat(201) }, "request_context.request_id"],
  ["NUL", { request_id: "r", segment_id: "s\0" }, "request_context.segment_id"],
  ["half a surrogate pair", raw('{"request_id":"\\ud800"}'), "request_context.request_id"],
  ["unknown inside", { request_id: "r", span: 1 }, "request_context.span"],
];
const list = (name: string, max: number): Bad[] => [
  ["empty", []],
  ["too many", Array.from({ length: max + 1 }, () => ({}))],
  ["an object", {}],
  ["text", name],
  ["null", null],
];

const scope: Bad[] = text(280);
const butler: Bad[] = text(64);
const session_id: Bad[] = text(200);
const idempotency_key: Bad[] = [...text(200), ["10 KB", "k".repeat(10_240)]];
const content: Bad[] = [...text(100_000), ["5 MB", "word ".repeat(1_048_576)]];
const statement = text(8000);
const note = text(2000);
const importance = number(-1, 11);
const fraction = number(-0.1, 1.1);
const types: Bad[] = [
  ["unknown", ["fact", "foo"], "types.1"],
  ["empty", []],
  ["text", "fact"],
  ["four", Array(4).fill("fact")],
];
const explain: Bad[] = [
  ["text", "yes"],
  ["a number", 1],
  ["null", null],
];

interface Case {
  /** An input that works, to spoil one field of at a time. */
  readonly good: Readonly<Record<string, unknown>>;
  readonly bad: Readonly<Record<string, readonly Bad[]>>;
}

export const CASES: Readonly<Record<string, Case>> = {
  memory_context: {
    good: { trigger_prompt: "tea" },
    bad: {
      ...{ as_of: time, trigger_prompt: content, butler, token_budget: whole(100_001) },
      except: [
        ["text", ID],
        ["a word inside", ["nonsense"], "except.0"],
        ["1001 ids", Array.from({ length: 1001 }, () => ID)],
      ],
      except_session: text(200),
      min_fit: number(-0.1, 1.1),
      lasting: explain,
      opening: explain,
      explain,
    },
  },
  memory_search: {
    good: { query: "tea" },
    bad: {
      as_of: time,
      query: text(4000),
      types,
      scope,
      mode: choice,
      limit: whole(201),
      min_confidence: fraction,
      min_relevance: fraction,
      tier: choice,
      tags,
      rank: choice,
      explain,
    },
  },
  memory_recall: { good: { topic: "tea" }, bad: { topic: text(4000), scope, limit: whole(201), explain } },
  memory_store_episode: {
    good: { content: "We had tea." },
    bad: {
      content,
      butler,
      session_id,
      importance,
      tags,
      speaker: text(200),
      occurred_at: time,
      metadata,
      idempotency_key,
    },
  },
  memory_store_fact: {
    good: { subject: "user", predicate: "drinks", content: "tea" },
    bad: {
      subject: text(256),
      predicate: text(256),
      content: statement,
      importance,
      permanence: choice,
      scope,
      tags,
      confidence: fraction,
      valid_from: time,
      valid_to: time,
      source_episode_id: id,
      metadata,
      idempotency_key,
    },
  },
  memory_store_rule: {
    good: { content: "Warm the pot." },
    bad: { content: statement, scope, tags, source_episode_id: id, matcher: metadata, idempotency_key },
  },
  memory_confirm: { good: { id: ID }, bad: { type: [...choice, ["an episode", "episode"]], id } },
  memory_mark_helpful: { good: { rule_id: ID }, bad: { rule_id: id, session_id, note } },
  memory_mark_harmful: { good: { rule_id: ID }, bad: { rule_id: id, session_id, reason: note } },
  memory_store: { good: { content: "A note." }, bad: { content, tags, tier: choice } },
  memory_get: { good: { id: ID }, bad: { id, type: choice, as_of: time } },
  memory_why: {
    good: { id: ID, query: "tea" },
    bad: {
      id,
      query: content,
      for: choice,
      types,
      scope,
      mode: choice,
      limit: whole(201),
      min_confidence: fraction,
      min_relevance: fraction,
      tier: choice,
      tags,
      rank: choice,
      token_budget: whole(100_001),
    },
  },
  memory_forget: { good: { id: ID }, bad: { id, type: choice, reason: note } },
  memory_restore: { good: { id: ID }, bad: { id, type: choice } },
  memory_stats: { good: {}, bad: { scope } },
  memory_context_batch: { good: { requests: [{ trigger_prompt: "tea" }] }, bad: { requests: list("requests", 50) } },
  memory_ingest_batch: { good: { episodes: [{ content: "A row." }] }, bad: { episodes: list("episodes", 500) } },
  memory_activity_stream: {
    good: {},
    bad: {
      since: time,
      scope,
      limit: whole(1001),
      cursor: [...text(64), ["garbage", "e12'; drop table facts"], ["too far", `e${"9".repeat(30)}`]],
      newest: explain,
      changes: explain,
      session_id: text(200),
      ids: [
        ["text", ID],
        ["a word inside", ["nonsense"], "ids.0"],
        ["1001 ids", Array.from({ length: 1001 }, () => ID)],
      ],
    },
  },
  memory_consolidate: {
    good: {},
    bad: {
      run_id: id,
      limit: whole(26),
      facts: [
        ["text", "all of it"],
        ["61 facts", Array.from({ length: 61 }, () => LEARNED)],
        ["no words", [{ ...LEARNED, content: "\u200b" }], "facts.0.content"],
        ["NUL", [{ ...LEARNED, subject: "a\0b" }], "facts.0.subject"],
        ["no witness", [{ ...LEARNED, episodes: [] }], "facts.0.episodes"],
        ["an id for a label", [{ ...LEARNED, episodes: [ID] }], "facts.0.episodes.0"],
        ["a day that is none", [{ ...LEARNED, valid_to: "2026-13-45" }], "facts.0.valid_to"],
        ["unknown inside", [{ ...LEARNED, tenant: "other" }], "facts.0.tenant"],
      ],
      rules: [
        ["an object", { content: "x" }],
        ["21 rules", Array.from({ length: 21 }, () => ({ content: "Mind it.", episodes: ["e1"] }))],
      ],
      confirmations: [
        ["a number inside", [7], "confirmations.0"],
        ["of an episode", [{ id: "e1", episodes: ["e1"] }], "confirmations.0.id"],
      ],
    },
  },
  memory_dead_letters: {
    good: {},
    bad: {
      redrive: [
        ["text", "all"],
        ["none", []],
        ["no id", ["x"], "redrive.0"],
      ],
      all: [
        ["text", "yes"],
        ["null", null],
      ],
      limit: whole(201),
    },
  },
  memory_learning: {
    good: {},
    bad: {
      reset: [
        ["text", "yes"],
        ["null", null],
      ],
      limit: whole(1_001),
    },
  },
};
