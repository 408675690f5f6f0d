/** What a session starts with, gathered by the owner: the butler's own instructions and what is remembered for the prompt. */

import { join } from "node:path";
import { readIfThere } from "../../daemon/home.ts";
import { within } from "../../daemon/pause.ts";
import { reasonOf } from "../../engine/domain/errors.ts";
import { isRecord } from "../../engine/domain/record.ts";
import { withoutPrivate } from "../../engine/domain/text/private.ts";
import { clip } from "../../engine/domain/text/text.ts";
import type { Outcome, ToolRequest } from "../../engine/tools/outcome.ts";
import { typedCall } from "../../engine/tools/typed-call.ts";

export interface AgentRuntime {
  readonly command: string;
  readonly args: readonly string[];
  readonly timeout_seconds: number;
  readonly env: Readonly<Record<string, string>>;
}

/** The part of a butler's configuration (`ButlerConfig`) that a session needs. */
export interface SessionButler {
  readonly name: string;
  readonly runtime: AgentRuntime;
  readonly memory: { readonly enabled: boolean };
  /** Where its CLAUDE.md is. */
  readonly folder?: string;
}

export interface PrepareParts {
  /** Asked for each session: a roster may change while the owner runs. */
  butlers(): readonly SessionButler[];
  call(butler: string, request: ToolRequest): Promise<Outcome>;
}

export interface SessionBlock {
  readonly text: string;
  readonly tokens: number;
  readonly hash: string;
  /** Of the memories in it; absent from an owner of an earlier build. */
  readonly ids?: readonly string[];
}

export interface PreparedSession {
  readonly butler: string;
  readonly runtime: AgentRuntime;
  /** Text of the butler's CLAUDE.md; "" without one. */
  readonly instructions: string;
  readonly context: SessionBlock | null;
  /** Why there is no context. */
  readonly why?: string;
  /** True when this butler's configuration has no memory, which is no fault. */
  readonly off?: boolean;
  readonly project?: string;
}

export interface RefusedSession {
  readonly error: { readonly code: "invalid_input" | "not_found"; readonly message: string };
}

export const DEFAULT_RUNTIME: AgentRuntime = { command: "claude", args: [], timeout_seconds: 1_800, env: {} };

/** The caller waits two seconds in all, the connection to the owner included. */
const CONTEXT_MS = 1_600;
const PROMPT_LENGTH = 20_000;

/** Never throws: `question` is what a client sent, and a failure is returned as `why`. */
export async function prepareSession(
  parts: PrepareParts,
  question: unknown,
): Promise<PreparedSession | RefusedSession> {
  const asked = isRecord(question) ? question : {};
  const [name, prompt, project, session, now] = ["butler", "prompt", "project", "session", "now"].map((field) => {
    const value = asked[field];
    return typeof value === "string" && value !== "" ? value : undefined;
  });
  const butlers = parts.butlers();
  const names = butlers.map((butler) => butler.name);
  const butler = butlers.find((one) => one.name === (name ?? (names.length === 1 ? names[0] : undefined)));
  if (!butler) return whichButler(name, names);
  const known = {
    butler: butler.name,
    runtime: butler.runtime,
    instructions: instructionsIn(butler.folder),
    context: null,
    ...(project === undefined ? {} : { project }),
  };
  if (!butler.memory.enabled) return { ...known, off: true };
  try {
    const trigger_prompt = clip(withoutPrivate(prompt ?? "").text, PROMPT_LENGTH);
    const asking = typedCall((request) => parts.call(butler.name, request))(
      "memory_context",
      { trigger_prompt },
      {
        ...(project === undefined ? {} : { project }),
        ...(session === undefined ? {} : { session }),
        ...(now === undefined ? {} : { now }),
      },
    );
    asking.catch(() => undefined);
    if (!(await within(CONTEXT_MS, asking)))
      return { ...known, why: `it gave no answer within ${CONTEXT_MS / 1_000} s` };
    const outcome = await asking;
    if (!outcome.ok) return { ...known, why: outcome.error.message };
    const { text, tokens, hash, sections } = outcome.answer;
    const ids = sections.flatMap(({ items }) => items.map(({ id }) => id));
    return { ...known, context: { text, tokens, hash, ids } };
  } catch (error) {
    return { ...known, why: reasonOf(error) };
  }
}

export function whichButler(asked: string | undefined, names: readonly string[]): RefusedSession {
  const list = names.join(", ");
  if (asked === undefined) return { error: { code: "invalid_input", message: `Which butler? There are: ${list}.` } };
  return { error: { code: "not_found", message: `There is no butler "${asked}"; there is ${list || "none"}.` } };
}

/** When the file cannot be read the session starts without instructions. */
export function instructionsIn(folder: string | undefined): string {
  if (folder === undefined) return "";
  try {
    return (readIfThere(join(folder, "CLAUDE.md")) ?? "").trim();
  } catch {
    return "";
  }
}
