/** One call to a model through the AI SDK: the schema is sent along, the answer is taken as text, every failure gets a kind. */

import type { LanguageModel, ModelMessage } from "ai";
import { messageOf } from "../../../domain/errors.ts";
import { ANSWER_SCHEMA } from "../answer-schema.ts";
import type { Deadline } from "../deadline.ts";
import { type ExtractorSetup, extractorOf, type Repair, type Said } from "../extraction.ts";
import { inWords, kindOfStatus } from "../failure.ts";
import { type Extractor, ExtractorFailure, type FailureKind, NO_USAGE, type Usage } from "../port.ts";
import { costOf, type Price } from "../pricing.ts";
import type { Prompt } from "../prompt.ts";

export interface ModelOptions {
  readonly model: string;
  /** Without a final slash, with the version: `http://127.0.0.1:11434/v1`. */
  readonly baseUrl?: string;
  readonly apiKey: string;
  /** For a whole extraction, its repair included. */
  readonly timeoutMs: number;
  /** Of each call. Models that think spend these tokens on thinking too. */
  readonly maxOutputTokens: number;
  readonly price: Price;
  /** Characters of episode text that one call takes. */
  readonly maxChars?: number;
}

export interface ModelSetup extends Omit<ExtractorSetup, "ask"> {
  readonly baseUrl: string;
  /** Opened at the first call: loading the SDK takes a tenth of a second. */
  readonly open: () => Promise<LanguageModel>;
  /** Undefined once the provider has refused one. */
  readonly temperature: () => number | undefined;
  /** Looks at a refused request: true when the next one will be made differently, so that it is worth asking again. */
  readonly adapts?: (status: number, said: string) => boolean;
}

const messagesOf = (prompt: Prompt, repair: Repair | undefined): ModelMessage[] => {
  const asked: ModelMessage = { role: "user", content: prompt.user };
  if (repair === undefined) return [asked];
  // An empty turn is refused by providers.
  if (repair.said.trim() === "") return [{ role: "user", content: `${prompt.user}\n\n${repair.request}` }];
  return [asked, { role: "assistant", content: repair.said.trim() }, { role: "user", content: repair.request }];
};

type Sdk = typeof import("ai");

/** The SDK sends the schema but does not check the text: our own check tolerates more and says more about what is wrong. */
const outputOf = ({ Output, jsonSchema }: Sdk) => ({
  ...Output.text(),
  responseFormat: Output.object({ schema: jsonSchema(ANSWER_SCHEMA), name: "learned" }).responseFormat,
});

/** The message does not repeat the URL, which may contain a password. */
function whatIsWrongWith(baseUrl: string): string | undefined {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return "base_url is not an http or https address.";
  return url.username === "" && url.password === "" ? undefined : "base_url must not hold a name or password.";
}

interface Refusal {
  /** Undefined when there was no response. */
  readonly status: number | undefined;
  readonly message: string;
  /** The whole response, from which the kind is found. */
  readonly body: string;
}

function refusalOf(sdk: Sdk, error: unknown): Refusal {
  const message = messageOf(error);
  if (!sdk.APICallError.isInstance(error)) return { status: undefined, message, body: message };
  // A connection that breaks off has the status of its beginning, which is no refusal.
  if (error.statusCode === undefined || error.statusCode < 400) {
    const cause = error.cause instanceof Error ? ` (${error.cause.message})` : "";
    return { status: undefined, message: `${message}${cause}`, body: message };
  }
  const body = `${message} ${error.responseBody ?? ""}`;
  return { status: error.statusCode, message: `${error.statusCode} ${message}`, body };
}

export function modelExtractor(setup: ModelSetup): Extractor {
  const who = `${setup.provider} ${setup.model}`;
  const fail = (kind: FailureKind, said: string, usage: Usage = NO_USAGE) =>
    new ExtractorFailure(kind, inWords(who, kind, said, setup.secrets), usage);

  async function generate(sdk: Sdk, prompt: Prompt, repair: Repair | undefined, until: Deadline) {
    const temperature = setup.temperature();
    return sdk.generateText({
      model: await setup.open(),
      system: prompt.system,
      messages: messagesOf(prompt, repair),
      output: outputOf(sdk),
      maxOutputTokens: setup.maxOutputTokens,
      maxRetries: 0,
      abortSignal: until.signal,
      ...(temperature === undefined ? {} : { temperature }),
    });
  }

  async function ask(prompt: Prompt, repair: Repair | undefined, until: Deadline): Promise<Said> {
    const wrongUrl = whatIsWrongWith(setup.baseUrl);
    if (wrongUrl !== undefined) throw fail("misconfigured", wrongUrl);
    // The SDK prints its warnings to stdout, where they would break the MCP protocol over stdio.
    globalThis.AI_SDK_LOG_WARNINGS = false;
    const sdk = await import("ai");
    const attempt = async (): Promise<Awaited<ReturnType<typeof generate>>> => {
      try {
        return await generate(sdk, prompt, repair, until);
      } catch (error) {
        if (error instanceof ExtractorFailure) throw error;
        if (until.signal.aborted) throw fail("timeout", until.why());
        const { status, message, body } = refusalOf(sdk, error);
        if (status === undefined) throw fail("unavailable", message);
        if (setup.adapts?.(status, body) === true) return attempt();
        throw fail(kindOfStatus(status, body), message);
      }
    };
    const result = await attempt();
    const tokens = { input_tokens: result.usage.inputTokens ?? 0, output_tokens: result.usage.outputTokens ?? 0 };
    const usage = { ...tokens, cost_usd: costOf(tokens, setup.price) };
    if (result.finishReason === "content-filter") throw fail("refused", "it declined to read these episodes.", usage);
    if (result.rawFinishReason === "model_context_window_exceeded")
      throw fail("too_large", "its window was full.", usage);
    if (result.finishReason === "length") {
      const advice = "Give it more output tokens or fewer episodes.";
      throw fail("invalid_answer", `its answer was cut off after ${tokens.output_tokens} tokens. ${advice}`, usage);
    }
    return { answer: result.text, usage };
  }

  return extractorOf({ ...setup, ask });
}
