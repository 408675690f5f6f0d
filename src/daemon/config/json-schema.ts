/** One line about each key of a `butler.toml`, which editors show from the JSON schema. */
import { z } from "zod";
import { JOB_NAMES } from "../../engine/memory/keep/job.ts";
import { ButlerToml } from "./schema.ts";

const MEMORY: Readonly<Record<string, string>> = {
  "": "Memory is opt-in: this table switches it on.",
  enabled: "False keeps the settings and switches the memory off.",
  service: "Address of a shared Memory Butler that keeps the memories; without it they are kept here.",
  service_token_env: "Name of the environment variable that holds the token for the service.",
  service_token_file: "File that holds the token for the service; wins over the variable.",
  embedding_model: "The model that turns texts into vectors.",
  embedding_dimensions: "How many numbers a vector has.",
  embedding_variant: "int8 is quicker and smaller, fp32 a little more exact.",
  episodes: "What happened: short-lived notes.",
  "episodes.default_ttl_days": "How long an episode lives that nobody asks for.",
  "episodes.unlearned_grace_days":
    "How long after its time an episode goes on waiting to be learned from before it is a dead letter.",
  "episodes.max_entries": "How many episodes are kept in eden.",
  facts: "What is true.",
  "facts.retrieval_confidence_threshold": "Below this effective confidence a fact is not recalled.",
  "facts.expiry_confidence_threshold": "Below this effective confidence a fact expires.",
  rules: "How to behave.",
  "rules.promote_to_established": "When a candidate becomes an established rule.",
  "rules.promote_to_established.min_successes": "Helpful marks it needs.",
  "rules.promote_to_established.min_effectiveness": "Effectiveness it needs.",
  "rules.promote_to_proven": "When an established rule becomes a proven one.",
  "rules.promote_to_proven.min_successes": "Helpful marks it needs.",
  "rules.promote_to_proven.min_effectiveness": "Effectiveness it needs.",
  "rules.promote_to_proven.min_age_days": "How old it must be.",
  "rules.harmful_to_antipattern": "When a rule is turned into a warning.",
  "rules.harmful_to_antipattern.min_harmful": "Harmful marks it takes.",
  "rules.harmful_to_antipattern.max_effectiveness": "Effectiveness it must be below.",
  retrieval: "How memories are found and shown.",
  "retrieval.default_limit": "Results when a caller names no limit.",
  "retrieval.default_mode": "hybrid searches by words and by meaning.",
  "retrieval.min_relevance": "What fits a search less than this is not returned.",
  "retrieval.context_token_budget": "The most tokens a context block may have.",
  "retrieval.tokenizer": "What counts the tokens.",
  "retrieval.score_weights": "Parts of the composite score; they add up to 1.",
  "retrieval.score_weights.relevance": "How well it fits the question.",
  "retrieval.score_weights.importance": "How important it was said to be.",
  "retrieval.score_weights.recency": "How recently it was used.",
  "retrieval.score_weights.confidence": "How far it is still believed.",
  "retrieval.quotas": "Shares of the token budget; what one leaves goes to the next.",
  "retrieval.quotas.profile": "Lasting facts and proven rules, whatever the prompt.",
  "retrieval.quotas.facts": "Facts that fit the prompt.",
  "retrieval.quotas.rules": "Rules that fit the prompt.",
  "retrieval.quotas.episodes": "Episodes that fit the prompt.",
  "retrieval.rerank": "What reads the candidates closely before they are ranked.",
  "retrieval.rerank_model": "A folder, an .onnx file or a name on the model hub; for rerank = cross-encoder.",
  "retrieval.rerank_model_sha256":
    "The weights' hash, 64 hexadecimal digits; without it a model of the hub is held to its first bytes.",
  "retrieval.diversify": "Keeps one subject from filling a list.",
  "retrieval.intent_routing": "A how-to question gets more rules, a when question more episodes.",
  "retrieval.vector_index": "auto lets the index grow with the store.",
  eden: "The first tier of episodes.",
  "eden.ttl_hours": "How long an episode lives there after its last reference; wins over episodes.default_ttl_days.",
  "eden.max_entries": "How many it holds; wins over episodes.max_entries.",
  "eden.promote_after_refs": "References it takes to rise to mid.",
  "eden.promote_from_sessions": "From how many sessions they must come.",
  "eden.promote_after_hours": "How old it must be to rise.",
  "eden.protection_threshold": "References from which on time alone ends no episode there.",
  mid: "The second tier of episodes.",
  "mid.ttl_days": "How long an episode lives there after its last reference.",
  "mid.max_entries": "How many it holds.",
  "mid.promote_after_refs": "References it takes to rise to long.",
  "mid.promote_on_days": "On how many days they must have been.",
  "mid.promote_after_days": "How long it must have been in mid.",
  "mid.protection_threshold": "References from which on time alone ends no episode there.",
  long: "The last tier of episodes.",
  "long.ttl_days": "How long an episode lives there that is not protected.",
  "long.max_entries": "How many it holds.",
  "long.protection_threshold": "References from which on an episode is kept there, whatever the time and the room.",
  extractor: "Who reads episodes and says what is to be learned.",
  "extractor.provider": "local asks no language model.",
  "extractor.model": "The model's name at its provider.",
  "extractor.base_url": "Address of an openai-compatible server.",
  "extractor.api_key_env": "Name of the environment variable that holds the key.",
  "extractor.daily_budget_usd": "The most it may cost a day, in US dollars.",
  "extractor.timeout_seconds": "How long one answer may take.",
  "extractor.input_price": "US dollars for a million tokens read.",
  "extractor.output_price": "US dollars for a million tokens written.",
  "extractor.prefilter":
    "Whether a model is asked only about episodes in which the trained reader sees something lasting.",
  privacy: "What must not be stored.",
  hooks: "What hooks of agents do besides giving memory.",
  "hooks.notices": "Whether a line in the agent tells what was learned since.",
  "privacy.redact": "Takes secrets out of everything before it is stored.",
  "privacy.keep_kinds": "Kinds of secrets that stay, by the name that stands in [redacted:…].",
  "privacy.also": "Personal data that goes too: email, phone.",
  "privacy.patterns": "Patterns of your own: what they match is taken out, under their name.",
  "privacy.patterns.name": "What stands in the text instead: [redacted:name].",
  "privacy.patterns.pattern": "A regular expression without look-around, references and repeated groups.",
  "privacy.encrypt_predicates": "Facts with these predicates are stored encrypted.",
  "privacy.encryption_key_env": "The environment variable with the keys; the first one encrypts.",
  "privacy.encryption_key_file": "A file with one key a line; wins over the variable.",
  events: "How long single events are kept.",
  "events.keep_days": "After so many days all older events of a memory become one; without it they are all kept.",
  "events.keep_reads_days": "After so many days the readings of a day become one event.",
  jobs: "How jobs are run.",
  "jobs.lease_seconds":
    "A daemon that is silent for so long has lost the job that it had under way; another one takes it over.",
};

