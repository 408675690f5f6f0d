/**
 * What each coding agent says to its hooks, and how it wants to be answered. Pure tables and readers: a field that is
 * missing or of another type is as good as not said, and never an exception.
 */
import { withoutHostText } from "../transcripts/words.ts";

export const AGENT_NAMES = ["claude-code", "codex", "cursor", "gemini", "opencode"] as const;
export type AgentName = (typeof AGENT_NAMES)[number];

export type Moment = "start" | "prompt" | "turn-end" | "end";

export interface HookReading {
  readonly moment: Moment;
  readonly session: string;
  readonly folder: string;
  readonly transcript?: string;
  readonly prompt?: string;
  /** What the agent said at last, where the event tells: for agents whose transcript nobody here can read. */
  readonly reply?: string;
  /** Why a session starts (startup, resume, clear, compact) or ends. */
  readonly source?: string;
}

export interface HookAnswer {
  readonly context?: string | undefined;
  /** One sentence for the person, beside the conversation. */
  readonly message?: string | undefined;
}

export interface Dialect {
  /** The events that are hooked; every other one is not ours to read. */
  readonly events: Readonly<Record<string, Moment>>;
  /** The moments whose answer may bring context. */
  readonly brings: ReadonlySet<Moment>;
  /** What fits into one answer; a longer context is cut or put aside by the agent. */
  readonly contextCharacters: number;
  read(event: string, input: unknown): HookReading | undefined;
  /** Undefined: nothing is printed. */
  answer(event: string, answer: HookAnswer): Record<string, unknown> | undefined;
}

interface Fields {
  readonly session: readonly string[];
  readonly folder: readonly string[];
  readonly transcript: readonly string[];
  readonly prompt: readonly string[];
  readonly reply: readonly string[];
  readonly source: readonly string[];
}

const COMMON: Fields = {
  session: ["session_id"],
  folder: ["cwd"],
  transcript: ["transcript_path"],
  prompt: ["prompt"],
  reply: ["last_assistant_message"],
  source: ["source", "reason"],
};

/** Claude Code, Codex and Gemini CLI take context in one form; they differ in which event may bring it. */
function nested(withContext: ReadonlySet<string>, withMessage: ReadonlySet<string>): Dialect["answer"] {
  return (event, { context, message }) =>
    someOf({
      hookSpecificOutput:
        context && withContext.has(event) ? { hookEventName: event, additionalContext: context } : undefined,
      systemMessage: message && withMessage.has(event) ? message : undefined,
    });
}

const CLAUDE_EVENTS = {
  SessionStart: "start",
  UserPromptSubmit: "prompt",
  Stop: "turn-end",
  SessionEnd: "end",
} as const;
const CLAUDE_CONTEXT = new Set(["SessionStart", "UserPromptSubmit"]);
const CLAUDE_MESSAGE = new Set(["SessionStart", "UserPromptSubmit", "Stop"]);

const GEMINI_EVENTS = {
  SessionStart: "start",
  BeforeAgent: "prompt",
  AfterAgent: "turn-end",
  SessionEnd: "end",
} as const;

const CURSOR_EVENTS = {
  sessionStart: "start",
  beforeSubmitPrompt: "prompt",
  stop: "turn-end",
  sessionEnd: "end",
} as const;

/** Its plugin speaks for it (plugins/opencode): the names are opencode's, the fields are ours. */
const OPENCODE_EVENTS = {
  "session.created": "start",
  "chat.message": "prompt",
  "session.idle": "turn-end",
  "session.deleted": "end",
} as const;

const BOTH: ReadonlySet<Moment> = new Set(["start", "prompt"]);

