/** The one reader of command lines. Flags of tools come from their schemas, flags of commands from their tables; both follow the same rules. */
import { parseArgs } from "node:util";

/** `optional`: the next word is the value if `takes` accepts it. */
export type FlagKind = "boolean" | "string" | "optional";

export interface TypedFlag {
  /** In lower case and with dashes: `session-id`. */
  readonly name: string;
  /** As it was written, without its value. */
  readonly typed: string;
  /** Undefined for a flag that stands alone. */
  readonly value: string | undefined;
  /** The flag takes a value and has none. */
  readonly lacks: boolean;
}

export interface Argv {
  readonly flags: readonly TypedFlag[];
  readonly positionals: readonly string[];
  /** What follows `--`: no flags are read there. */
  readonly rest: readonly string[];
  readonly help: boolean;
}

export interface ArgvOptions {
  readonly kinds: ReadonlyMap<string, FlagKind>;
  /** Which words an optional value may be. */
  takes?(word: string): boolean;
}

/** A word that begins with one dash is no flag (`-5 degrees`), except `-h`. */
const isWord = (word: string): boolean => /^-[^-]/.test(word) && word !== "-h";

export function readArgv(argv: readonly string[], options: ArgvOptions): Argv {
  const stop = argv.indexOf("--");
  const own = stop === -1 ? argv : argv.slice(0, stop);
  const { kinds } = options;
  const { tokens } = parseArgs({
    args: own.map((word) => (isWord(word) ? "." : word.startsWith("--") ? plainName(word) : word)),
    options: {
      ...Object.fromEntries(
        [...kinds].map(([name, kind]) => [name, { type: kind === "string" ? "string" : "boolean" }] as const),
      ),
      help: { type: "boolean", short: "h" },
    },
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const flags: TypedFlag[] = [];
  const positionals: string[] = [];
  const used = new Set<number>();
  let help = false;
  for (const token of tokens) {
    const word = own[token.index] ?? "";
    if (token.kind === "positional" && !used.has(token.index)) positionals.push(word);
    if (token.kind !== "option") continue;
    if (token.name === "help") {
      help = true;
      continue;
    }
    const kind = kinds.get(token.name);
    const next = own[token.index + 1];
    const value = token.inlineValue === true ? word.slice(word.indexOf("=") + 1) : following(kind, next, options);
    if (value !== undefined && token.inlineValue !== true) used.add(token.index + 1);
    const typed = word.replace(/^--/, "").replace(/=.*$/s, "");
    flags.push({ name: token.name, typed, value, lacks: kind === "string" && value === undefined });
  }
  return { flags, positionals, rest: stop === -1 ? [] : argv.slice(stop + 1), help };
}

function following(kind: FlagKind | undefined, next: string | undefined, { takes }: ArgvOptions): string | undefined {
  if (kind === undefined || next === undefined || next.startsWith("--")) return undefined;
  if (kind === "string") return next;
  if (kind === "optional") return takes?.(next) ? next : undefined;
  return next === "true" || next === "false" ? next : undefined;
}

function plainName(word: string): string {
  const [name = "", ...value] = word.split("=");
  const plain = name.replaceAll("_", "-").toLowerCase();
  return value.length === 0 ? plain : `${plain}=${value.join("=")}`;
}
