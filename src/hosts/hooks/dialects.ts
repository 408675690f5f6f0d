/**
 * The format of each coding agent's hook events and of the answers it expects. Pure tables and readers: a field that is
 * missing or of another type is ignored and never an exception.
 */
import { isRecord } from "../../engine/domain/record.ts";
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
  /** The agent's last message, where the event holds it: for agents whose transcripts are not read here. */
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
  /** The events that are hooked; others are ignored. */
  readonly events: Readonly<Record<string, Moment>>;
  /** The moments whose answer may bring context. */
  readonly brings: ReadonlySet<Moment>;
  /** What fits into one answer; the agent cuts a longer context or moves it to a file. */
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

/** The plugin in plugins/opencode sends these events: the names are opencode's, the fields are ours. */
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
    // Above 2,500 tokens, counted as four bytes each, Codex writes the text to a file and shows a preview.
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
    // Cursor lets a hook only pass or stop a prompt; context that fits it must be fetched with the tools.
    answer: (event, { context, message }) => {
      if (event === "sessionStart") return someOf({ additional_context: joined(message, context) });
      return event === "beforeSubmitPrompt" ? { continue: true } : undefined;
    },
  },
  gemini: {
    events: GEMINI_EVENTS,
    // Gemini CLI puts the context of a start before the first prompt, and when the session is resumed it leaves out a message that begins
    // so, together with the prompt (seen with 0.61). The context of a prompt is put behind it and stays.
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
    if (moment === undefined || !isRecord(input)) return undefined;
    const session = first(input, fields.session);
    const folder = first(input, fields.folder);
    if (session === undefined || folder === undefined) return undefined;
    const rest = {
      transcript: first(input, fields.transcript),
      prompt: moment === "prompt" || moment === "turn-end" ? typed(first(input, fields.prompt)) : undefined,
      reply: moment === "turn-end" ? first(input, fields.reply) : undefined,
      source: first(input, fields.source),
    };
    return { moment, session, folder, ...someOf(rest) };
  };
}

/** Gemini CLI puts the context of a session's start into the first prompt, and gives that to the hooks at both ends of the turn. */
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
