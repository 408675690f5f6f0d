/** Picks the extractor by `[modules.memory.extractor]` and the environment. */
import { anthropicExtractor } from "../../engine/adapters/extractor/api/anthropic.ts";
import { openaiCompatibleExtractor } from "../../engine/adapters/extractor/api/openai-compatible.ts";
import { claudeCliExtractor } from "../../engine/adapters/extractor/claude-cli/claude-cli.ts";
import { localExtractor } from "../../engine/adapters/extractor/local.ts";
import { type EpisodeShown, type Extractor, ExtractorFailure } from "../../engine/adapters/extractor/port.ts";
import { FREE, knownPrice, type Price } from "../../engine/adapters/extractor/pricing.ts";
import type { Log } from "../../engine/adapters/log.ts";
import { mapInTurns } from "../../engine/adapters/turns.ts";
import { invalid, MemoryError } from "../../engine/domain/errors.ts";
import type { Settings } from "../../engine/memory/settings.ts";

type ExtractorSettings = Settings["extractor"];
type Variables = Readonly<Record<string, string | undefined>>;

/** Tokens that a model thinks with count too. */
const MAX_OUTPUT_TOKENS = 16_000;
const KEY = { anthropic: "ANTHROPIC_API_KEY", "openai-compatible": "OPENAI_API_KEY" } as const;
const HAIKU = "claude-haiku-5-5";

/** Settings that cannot be met must not keep a memory from opening: everything but learning works, and each run says what is missing. */
export function extractorOrWhyNot(
  settings: ExtractorSettings,
  log: Log,
  variables: Variables = process.env,
): Extractor {
  try {
    return openExtractor(settings, variables);
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    log.warn({ provider: settings.provider, reason: error.message }, "episodes will not be learned from");
    return {
      provider: settings.provider,
      model: settings.model ?? "",
      maxChars: 1,
      ceiling: () => 0,
      extract: () => Promise.reject(new ExtractorFailure("misconfigured", error.message)),
      close: () => Promise.resolve(),
    };
  }
}

export function openExtractor(settings: ExtractorSettings, variables: Variables = process.env): Extractor {
  const extractor = providerOf(settings, variables);
  return settings.provider === "local" || !settings.prefilter ? extractor : { ...extractor, worthACall };
}

/** Loaded at the first call, as the local extractor is. */
async function worthACall(turns: readonly EpisodeShown[]): Promise<readonly EpisodeShown[]> {
  const { isWorthACall } = await import("../../engine/adapters/extractor/local/worth-a-call.ts");
  const worth = await mapInTurns(turns, ({ text }) => text.length, isWorthACall);
  return turns.filter((_, at) => worth[at]);
}

function providerOf(settings: ExtractorSettings, variables: Variables): Extractor {
  const common = { timeoutMs: settings.timeout_seconds * 1_000, maxOutputTokens: MAX_OUTPUT_TOKENS };
  switch (settings.provider) {
    case "local":
      return localExtractor();
    case "claude-cli": {
      const model = settings.model ?? "haiku";
      return claudeCliExtractor({ ...common, model, env: variables, price: priceOf(settings, model) });
    }
    case "anthropic": {
      const model = settings.model ?? HAIKU;
      const apiKey = keyOf(settings, KEY.anthropic, variables);
      if (apiKey === undefined) throw missingKey(settings, KEY.anthropic);
      return anthropicExtractor({ ...common, ...at(settings), model, apiKey, price: priceOf(settings, model) });
    }
    case "openai-compatible": {
      const { model, base_url } = settings;
      if (model === undefined || base_url === undefined)
        throw invalid(
          "modules.memory.extractor",
          'provider "openai-compatible" needs model and base_url, such as base_url = "http://127.0.0.1:11434/v1".',
        );
      // A server of one's own often needs no key.
      const apiKey = keyOf(settings, KEY["openai-compatible"], variables) ?? "";
      return openaiCompatibleExtractor({ ...common, ...at(settings), model, apiKey, price: priceOf(settings, model) });
    }
  }
}

const at = ({ base_url }: ExtractorSettings) =>
  base_url === undefined ? {} : { baseUrl: base_url.replace(/(?<!\/)\/+$/, "") };
const keyOf = ({ api_key_env }: ExtractorSettings, usual: string, variables: Variables): string | undefined =>
  variables[api_key_env ?? usual] || undefined;

const missingKey = ({ api_key_env }: ExtractorSettings, usual: string) =>
  invalid(
    "modules.memory.extractor",
    `provider "anthropic" needs a key in the environment variable ${api_key_env ?? usual}; or take provider "local", which needs none.`,
  );

/** Without a price the daily budget could not be kept. */
function priceOf({ input_price, output_price, base_url }: ExtractorSettings, model: string): Price {
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
