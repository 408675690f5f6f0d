/** The plan of an installation: changes to files of the person, and files of our own. A plan is made without writing anything. */

import type { Home } from "../../daemon/home.ts";
import type { AgentName } from "../hooks/dialects.ts";
import type { JsonEntry } from "./edit/json-entry.ts";
import type { TomlTable } from "./edit/toml-edit.ts";

export type Scope = "user" | "project";

/** Where the agents keep their settings. Each may be moved by a variable of that agent. */
export interface Places {
  readonly home: Home;
  readonly userHome: string;
  readonly claude: string;
  /** Where Claude Code keeps what belongs to the person, their MCP servers among it. */
  readonly claudeState: string;
  readonly codex: string;
  readonly cursor: string;
  readonly gemini: string;
  readonly opencode: string;
  readonly project: string;
}

export interface Program {
  readonly node: string;
  readonly entry: string;
  /** Where there is one, it answers the first messages of an agent (plugins/mcp.sh). */
  readonly shell?: string | undefined;
}

export interface InstallRequest {
  readonly agent: AgentName;
  readonly scope: Scope;
  readonly butler: string;
  readonly places: Places;
  /** The command that starts this program. */
  readonly program: Program;
  readonly roster?: string | undefined;
  readonly version: string;
  /** The folder `plugins` of this package. */
  readonly templates: string;
}

export type HostChange =
  | { readonly kind: "json"; readonly path: string; readonly strict: boolean; readonly entries: readonly JsonEntry[] }
  | { readonly kind: "toml"; readonly path: string; readonly table: TomlTable };

export interface OwnFile {
  readonly path: string;
  readonly text: string;
  readonly executable?: boolean;
}

export interface Plan {
  readonly host: readonly HostChange[];
  readonly files: readonly OwnFile[];
  /** What the person should know or do next. */
  readonly next: readonly string[];
}

/** The folder outside of which an installation writes nothing: the project's. For one person there is none: their settings may be links to anywhere. */
export const boundary = ({ places, scope }: Pick<InstallRequest, "places" | "scope">): string | undefined =>
  scope === "project" ? places.project : undefined;

export const SERVER = "butler-memory";
