/** `[modules.memory]` of a butler.toml: the keys, what they accept and their defaults. */
import { z } from "zod";
import { PROVIDERS } from "../adapters/extractor/port.ts";
import { DAY_MS } from "../domain/lifecycle/decay.ts";
import type { PromotionBar } from "../domain/lifecycle/promotion.ts";
import type { Tier, TierPolicy } from "../domain/lifecycle/tiers.ts";
import { MIN_RELEVANCE } from "../domain/ranking/fit.ts";
import { readOwnPattern } from "../domain/redaction/own-pattern.ts";
import { PERSONAL_KINDS } from "../domain/redaction/personal.ts";
import { isBuiltIn, KIND_NAME } from "../domain/redaction/policy.ts";
import { SECRET_KINDS } from "../domain/redaction/scan.ts";

const share = z.number().min(0).max(1);
const positive = z.number().positive();
const count = z.number().int().positive();
const variable = z.string().regex(/^[A-Za-z_]\w*$/, "the name of an environment variable, not its value");

const Weights = z
  .strictObject({
    relevance: share.default(0.4),
    importance: share.default(0.3),
    recency: share.default(0.2),
    confidence: share.default(0.1),
  })
  .refine((w) => Math.abs(w.relevance + w.importance + w.recency + w.confidence - 1) < 1e-9, {
    message: "weights that add up to 1, those you leave out at their defaults",
  });

/** Shares of the token budget; what a section leaves unused goes to the next one. */
const Quotas = z
  .strictObject({
    profile: share.default(0.25),
    facts: share.default(0.35),
    rules: share.default(0.2),
    episodes: share.default(0.2),
  })
  .refine((q) => q.profile + q.facts + q.rules + q.episodes <= 1 + 1e-9, {
    message: "shares that add up to at most 1, those you leave out at their defaults",
  });

const OwnPattern = z.strictObject({
  name: z
    .string()
    .regex(KIND_NAME, "a name of small letters, digits, _ and -, as it will stand in the text")
    .refine((name) => !isBuiltIn(name), { message: "a name that no kind has already" }),
  pattern: z.string().superRefine((source, context) => {
    const read = readOwnPattern(source);
    if (!read.ok) context.addIssue(`a pattern that is quick on any text; this one ${read.reason}`);
  }),
});

const Privacy = z.strictObject({
  redact: z.boolean().default(true),
  // Kinds of secrets that are left where they are.
  keep_kinds: z.array(z.enum(SECRET_KINDS)).default([]),
  also: z.array(z.enum(PERSONAL_KINDS)).default([]),
  patterns: z.array(OwnPattern).max(50).default([]),
  // Facts with these predicates are stored encrypted.
  encrypt_predicates: z.array(z.string().min(1)).max(200).default([]),
  encryption_key_env: variable.default("BUTLER_ENCRYPTION_KEY"),
  // Wins over the variable.
  encryption_key_file: z.string().min(1).optional(),
});

