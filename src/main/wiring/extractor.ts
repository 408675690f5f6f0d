/** Picks who reads episodes, from `[modules.memory.extractor]` and the environment. */
import { anthropicExtractor } from "../../engine/adapters/extractor/api/anthropic.ts";
import { openaiCompatibleExtractor } from "../../engine/adapters/extractor/api/openai-compatible.ts";
import { claudeCliExtractor } from "../../engine/adapters/extractor/claude-cli/claude-cli.ts";
import { localExtractor } from "../../engine/adapters/extractor/local.ts";
import { type Extractor, ExtractorFailure } from "../../engine/adapters/extractor/port.ts";
import { FREE, knownPrice, type Price } from "../../engine/adapters/extractor/pricing.ts";
import type { Log } from "../../engine/adapters/log.ts";
import { invalid, MemoryError } from "../../engine/domain/errors.ts";
import type { Settings } from "../../engine/memory/settings.ts";

type Wishes = Settings["extractor"];
type Variables = Readonly<Record<string, string | undefined>>;

/** Models that think spend them on thinking too. */
const MAX_OUTPUT_TOKENS = 16_000;
const KEY = { anthropic: "ANTHROPIC_API_KEY", "openai-compatible": "OPENAI_API_KEY" } as const;
const HAIKU = "claude-haiku-5-5";

/**
 * A wish that cannot be met must not keep a memory from opening: everything but learning goes on, and each run says what is
 * missing.
 */
export function extractorOrWhyNot(wishes: Wishes, log: Log, variables: Variables = process.env): Extractor {
  try {
    return openExtractor(wishes, variables);
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    log.warn({ provider: wishes.provider, reason: error.message }, "episodes will not be learned from");
    return {
      provider: wishes.provider,
      model: wishes.model ?? "",
      maxChars: 1,
      ceiling: () => 0,
      extract: () => Promise.reject(new ExtractorFailure("misconfigured", error.message)),
      close: () => Promise.resolve(),
    };
  }
}

export function openExtractor(wishes: Wishes, variables: Variables = process.env): Extractor {
  const common = { timeoutMs: wishes.timeout_seconds * 1_000, maxOutputTokens: MAX_OUTPUT_TOKENS };
  switch (wishes.provider) {
    case "local":
      return localExtractor();
    case "claude-cli": {
      const model = wishes.model ?? "haiku";
      return claudeCliExtractor({ ...common, model, env: variables, price: priceOf(wishes, model) });
    }
    case "anthropic": {
      const model = wishes.model ?? HAIKU;
      const apiKey = keyOf(wishes, KEY.anthropic, variables);
      if (apiKey === undefined) throw missingKey(wishes, KEY.anthropic);
      return anthropicExtractor({ ...common, ...at(wishes), model, apiKey, price: priceOf(wishes, model) });
    }
    case "openai-compatible": {
      const { model, base_url } = wishes;
      if (model === undefined || base_url === undefined)
        throw invalid(
          "modules.memory.extractor",
          'provider "openai-compatible" needs model and base_url, such as base_url = "http://127.0.0.1:11434/v1".',
        );
      // A server of one's own often wants none.
      const apiKey = keyOf(wishes, KEY["openai-compatible"], variables) ?? "";
      return openaiCompatibleExtractor({ ...common, ...at(wishes), model, apiKey, price: priceOf(wishes, model) });
    }
  }
}

const at = ({ base_url }: Wishes) => (base_url === undefined ? {} : { baseUrl: base_url.replace(/(?<!\/)\/+$/, "") });
const keyOf = ({ api_key_env }: Wishes, usual: string, variables: Variables): string | undefined =>
  variables[api_key_env ?? usual] || undefined;

const missingKey = ({ api_key_env }: Wishes, usual: string) =>
  invalid(
    "modules.memory.extractor",
    `provider "anthropic" needs a key in the environment variable ${api_key_env ?? usual}; or take provider "local", which needs none.`,
  );

/** Without a price the daily budget could not be kept. */
function priceOf({ input_price, output_price, base_url }: Wishes, model: string): Price {
  if (input_price !== undefined && output_price !== undefined) return { input: input_price, output: output_price };
  const known = knownPrice(model);
  if (known !== undefined) return known;
  if (base_url !== undefined && isOwnMachine(base_url)) return FREE;
  throw invalid(
    "modules.memory.extractor",
    `the price of "${model}" is not known: give input_price and output_price, in US dollars for a million tokens, so that daily_budget_usd can be kept.`,
  );
}

const isOwnMachine = (url: string): boolean =>
  URL.canParse(url) && ["127.0.0.1", "localhost", "[::1]"].includes(new URL(url).hostname);
