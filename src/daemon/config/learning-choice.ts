/** Who may be asked when episodes are learned from: what a person has chosen, written into a `butler.toml`. */
import type { Provider } from "../../engine/adapters/extractor/port.ts";
import { invalid } from "../../engine/domain/errors.ts";
import { checkButlerToml } from "./config.ts";
import type { Written } from "./faults.ts";
import { linesOf, ownLine } from "./lines.ts";

export interface LearningChoice {
  readonly provider: Provider;
  readonly model?: string;
  readonly base_url?: string;
  readonly input_price?: number;
  readonly output_price?: number;
}

const TABLE = ["modules", "memory", "extractor"] as const;
/** What belongs to a provider, and goes with it. */
const KEYS = ["provider", "model", "base_url", "api_key_env", "input_price", "output_price"] as const;
const HEADER = /^\s*\[\s*modules\s*\.\s*memory\s*\.\s*extractor\s*\]\s*(?:#[^\n]*)?$/;

/** The line on which the provider is written; undefined when nobody has chosen one. */
export const choiceLine = (written: Written | undefined): number | undefined =>
  written && ownLine(written.lines, [...TABLE, "provider"]);

/** The text of a butler.toml with this choice. Everything else in it stays as it is; `text` is undefined where there is no file yet. */
export function withChoice(text: string | undefined, file: string, name: string, choice: LearningChoice): string {
  const before =
    text ?? `# The settings of this butler: butler config show --all lists them.\n[butler]\nname = "${name}"\n`;
  const lines = linesOf(before);
  const gone = new Set(KEYS.flatMap((key) => ownLine(lines, [...TABLE, key]) ?? []));
  const rows = before.split("\n").map((row, at) => (gone.has(at + 1) ? undefined : row));
  const header = rows.findIndex((row) => row !== undefined && HEADER.test(row));
  const settings = Object.entries(choice).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
  const kept = (from: number, to?: number) => rows.slice(from, to).filter((row) => row !== undefined);
  const after =
    header === -1
      ? [...withoutEnd(kept(0)), "", "[modules.memory.extractor]", ...settings, ""]
      : [...kept(0, header + 1), ...settings, ...kept(header + 1)];
  const made = after.join("\n");
  if (!holds(made, file, choice))
    throw invalid("learn-with", `${file} is written in a way that cannot be changed safely; ${byHand(settings)}`);
  return made;
}

const withoutEnd = (rows: readonly string[]): readonly string[] =>
  rows.slice(0, rows.findLastIndex((row) => row.trim() !== "") + 1);

const byHand = (settings: readonly string[]): string =>
  `write it there yourself, under [modules.memory.extractor]: ${settings.join(", ")}.`;

function holds(text: string, file: string, choice: LearningChoice): boolean {
  const checked = checkButlerToml(text, file);
  if (!checked.ok) return false;
  const { extractor } = checked.config.memory;
  return KEYS.every((key) => key === "api_key_env" || extractor[key] === choice[key]);
}