export const Settings = z
  .strictObject({
    enabled: z.boolean().default(true),
    // The shared Memory Butler that keeps this butler's memories; without it they are kept here.
    service: z
      .string()
      .superRefine((address, context) => {
        const expected = expectedOfService(address);
        if (expected !== undefined) context.addIssue(expected);
      })
      .optional(),
    service_token_env: variable.default("BUTLER_SERVICE_TOKEN"),
    // Wins over the variable.
    service_token_file: z.string().min(1).optional(),
    embedding_model: z.literal("all-MiniLM-L6-v2").default("all-MiniLM-L6-v2"),
    embedding_dimensions: z.literal(384).default(384),
    embedding_variant: z.enum(["int8", "fp32"]).default("int8"),
    episodes: z
      .strictObject({
        default_ttl_days: positive.default(7),
        max_entries: count.default(10_000),
        // How long after its time is over an unconsolidated episode still waits; then it becomes a dead letter.
        unlearned_grace_days: positive.default(30),
      })
      .prefault({}),
    facts: z
      .strictObject({
        retrieval_confidence_threshold: share.default(0.2),
        expiry_confidence_threshold: share.default(0.05),
      })
      .refine((f) => f.expiry_confidence_threshold <= f.retrieval_confidence_threshold, {
        message: "an expiry_confidence_threshold that is not above retrieval_confidence_threshold",
      })
      .prefault({}),
    rules: z
      .strictObject({
        promote_to_established: z
          .strictObject({ min_successes: count.default(5), min_effectiveness: share.default(0.6) })
          .prefault({}),
        promote_to_proven: z
          .strictObject({
            min_successes: count.default(15),
            min_effectiveness: share.default(0.8),
            min_age_days: z.number().min(0).default(30),
          })
          .prefault({}),
        harmful_to_antipattern: z
          .strictObject({ min_harmful: count.default(3), max_effectiveness: share.default(0.3) })
          .prefault({}),
      })
      .prefault({}),
    retrieval: z
      .strictObject({
        default_limit: z.number().int().min(1).max(200).default(20),
        default_mode: z.enum(["hybrid", "semantic", "keyword"]).default("hybrid"),
        // A result whose fit is below this is not returned; 0 returns everything.
        min_relevance: share.default(MIN_RELEVANCE),
        context_token_budget: z.number().int().min(1).max(100_000).default(3000),
        tokenizer: z.enum(["o200k_base", "cl100k_base"]).default("o200k_base"),
        score_weights: Weights.prefault({}),
        quotas: Quotas.prefault({}),
        rerank: z.enum(["late-interaction", "cross-encoder", "none"]).default("late-interaction"),
        // A folder, an .onnx file or a name on the model hub; read only when rerank is "cross-encoder".
        rerank_model: z.string().min(1).default("cross-encoder/ms-marco-MiniLM-L6-v2"),
        rerank_model_sha256: z
          .string()
          .regex(/^[0-9a-f]{64}$/)
          .optional(),
        diversify: z.boolean().default(true),
        intent_routing: z.boolean().default(true),
        vector_index: z.enum(["auto", "none", "ivfflat", "hnsw"]).default("auto"),
      })
      .prefault({}),
    // Eden promotes after `promote_after_refs` references from `promote_from_sessions` sessions and `promote_after_hours`.
    eden: z
      .strictObject({
        ttl_hours: positive.optional(),
        max_entries: count.optional(),
        promote_after_refs: count.default(3),
        promote_from_sessions: count.default(2),
        promote_after_hours: z.number().min(0).default(6),
        protection_threshold: count.optional(),
      })
      .prefault({}),
    // Mid promotes after `promote_after_refs` references on `promote_on_days` days and `promote_after_days` in the tier.
    mid: z
      .strictObject({
        ttl_days: positive.default(30),
        max_entries: count.default(500),
        promote_after_refs: count.default(10),
        promote_on_days: count.default(3),
        promote_after_days: z.number().min(0).default(7),
        protection_threshold: count.optional(),
      })
      .prefault({}),
    // An episode that was referenced `protection_threshold` times does not expire; in long it is not evicted either.
    long: z
      .strictObject({
        ttl_days: positive.default(365),
        max_entries: count.default(200),
        protection_threshold: count.default(1),
      })
      .prefault({}),
    // Prices are in US dollars for a million tokens; without them the built-in price list is used.
    extractor: z
      .strictObject({
        provider: z.enum(PROVIDERS).default("local"),
        model: z.string().min(1).optional(),
        base_url: z.url().optional(),
        api_key_env: variable.optional(),
        daily_budget_usd: z.number().min(0).default(1),
        timeout_seconds: z.number().min(1).max(140).default(120),
        input_price: z.number().min(0).optional(),
        output_price: z.number().min(0).optional(),
        // Whether a model is asked only about episodes in which the trained reader sees a chance of something lasting.
        prefilter: z.boolean().default(true),
      })
      .prefault({}),
    hooks: z
      .strictObject({
        // Whether a line in the agent tells the person what was learned since.
        notices: z.boolean().default(true),
      })
      .prefault({}),
    privacy: Privacy.prefault({}),
    // How long each reading is an event of its own, and after how long all older events of a memory become one; without
    // keep_days they are all kept.
    events: z
      .strictObject({ keep_days: z.number().min(1).optional(), keep_reads_days: z.number().min(1).default(30) })
      .prefault({}),
    // How long a daemon may be silent before others take over the run of a job that it has under way.
    jobs: z.strictObject({ lease_seconds: z.number().min(1).max(3600).default(120) }).prefault({}),
  })
  .describe("[modules.memory]");

export type Settings = z.infer<typeof Settings>;

const SERVICE_PATH = /\/(?:mcp|butlers\/[a-z][a-z0-9_-]{0,31}\/?)$/;

/** What is missing in the address of a shared Memory Butler; undefined when it is one. */
function expectedOfService(address: string): string | undefined {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    return 'an http or https address such as "http://127.0.0.1:4270/butlers/memory/mcp"';
  if (url.username !== "" || url.password !== "")
    return "an address without user and password: the token is read from service_token_file or service_token_env";
  if (url.search !== "" || url.hash !== "") return "an address without ? and #";
  return SERVICE_PATH.test(url.pathname) ? undefined : "an address that ends in /butlers/<name> or /mcp";
}

export function tierPolicy(settings: Settings, tier: Tier): TierPolicy {
  if (tier !== "eden") {
    const { ttl_days, max_entries, protection_threshold } = settings[tier];
    return { ttlMs: ttl_days * DAY_MS, maxEntries: max_entries, protectedFrom: protection_threshold };
  }
  const { ttl_hours, max_entries, protection_threshold } = settings.eden;
  return {
    ttlMs: ttl_hours === undefined ? settings.episodes.default_ttl_days * DAY_MS : ttl_hours * 3_600_000,
    maxEntries: max_entries ?? settings.episodes.max_entries,
    protectedFrom: protection_threshold,
  };
}

export function promotionBar(settings: Settings, from: "eden" | "mid"): PromotionBar {
  if (from === "mid") {
    const { promote_after_refs, promote_on_days, promote_after_days } = settings.mid;
    return { references: promote_after_refs, sessions: 1, days: promote_on_days, ageMs: promote_after_days * DAY_MS };
  }
  const { promote_after_refs, promote_from_sessions, promote_after_hours } = settings.eden;
  return {
    references: promote_after_refs,
    sessions: promote_from_sessions,
    days: 1,
    ageMs: promote_after_hours * 3_600_000,
  };
}
