/** Reads what `claude --output-format json` prints. Fields that a version leaves out get a default. */
import { z } from "zod";
import { kindOfStatus } from "../failure.ts";
import type { FailureKind, Usage } from "../port.ts";

const count = z.number().nonnegative().catch(0);

const Result = z.looseObject({
  type: z.literal("result"),
  subtype: z.string().catch(""),
  is_error: z.boolean().catch(false),
  result: z.string().catch(""),
  errors: z.array(z.string()).catch([]),
  stop_reason: z.string().nullable().catch(null),
  api_error_status: z.number().nullable().catch(null),
  structured_output: z.unknown().optional(),
  total_cost_usd: count,
  usage: z
    .looseObject({
      input_tokens: count,
      cache_creation_input_tokens: count,
      cache_read_input_tokens: count,
      output_tokens: count,
    })
    .catch({ input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 }),
});
export type ClaudeResult = z.infer<typeof Result>;

/** One object; a list of messages that ends with it when the user has asked for verbose output; or lines before it. */
export function readResult(stdout: string): ClaudeResult | undefined {
  const lines = stdout.trim().split("\n");
  for (const text of [stdout, lines.at(-1) ?? ""]) {
    try {
      const printed: unknown = JSON.parse(text);
      for (const one of Array.isArray(printed) ? printed.toReversed() : [printed]) {
        const read = Result.safeParse(one);
        if (read.success) return read.data;
      }
    } catch {
      // Not JSON: the next candidate, or none.
    }
  }
  return undefined;
}

export const usageOf = (result: ClaudeResult): Usage => ({
  input_tokens:
    result.usage.input_tokens + result.usage.cache_creation_input_tokens + result.usage.cache_read_input_tokens,
  output_tokens: result.usage.output_tokens,
  cost_usd: result.total_cost_usd,
});

const BY_WORDS: readonly (readonly [FailureKind, RegExp])[] = [
  [
    "misconfigured",
    /unknown (option|argument)|issue with the selected model|invalid model|model.{0,40}not (found|exist)/i,
  ],
  [
    "misconfigured",
    /not logged in|run \/login|invalid api key|authenticat|oauth|credit balance|unauthori[sz]ed|forbidden/i,
  ],
  ["too_large", /prompt is too long|request.too.large|context (length|window)/i],
  ["rate_limited", /rate.?limit|usage limit|limit reached|hit your .{0,20}limit|too many requests/i],
  ["refused", /usage policy|unable to respond to this request|declined to answer/i],
];

const OF_SUBTYPE: Readonly<Record<string, FailureKind>> = {
  error_max_structured_output_retries: "invalid_answer",
  error_max_turns: "invalid_answer",
  error_max_budget_usd: "invalid_answer",
};

/** The kind of a failed run: by the status of the API if it gives one, then by the result's subtype, then by its message. */
export function kindOfRun(result: ClaudeResult | undefined, words: string): FailureKind {
  if (result?.stop_reason === "refusal") return "refused";
  const status = result?.api_error_status ?? Number(/API Error[:( ]+(?:Repeated )?(\d{3})\b/.exec(words)?.[1] ?? 0);
  if (status >= 400) return kindOfStatus(status, words);
  const ended = OF_SUBTYPE[result?.subtype ?? ""];
  if (ended !== undefined) return ended;
  return BY_WORDS.find(([, pattern]) => pattern.test(words))?.[0] ?? "unavailable";
}
