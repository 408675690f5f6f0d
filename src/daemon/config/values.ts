/** Every setting that is in force for a butler, and where it came from. */
import { basename } from "node:path";
import type { JobName } from "../../engine/memory/keep/job.ts";
import { type ButlerConfig, parseButlerToml } from "./config.ts";
import type { Written } from "./faults.ts";
import { configKeys, type Path, valueAt } from "./keys.ts";
import { ownLine } from "./lines.ts";
import { looksSecret, masked, maskText } from "./mask.ts";

export interface Effective {
  readonly key: string;
  /** Undefined: not set, and there is no default. Secrets are masked. */
  readonly value: unknown;
  /** `default`, `butler.toml:12`, the name of a variable, or a flag. */
  readonly source: string;
  /** False when the value is the default. */
  readonly differs: boolean;
}

/** The cron lines of jobs that a butler.toml does not schedule. */
export type Presets = Readonly<Partial<Record<JobName, string | undefined>>>;

export function butlerValues(config: ButlerConfig, written: Written | undefined, presets: Presets): Effective[] {
  const { memory, folder: _, ...butler } = config;
  const here = { butler, modules: { memory } };
  const usual = usualFor(config, written);
  return pathsOf(here).map((path) => {
    const line = written && ownLine(written.lines, path);
    const preset = presetOf(path, presets);
    const value = valueAt(here, path) ?? preset;
    return {
      key: path.join("."),
      value: shown(path.at(-1) ?? "", value),
      source: line === undefined ? "default" : `${basename(written?.file ?? "")}:${line}`,
      differs: JSON.stringify(value) !== JSON.stringify(valueAt(usual, path) ?? preset),
    };
  });
}

/** The defaults: the same butler with a file that says nothing but its name. A name that is written is never a default. */
function usualFor(config: ButlerConfig, written: Written | undefined): unknown {
  const asked = written === undefined || ownLine(written.lines, ["modules", "memory"]) !== undefined;
  const text = `[butler]\nname = "usual"\n${asked ? "[modules.memory]\n" : ""}`;
  const { memory, ...butler } = parseButlerToml(text, "butler.toml");
  return { butler: { ...butler, name: written === undefined ? config.name : undefined }, modules: { memory } };
}

/** An open table has the keys that are written, a closed one those of the schema. */
function pathsOf(config: unknown): Path[] {
  return configKeys.flatMap(({ path, open }) => {
    const value = open ? valueAt(config, path) : undefined;
    const names = typeof value === "object" && value !== null ? Object.keys(value) : [];
    return names.length === 0 ? [path] : names.map((name) => [...path, name]);
  });
}

function presetOf([top, table, job, key]: Path, presets: Presets): unknown {
  if (top !== "butler" || table !== "schedule") return undefined;
  if (key === "cron") return presets[job as JobName];
  return key === "enabled" ? presets[job as JobName] !== undefined : undefined;
}

/** The name of a variable or a path may be shown, although its key (`service_token_env`) looks like that of a secret. */
function shown(key: string, value: unknown): unknown {
  if (typeof value === "string" && /_(?:env|file)$/.test(key) && looksSecret(key)) return maskText(value);
  return masked(key, value);
}
