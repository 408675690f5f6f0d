/** The commands by name. A new one is a file in `commands/` and a line here. */
import type { CommandModule } from "./command.ts";

interface Entry {
  readonly about: string;
  /** Called by other programs, so it is left out of --help. */
  readonly hidden?: boolean;
  load(): Promise<CommandModule>;
}

export const commands: Readonly<Record<string, Entry>> = {
  up: {
    about: "Serve every butler over HTTP and MCP, until you stop it.",
    load: () => import("../commands/up.ts"),
  },
  stop: { about: "Stop the process that owns the memory of this home.", load: () => import("../commands/stop.ts") },
  open: { about: "Open the pages in the browser, signed in.", load: () => import("../commands/open.ts") },
  mcp: {
    about: "The memory of one butler as an MCP server on stdin and stdout.",
    load: () => import("../commands/mcp.ts"),
  },
  run: { about: "Start a butler's agent on a prompt, with its memory.", load: () => import("../commands/run.ts") },
  sessions: {
    about: "What agents did with this memory, and how it went.",
    load: () => import("../commands/sessions.ts"),
  },
  log: {
    about: "What was remembered, by session, as it happens.",
    load: () => import("../commands/log.ts"),
  },
  spool: {
    about: "What agents said and is not stored yet, and what could not be stored.",
    load: () => import("../commands/spool.ts"),
  },
  call: { about: "Call a tool by its name.", load: () => import("../commands/call.ts") },
  why: { about: "Why a memory is shown for a question.", load: () => import("../commands/why.ts") },
  "why-not": { about: "What keeps a memory out of an answer.", load: () => import("../commands/why-not.ts") },
  review: {
    about: "What waits for a person: memories of untrusted sources, and contradicted ones.",
    load: () => import("../commands/review.ts"),
  },
  job: { about: "Jobs of the memory: list, run or look back.", load: () => import("../commands/job.ts") },
  learning: {
    about: "How sure the reader must be to keep a sentence, and what has moved that.",
    load: () => import("../commands/learning.ts"),
  },
  token: { about: "Create, list, rotate or revoke tokens for HTTP.", load: () => import("../commands/token.ts") },
  audit: {
    about: "Who was turned away, and which secrets stand in what is stored.",
    load: () => import("../commands/audit.ts"),
  },
  model: { about: "Fetch the embedding model, or say where it is.", load: () => import("../commands/model.ts") },
  config: {
    about: "Check every butler.toml, or show the settings in force and where each came from.",
    load: () => import("../commands/config.ts"),
  },
  import: {
    about: "Store the transcripts that coding agents have written.",
    load: () => import("../commands/import.ts"),
  },
  doctor: {
    about: "Look at everything a butler needs, and say what is wrong.",
    load: () => import("../commands/doctor.ts"),
  },
  undo: {
    about: "Take back what came of a request, a session, a run, a source or a time.",
    load: () => import("../commands/undo.ts"),
  },
  erase: {
    about: "Erase a subject, a session or one memory for good, with a receipt.",
    load: () => import("../commands/erase.ts"),
  },
  export: {
    about: "Everything that is known about a subject, as text or JSON.",
    load: () => import("../commands/export.ts"),
  },
  replay: {
    about: "Rebuild the memory from its audit stream, and compare.",
    load: () => import("../commands/replay.ts"),
  },
  migrate: {
    about: "Move memories from this machine to a PostgreSQL server, or back.",
    load: () => import("../commands/migrate.ts"),
  },
  ops: {
    about: "How large a memory on a server is, and dividing its tables.",
    load: () => import("../commands/ops.ts"),
  },
  install: {
    about: "Give a coding agent memory: tools, hooks and how to use them.",
    load: () => import("../commands/install.ts"),
  },
  uninstall: {
    about: "Take memory away from a coding agent again, without a trace.",
    load: () => import("../commands/uninstall.ts"),
  },
  demo: {
    about: "Show six weeks of a butler's memory in a throw-away home.",
    load: () => import("../commands/demo.ts"),
  },
  bench: { about: "Measure speed and memory on this machine.", load: () => import("../commands/bench.ts") },
  hook: { about: "Answer a hook of an agent.", hidden: true, load: () => import("../commands/hook.ts") },
  own: { about: "Own the stores for local clients.", hidden: true, load: () => import("../commands/own.ts") },
};
