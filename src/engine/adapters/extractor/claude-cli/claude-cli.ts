/** Claude Code as the extractor: the user's own `claude` program, with its login. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ANSWER_SCHEMA } from "../answer-schema.ts";
import type { Deadline } from "../deadline.ts";
import { extractorOf, type Repair, type Said } from "../extraction.ts";
import { inWords } from "../failure.ts";
import { type Extractor, ExtractorFailure, type FailureKind, NO_USAGE, type Usage } from "../port.ts";
import { ceilingOf, type Price } from "../pricing.ts";
import type { Prompt } from "../prompt.ts";
import { runProcess } from "./claude-process.ts";
import { kindOfRun, readResult, usageOf } from "./claude-result.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ClaudeCliOptions {
  /** A name of a model or an alias such as `haiku`. */
  readonly model: string;
  /** Looked for on the PATH of `env` when it is a bare name. */
  readonly command?: string;
  readonly env: Environment;
  /** For a whole extraction, its repair included. */
  readonly timeoutMs: number;
  readonly maxOutputTokens: number;
  readonly price: Price;
  readonly maxChars?: number;
  /**
   * `--bare` reads no hooks, no memory files and also no login: it needs a key in `env`. Without a key the same is shut off flag by
   * flag, so that somebody who has logged in needs none. By default: bare if `env` has a key.
   */
  readonly bare?: boolean;
}

const MAX_CHARS = 200_000;
const HAS_KEY = ["ANTHROPIC_API_KEY", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"];
const SECRET_NAME = /(_KEY|_TOKEN|_SECRET|PASSWORD)$/i;
/** Settings that switch hooks off for this run: our own hook would store the extraction as an episode. */
const NO_HOOKS = JSON.stringify({ disableAllHooks: true });

/** Without our own variables (a database URL is a secret) and without those of a Claude Code session that may have started us. */
function environmentOf({ env, maxOutputTokens }: ClaudeCliOptions): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    const ours = name.startsWith("BUTLER_") || name === "CLAUDECODE" || name === "CLAUDE_CODE_ENTRYPOINT";
    if (value !== undefined && !ours) kept[name] = value;
  }
  return { ...kept, BUTLER_CONSOLIDATION: "1", CLAUDE_CODE_MAX_OUTPUT_TOKENS: String(maxOutputTokens) };
}

function argumentsOf(options: ClaudeCliOptions, system: string, budget: number): readonly string[] {
  const bare = options.bare ?? HAS_KEY.some((name) => (options.env[name] ?? "") !== "");
  const isolation = bare ? ["--bare"] : ["--setting-sources=", "--settings", NO_HOOKS];
  return [
    "-p",
    ...isolation,
    ...["--model", options.model],
    ...["--output-format", "json"],
    ...["--json-schema", JSON.stringify(ANSWER_SCHEMA)],
    // The system prompt holds nothing of the episodes: other users of the machine can read the arguments of a process.
    ...["--system-prompt", system],
    ...["--tools", ""],
    "--strict-mcp-config",
    "--no-session-persistence",
    ...(budget > 0 ? ["--max-budget-usd", budget.toFixed(4)] : []),
  ];
}

const onePrompt = (prompt: Prompt, repair: Repair | undefined) =>
  repair === undefined ? prompt.user : `${prompt.user}\n\nYou answered before:\n${repair.said}\n\n${repair.request}`;

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException | undefined)?.code;

export function claudeCliExtractor(options: ClaudeCliOptions): Extractor {
  const command = options.command ?? "claude";
  const env = environmentOf(options);
  const secrets = Object.entries(env).flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value] : []));
  const fail = (kind: FailureKind, said: string, usage: Usage = NO_USAGE) =>
    new ExtractorFailure(kind, inWords(`claude-cli ${options.model}`, kind, said, secrets), usage);

  async function run(prompt: Prompt, repair: Repair | undefined, until: Deadline) {
    // An empty folder has no project's settings or instructions.
    const cwd = await mkdtemp(join(tmpdir(), "butler-claude-"));
    const stdin = onePrompt(prompt, repair);
    // Claude Code asks again by itself when an answer does not fit the schema. Each of our two calls may spend half of the ceiling.
    const whole = prompt.system + prompt.user + JSON.stringify(ANSWER_SCHEMA);
    const budget = ceilingOf(whole, options.maxOutputTokens, options.price) / 2;
    try {
      const args = argumentsOf(options, prompt.system, budget);
      return await runProcess({ command, args, cwd, env, stdin, signal: until.signal });
    } catch (error) {
      if (until.signal.aborted) throw fail("timeout", until.why());
      const words =
        codeOf(error) === "ENOENT"
          ? `there is no program "${command}" on the PATH. Install Claude Code and run "claude" once, or choose another provider.`
          : `"${command}" cannot be run (${codeOf(error) ?? String(error)}).`;
      throw fail("misconfigured", words);
    } finally {
      // A program that is just ending may still write; then a folder is left among the temporary files.
      await rm(cwd, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
    }
  }

  async function ask(prompt: Prompt, repair: Repair | undefined, until: Deadline): Promise<Said> {
    const ran = await run(prompt, repair, until);
    const result = readResult(ran.stdout);
    const usage = result === undefined ? NO_USAGE : usageOf(result);
    const answer = result?.structured_output ?? result?.result;
    if (result !== undefined && ran.code === 0 && !result.is_error && result.stop_reason !== "refusal")
      return { answer, usage };
    // The result is about this run; stderr may hold warnings of any kind.
    const said = [result?.result ?? "", ...(result?.errors ?? [])].join(" ").trim();
    const silence = `it ended with ${ran.code === null ? "a signal" : `code ${ran.code}`} ${result?.subtype ?? ""}`;
    const words = said || ran.stderr.trim() || silence;
    const login = /not logged in|\/login/i.test(words) ? '. Run "claude" and log in, or set ANTHROPIC_API_KEY' : "";
    throw fail(kindOfRun(result, words), `${words}${login}`, usage);
  }

  return extractorOf({ ...options, provider: "claude-cli", maxChars: options.maxChars ?? MAX_CHARS, secrets, ask });
}
