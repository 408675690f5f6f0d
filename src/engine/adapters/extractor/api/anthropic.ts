/** Claude over Anthropic's Messages API. */

import { type Extractor, ExtractorFailure } from "../port.ts";
import { type ModelOptions, modelExtractor } from "./model-extractor.ts";

/** Always given: without it the SDK would read the environment, which only `main` may do. */
const BASE_URL = "https://api.anthropic.com/v1";
/** About 50,000 tokens: below the length from which a model on the price list charges more. */
const MAX_CHARS = 200_000;

export function anthropicExtractor(options: ModelOptions): Extractor {
  const apiKey = options.apiKey.trim();
  const baseUrl = options.baseUrl ?? BASE_URL;
  const open = async () => {
    if (apiKey === "") throw new ExtractorFailure("misconfigured", "anthropic needs an API key, and none was given.");
    const { createAnthropic } = await import("@ai-sdk/anthropic");
    return createAnthropic({ apiKey, baseURL: baseUrl })(options.model);
  };
  return modelExtractor({
    ...options,
    provider: "anthropic",
    maxChars: options.maxChars ?? MAX_CHARS,
    baseUrl,
    secrets: [apiKey],
    open,
    // The SDK knows the models that refuse a temperature and leaves it out for them.
    temperature: () => 0,
  });
}
