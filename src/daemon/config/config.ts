/** Reads and checks one `butler.toml`. All its faults are reported at once. */
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parse } from "smol-toml";
import type { z } from "zod";
import { MemoryError } from "../../engine/domain/errors.ts";
import type { Settings } from "../../engine/memory/settings.ts";
import { type Fault, faultAt, faultText, schemaFaults, syntaxFault, type Written } from "./faults.ts";
import { linesOf } from "./lines.ts";
import { masked, quoted } from "./mask.ts";
import { BUTLER_NAME, type ButlerTable, ButlerToml } from "./schema.ts";

export { BUTLER_NAME };

export interface ButlerConfig extends z.infer<typeof ButlerTable> {
  readonly memory: Settings;
  /** The folder of its butler.toml and CLAUDE.md; undefined for a butler without files. */
  readonly folder?: string;
}

export type Checked =
  | { readonly ok: true; readonly config: ButlerConfig; readonly written: Written }
  | { readonly ok: false; readonly faults: readonly Fault[] };

/** A butler's folder, data and address have its name, so the file must name the folder. */
export interface FolderNames {
  /** The name of its folder. */
  readonly name: string;
  /** The names of all folders of the roster. */
  readonly names: readonly string[];
}

export function checkButlerToml(text: string, file: string, folder?: FolderNames): Checked {
  let written: Written;
  try {
    written = { file, document: parse(text), lines: linesOf(text) };
  } catch (error) {
    return { ok: false, faults: [syntaxFault(error, file)] };
  }
  const checked = ButlerToml.safeParse(written.document);
  const faults = [
    ...(checked.error?.issues ?? []).flatMap((issue) => schemaFaults(issue, written)),
    ...faultsBetweenKeys(written, folder),
  ];
  if (!checked.success || faults.length > 0) return { ok: false, faults: inOrder(faults) };
  const { butler, modules } = checked.data;
  return { ok: true, config: { ...butler, memory: withPaths(modules.memory, file) }, written };
}

export function parseButlerToml(text: string, file: string): ButlerConfig {
  const checked = checkButlerToml(text, file);
  if (checked.ok) return checked.config;
  throw configError(checked.faults);
}

export function configError(faults: readonly Fault[]): MemoryError {
  const field = faults[0]?.key ?? "";
  return new MemoryError("invalid_input", faults.map(faultText).join("\n"), field === "" ? {} : { field });
}

/** A butler without a file: it has a memory, and every setting has its default. */
export function defaultButler(name: string): ButlerConfig {
  return parseButlerToml(`[butler]\nname = ${JSON.stringify(name)}\n[modules.memory]\n`, `${name}/butler.toml`);
}

interface Raw {
  readonly butler?: { readonly name?: unknown; readonly role?: unknown };
  readonly modules?: { readonly memory?: { readonly service?: unknown } };
}

/** Read from the document as it was written, so that these faults are found beside those of the schema. */
function faultsBetweenKeys(written: Written, folder: FolderNames | undefined): Fault[] {
  const { butler, modules } = written.document as Raw;
  const name = butler?.name;
  const service = modules?.memory?.service;
  const faults: Fault[] = [];
  if (folder !== undefined && typeof name === "string" && BUTLER_NAME.test(name) && name !== folder.name) {
    const taken = folder.names.includes(name) ? "; another butler has that name" : "";
    const message = `found "${name}", expected "${folder.name}", the name of its folder${taken}.`;
    faults.push(faultAt(written, ["butler", "name"], message));
  }
  if (service !== undefined && butler?.role === "memory") {
    const message = `found ${quoted(masked("service", service))}, expected none: a butler with role = "memory" is the service.`;
    faults.push(faultAt(written, ["modules", "memory", "service"], message));
  }
  return faults;
}

const inOrder = (faults: readonly Fault[]): Fault[] =>
  [...faults].sort((a, b) => (a.line ?? Number.POSITIVE_INFINITY) - (b.line ?? Number.POSITIVE_INFINITY));

/** A relative path in a butler.toml starts at the folder of that file, whatever the folder of the process. */
function withPaths(settings: Settings, file: string): Settings {
  const found = (path: string) =>
    path.startsWith("~/") ? join(homedir(), path.slice(2)) : resolve(dirname(file), path);
  const { service_token_file: token, privacy } = settings;
  const { encryption_key_file: key } = privacy;
  return {
    ...settings,
    ...(token === undefined ? {} : { service_token_file: found(token) }),
    ...(key === undefined ? {} : { privacy: { ...privacy, encryption_key_file: found(key) } }),
  };
}
