/** Any server with OpenAI's chat completions: Ollama, vLLM, llama.cpp, OpenAI itself. */

import type { Extractor } from "../port.ts";
import { type ModelOptions, modelExtractor } from "./model-extractor.ts";

const BASE_URL = "https://api.openai.com/v1";
/** About 8,000 tokens: local servers cut longer prompts without an error. */
const MAX_CHARS = 32_000;

/** Servers differ in two parameters and name the one that they refuse. A refused request costs nothing. */
export function openaiCompatibleExtractor(options: ModelOptions): Extractor {
  const apiKey = options.apiKey.trim();
  const baseUrl = (options.baseUrl ?? BASE_URL).replace(/(?<!\/)\/+$/, "");
  let takesTemperature = true;
  let takesMaxTokens = true;

  const adapts = (status: number, said: string): boolean => {
    if (status !== 400 && status !== 422) return false;
    if (takesMaxTokens && /max_completion_tokens/.test(said)) {
      takesMaxTokens = false;
      return true;
    }
    if (takesTemperature && /temperature/i.test(said)) {
      takesTemperature = false;
      return true;
    }
    return false;
  };

  const open = async () => {
    const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
    const provider = createOpenAICompatible({
      name: "openai-compatible",
      baseURL: baseUrl,
      // Without it the schema is not sent.
      supportsStructuredOutputs: true,
      ...(apiKey === "" ? {} : { apiKey }),
      transformRequestBody: ({ max_tokens, ...body }) =>
        takesMaxTokens ? { ...body, max_tokens } : { ...body, max_completion_tokens: max_tokens },
    });
    return provider(options.model);
  };

  return modelExtractor({
    ...options,
    provider: "openai-compatible",
    maxChars: options.maxChars ?? MAX_CHARS,
    baseUrl,
    secrets: [apiKey],
    open,
    temperature: () => (takesTemperature ? 0 : undefined),
    adapts,
  });
}
