/** The command line door: makes a tool request of the words of a command. Nothing here prints, exits or reads the environment. */
import { isRecord } from "../../engine/domain/record.ts";
import type { Tool } from "../../engine/tools/define.ts";
import { type Flag, flagsOf, readFlags, type Usage, wrongUsage } from "./flags.ts";

/** A command line that was understood. `input` is what every other door would get as the call's arguments. */
export interface ToolCommand {
  readonly tool: Tool;
  readonly input: unknown;
  /** From `--butler`. */
  readonly butler?: string;
  /** From `--project`. */
  readonly project?: string;
  readonly json: boolean;
  readonly help: boolean;
}

export type Parsed = { readonly ok: true; readonly command: ToolCommand } | Extract<Usage<never>, { ok: false }>;

/** `butler call <tool> --flag value …` and `butler <tool> …`. */
export function parseToolFlags(tool: Tool, argv: readonly string[]): Parsed {
  const read = readFlags(flagsOf(tool), argv);
  if (!read.ok) return read;
  const { positionals, ...rest } = read.value;
  if (positionals.length > 0 && !rest.help) {
    return wrongUsage(`"${positionals.join(" ")}" belongs to no flag; ${tool.name} --help lists the flags.`);
  }
  return toolCommand(tool, rest, "whole" in rest ? rest.whole : rest.input);
}

interface Friendly {
  readonly name: string;
  readonly usage: string;
  readonly about: string;
  readonly tool: string;
  /** The argument that the plain words fill. */
  readonly words?: string;
}

export const FRIENDLY: readonly Friendly[] = [
  {
    name: "remember",
    usage: 'remember "<text>" [--fact <subject> <predicate> | --rule]',
    about: "Store what happened; with --fact a lasting fact, with --rule a way of working.",
    tool: "memory_store_episode",
    words: "content",
  },
  {
    name: "search",
    usage: "search <words…>",
    about: "Search all memories: episodes, facts and rules.",
    tool: "memory_search",
    words: "query",
  },
  {
    name: "recall",
    usage: "recall <topic…>",
    about: "What is known about a topic: facts and rules.",
    tool: "memory_recall",
    words: "topic",
  },
  {
    name: "context",
    usage: "context <prompt…>",
    about: "The block that an agent would get for this prompt.",
    tool: "memory_context",
    words: "trigger_prompt",
  },
  { name: "stats", usage: "stats", about: "How much is remembered, and in which state.", tool: "memory_stats" },
];

export interface FriendlyOptions {
  readonly tools: readonly Tool[];
  /** The butler this command talks to when `--butler` is not given; fills the tool's `butler` argument. */
  readonly butler?: string;
}

/** `butler remember|search|recall|context|stats …`; undefined when `name` is no friendly form. */
export function parseFriendly(name: string, argv: readonly string[], options: FriendlyOptions): Parsed | undefined {
  const form = FRIENDLY.find((known) => known.name === name);
  if (form === undefined) return undefined;
  const target = form.name === "remember" ? rememberTarget(argv) : { tool: form.tool, argv, preset: {} };
  if ("ok" in target) return target;
  const tool = options.tools.find((known) => known.name === target.tool);
  if (tool === undefined) return wrongUsage(`The tool ${target.tool} behind "${name}" is not available here.`);

  const flags = flagsOf(tool);
  const read = readFlags(flags, target.argv, true);
  if (!read.ok) return read;
  const { positionals, ...rest } = read.value;
  const said = positionals.join(" ").trim();
  if (form.words === undefined && said !== "" && !rest.help) {
    return wrongUsage(`"${said}" is too much; butler ${form.name} takes flags only.`);
  }
  const input: Record<string, unknown> = { ...target.preset, ...rest.input };
  if (form.words !== undefined && said !== "") input[form.words] = said;
  if (form.words !== undefined && input[form.words] === undefined && !rest.help) {
    return wrongUsage(
      `What should I ${form.name === "remember" ? "remember" : "look for"}? butler ${form.usage}`,
      form.words,
    );
  }
  const butler = rest.butler ?? options.butler;
  if (
    butler !== undefined &&
    input.butler === undefined &&
    flags.some((flag) => flag.name === "butler" && flag.required)
  ) {
    input.butler = butler;
  }
  return toolCommand(tool, rest, input);
}

