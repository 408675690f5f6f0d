/** An agent that answers one prompt non-interactively: a program that we start, wait for and end. */

/** How the agent reaches our tools: an MCP server that it starts itself. */
export interface McpEndpoint {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface AgentJob {
  readonly prompt: string;
  /** Added to the agent's own instructions; may be empty. */
  readonly system: string;
  /** Undefined: this session has no memory tools. */
  readonly mcp: McpEndpoint | undefined;
  /** Our own name for the session. */
  readonly session: string;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Ends the agent. A reason that names a signal, such as "SIGINT", is passed on as that signal. */
  readonly signal: AbortSignal;
  /** What the agent writes to stderr, as it comes. */
  onOutput?(chunk: Uint8Array): void;
}

export interface AgentResult {
  /** The agent's own; 128 and the signal's number when a signal ended it. */
  readonly exitCode: number;
  readonly signal?: string;
  /** Set when we ended it. */
  readonly ended?: "timeout" | "stopped";
  readonly result: string;
  /** The agent's own name for the session. */
  readonly sessionId?: string;
  readonly isError: boolean;
  readonly costUsd?: number;
  /** Path of the session's transcript. */
  readonly transcript?: string;
  readonly stderrTail: string;
}

export interface Agent {
  readonly name: string;
  /** Rejects with `AgentCannotStart`; whatever happens later is a result. */
  run(job: AgentJob): Promise<AgentResult>;
}

export class AgentCannotStart extends Error {}

export function mcpConfig(mcp: McpEndpoint | undefined): string {
  const { command, args, env } = mcp ?? {};
  const memory = { command, args, ...(Object.keys(env ?? {}).length === 0 ? {} : { env }) };
  return JSON.stringify({ mcpServers: mcp === undefined ? {} : { memory } });
}