export const HOOK_DIALECTS: Readonly<Record<AgentName, Dialect>> = {
  "claude-code": {
    events: CLAUDE_EVENTS,
    brings: BOTH,
    contextCharacters: 10_000,
    read: reader(CLAUDE_EVENTS, COMMON),
    answer: nested(CLAUDE_CONTEXT, CLAUDE_MESSAGE),
  },
  codex: {
    events: CLAUDE_EVENTS,
    brings: BOTH,
    // Above 2,500 tokens, which it reckons at four bytes each, the text goes to a file and a preview is left.
    contextCharacters: 9_000,
    read: reader(CLAUDE_EVENTS, COMMON),
    answer: nested(CLAUDE_CONTEXT, CLAUDE_MESSAGE),
  },
  cursor: {
    events: CURSOR_EVENTS,
    brings: new Set(["start"]),
    contextCharacters: 10_000,
    read: reader(CURSOR_EVENTS, {
      ...COMMON,
      session: ["conversation_id", "session_id"],
      folder: ["workspace_roots", "cwd"],
      source: ["source", "reason", "status"],
    }),
    // A prompt can only be let through or stopped; what it calls for must be asked for with the tools.
    answer: (event, { context, message }) => {
      if (event === "sessionStart") return someOf({ additional_context: joined(message, context) });
      return event === "beforeSubmitPrompt" ? { continue: true } : undefined;
    },
  },
  gemini: {
    events: GEMINI_EVENTS,
    // What its start is told goes in front of the first prompt, and a message that begins so is left out, prompt and all, when the
    // session is taken up again (seen with 0.61). What comes with a prompt stands behind it and stays.
    brings: new Set(["prompt"]),
    contextCharacters: 10_000,
    read: reader(GEMINI_EVENTS, { ...COMMON, reply: ["prompt_response"] }),
    answer: nested(new Set(["BeforeAgent"]), new Set(Object.keys(GEMINI_EVENTS))),
  },
  opencode: {
    events: OPENCODE_EVENTS,
    brings: BOTH,
    contextCharacters: 10_000,
    read: reader(OPENCODE_EVENTS, { ...COMMON, reply: ["reply"] }),
    answer: (event, { context, message }) =>
      Object.hasOwn(OPENCODE_EVENTS, event)
        ? someOf({ context: context || undefined, message: message || undefined })
        : undefined,
  },
};

export function isAgentName(name: string): name is AgentName {
  return (AGENT_NAMES as readonly string[]).includes(name);
}

function reader(events: Readonly<Record<string, Moment>>, fields: Fields): Dialect["read"] {
  return (event, input) => {
    const moment = Object.hasOwn(events, event) ? events[event] : undefined;
    if (moment === undefined || typeof input !== "object" || input === null) return undefined;
    const said = input as Readonly<Record<string, unknown>>;
    const session = first(said, fields.session);
    const folder = first(said, fields.folder);
    if (session === undefined || folder === undefined) return undefined;
    const rest = {
      transcript: first(said, fields.transcript),
      prompt: moment === "prompt" || moment === "turn-end" ? typed(first(said, fields.prompt)) : undefined,
      reply: moment === "turn-end" ? first(said, fields.reply) : undefined,
      source: first(said, fields.source),
    };
    return { moment, session, folder, ...someOf(rest) };
  };
}

/** Gemini CLI puts what a session's start was told into its first prompt, and hands that to the hooks of both ends of the turn. */
const typed = (prompt: string | undefined): string | undefined => (prompt && withoutHostText(prompt)) || undefined;

/** The first of the fields that holds text; of a list of texts, its first. */
function first(said: Readonly<Record<string, unknown>>, names: readonly string[]): string | undefined {
  for (const name of names) {
    if (!Object.hasOwn(said, name)) continue;
    const found = said[name];
    const value: unknown = Array.isArray(found) ? found[0] : found;
    if (typeof value === "string" && value !== "") return value;
  }
  return undefined;
}

function joined(...texts: readonly (string | undefined)[]): string | undefined {
  return texts.filter(Boolean).join("\n\n") || undefined;
}

/** Undefined when nothing is left. */
function someOf<T extends Record<string, unknown>>(
  values: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } | undefined {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return entries.length === 0
    ? undefined
    : (Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> });
}
