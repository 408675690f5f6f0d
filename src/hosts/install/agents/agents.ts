/** The agents that memory can be installed into: their titles, commands and settings, and the plan of an installation. */
import { join, resolve } from "node:path";
import type { AgentName } from "../../hooks/dialects.ts";
import type { InstallRequest, Places, Plan } from "../plan.ts";
import { planClaudeCode } from "./claude-code.ts";
import { planCodex } from "./codex.ts";
import { planCursor } from "./cursor.ts";
import { planGemini } from "./gemini.ts";
import { planOpencode } from "./opencode.ts";

interface Agent {
  readonly title: string;
  readonly command: string;
  /** The folder whose presence shows that this person uses the agent. */
  settings(places: Places): string;
  plan(request: InstallRequest, exists: (path: string) => boolean): Plan;
}

export const AGENTS: Readonly<Record<AgentName, Agent>> = {
  "claude-code": {
    title: "Claude Code",
    command: "claude",
    settings: ({ claude }) => claude,
    plan: planClaudeCode,
  },
  codex: { title: "Codex", command: "codex", settings: ({ codex }) => codex, plan: planCodex },
  cursor: { title: "Cursor", command: "cursor-agent", settings: ({ cursor }) => cursor, plan: planCursor },
  gemini: { title: "Gemini CLI", command: "gemini", settings: ({ gemini }) => gemini, plan: planGemini },
  opencode: { title: "opencode", command: "opencode", settings: ({ opencode }) => opencode, plan: planOpencode },
};

type Variables = Readonly<Record<string, string | undefined>>;

export function placesOf(home: Places["home"], userHome: string, project: string, variables: Variables): Places {
  const moved = (name: string, usual: string) => resolve(variables[name] || usual);
  return {
    home,
    userHome,
    project,
    claude: moved("CLAUDE_CONFIG_DIR", join(userHome, ".claude")),
    claudeState: join(moved("CLAUDE_CONFIG_DIR", userHome), ".claude.json"),
    codex: moved("CODEX_HOME", join(userHome, ".codex")),
    cursor: join(userHome, ".cursor"),
    gemini: join(moved("GEMINI_CLI_HOME", userHome), ".gemini"),
    opencode: moved("OPENCODE_CONFIG_DIR", join(moved("XDG_CONFIG_HOME", join(userHome, ".config")), "opencode")),
  };
}