type Remembered = { tool: string; argv: readonly string[]; preset: Record<string, unknown> };

/** `--fact` takes two words and `--rule` none, which no schema says; both are taken out before the flags are read. */
function rememberTarget(argv: readonly string[]): Remembered | Extract<Usage<never>, { ok: false }> {
  const stop = argv.indexOf("--");
  const own = stop === -1 ? argv : argv.slice(0, stop);
  const rest = stop === -1 ? [] : argv.slice(stop);
  const fact = own.indexOf("--fact");
  const rule = own.indexOf("--rule");
  if (fact !== -1 && rule !== -1)
    return wrongUsage("A memory is a fact or a rule, not both: leave out --fact or --rule.");
  if (rule !== -1) return { tool: "memory_store_rule", argv: [...own.toSpliced(rule, 1), ...rest], preset: {} };
  if (fact === -1) return { tool: "memory_store_episode", argv, preset: {} };
  const [subject, predicate] = own.slice(fact + 1, fact + 3);
  if (subject === undefined || predicate === undefined || subject.startsWith("--") || predicate.startsWith("--")) {
    return wrongUsage('--fact needs a subject and a predicate: butler remember "Oslo" --fact Ada "lives in".', "fact");
  }
  return { tool: "memory_store_fact", argv: [...own.toSpliced(fact, 3), ...rest], preset: { subject, predicate } };
}

type About = Pick<ToolCommand, "butler" | "project" | "json" | "help">;

function toolCommand(tool: Tool, read: About, input: unknown): Parsed {
  const { butler, project, json, help } = read;
  const about = { ...(butler === undefined ? {} : { butler }), ...(project === undefined ? {} : { project }) };
  return { ok: true, command: { tool, input, json, help, ...about } };
}

export function toolHelp(tool: Tool): string {
  const flags = flagsOf(tool).filter((flag) => flag.name !== "request_context");
  const shown = [...flags.filter((flag) => flag.required), ...flags.filter((flag) => !flag.required)];
  const left = shown.map((flag) => `  ${flag.flag} ${placeholder(flag)}`.trimEnd());
  const width = Math.min(34, Math.max(0, ...left.map((text) => text.length)));
  return [
    `${tool.name}: ${tool.title}`,
    "",
    tool.description,
    "",
    ...(shown.length > 0 ? ["Flags"] : []),
    ...shown.map((flag, i) => `${(left[i] ?? "").padEnd(width)}  ${aboutFlag(flag)}`.trimEnd()),
    "",
    "  --json '{…}'  the whole input as JSON; --json alone prints the answer as JSON",
  ].join("\n");
}

export function friendlyHelp(): string {
  const width = Math.max(...FRIENDLY.map((form) => form.usage.length));
  return FRIENDLY.map((form) => `  butler ${form.usage.padEnd(width)}  ${form.about}`).join("\n");
}

function placeholder(flag: Flag): string {
  const options = flag.schema.enum ?? (isRecord(flag.schema.items) ? flag.schema.items.enum : undefined);
  const value = Array.isArray(options) ? options.join("|") : flag.kind === "list" ? "a,b" : flag.kind;
  return flag.kind === "boolean" ? "" : `<${flag.kind === "json" ? "JSON" : value}>`;
}

function aboutFlag(flag: Flag): string {
  const { description, default: preset } = flag.schema;
  return [
    flag.required ? "(required)" : "",
    typeof description === "string" ? description : "",
    preset === undefined ? "" : `[${typeof preset === "string" ? preset : JSON.stringify(preset)}]`,
  ]
    .filter((part) => part !== "")
    .join(" ");
}