const BUTLER: Readonly<Record<string, string>> = {
  "": "Who the butler is.",
  name: "Its name: that of its folder, of its data and in its address.",
  role: "memory makes it a shared Memory Butler for others.",
  tenant: "Whose memories they are; tenants never see each other's.",
  description: "One line about it, shown where butlers are listed.",
  schedule: "When jobs run; those left out run at their usual times.",
  runtime: "The agent that butler run starts.",
  "runtime.command": "The program, by name or path.",
  "runtime.args": "Its arguments; {prompt}, {system}, {mcp_config} and {session} are filled in.",
  "runtime.timeout_seconds": "How long a session may take.",
  "runtime.env": "Environment variables for it.",
  ...Object.fromEntries(
    JOB_NAMES.flatMap((job) => [
      [`schedule.${job}`, `When ${job} runs.`],
      [`schedule.${job}.cron`, "A cron line in this machine's time zone."],
      [`schedule.${job}.prompt`, "A note for people; the job itself needs no prompt."],
      [`schedule.${job}.enabled`, "False: by hand only."],
    ]),
  ),
};

export function wordsFor(key: string): string | undefined {
  if (key === "modules") return "What a butler can have beside its role.";
  if (key === "butler" || key.startsWith("butler.")) return BUTLER[key.slice("butler.".length)];
  if (key === "modules.memory" || key.startsWith("modules.memory.")) return MEMORY[key.slice("modules.memory.".length)];
  return undefined;
}

interface Described {
  description?: string;
  properties?: Record<string, Described>;
}

/** The JSON schema of a butler.toml, in the draft that editors understand best. */
export function configSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(ButlerToml, { io: "input", target: "draft-7" }) as Described & Record<string, unknown>;
  describe(schema, "");
  return {
    title: "butler.toml",
    description: "One butler of Butler Memory: its name, its memory and its schedule.",
    ...schema,
  };
}

function describe(schema: Described, path: string): void {
  for (const [key, below] of Object.entries(schema.properties ?? {})) {
    const own = path === "" ? key : `${path}.${key}`;
    const words = wordsFor(own);
    if (words !== undefined) below.description = words;
    describe(below, own);
  }
}
