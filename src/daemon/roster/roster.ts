/** The roster: a folder with one folder for each butler, with its `butler.toml` and `CLAUDE.md`. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { isMissing, MemoryError, reasonOf } from "../../engine/domain/errors.ts";
import {
  type ButlerConfig,
  type Checked,
  checkButlerToml,
  configError,
  defaultButler,
  type FolderNames,
} from "../config/config.ts";
import { faultAt } from "../config/faults.ts";
import { DEFAULT_TENANT } from "../config/schema.ts";
import { readIfThere } from "../home.ts";

export type Roster = readonly ButlerConfig[];

export interface RosterEntry {
  readonly name: string;
  readonly file: string;
  readonly checked: Checked;
}

const ONLY = "general";

/** Without a roster there is one butler, `general`; the home may have a `butler.toml` for it. */
export function loadRoster(folder: string | undefined, settingsFile?: string): Roster {
  const entries = rosterEntries(folder, settingsFile);
  if (entries.length === 0) return [defaultButler(ONLY)];
  const faults = entries.flatMap(({ checked }) => (checked.ok ? [] : checked.faults));
  if (faults.length > 0) throw configError(faults);
  return entries.flatMap(({ checked }) => (checked.ok ? [checked.config] : []));
}

/** Empty when there is neither a roster nor a file for the one butler. */
export function rosterEntries(folder: string | undefined, settingsFile: string | undefined): RosterEntry[] {
  if (folder !== undefined) return readRoster(folder);
  const checked = settingsFile === undefined ? undefined : checkFile(settingsFile, undefined);
  return settingsFile === undefined || checked === undefined
    ? []
    : [{ name: ONLY, file: settingsFile, checked: onlyButler(checked) }];
}

function onlyButler(checked: Checked): Checked {
  if (!checked.ok || checked.config.name === ONLY) return checked;
  const message = `found "${checked.config.name}", expected "${ONLY}", the one butler that there is without a roster.`;
  return { ok: false, faults: [faultAt(checked.written, ["butler", "name"], message)] };
}

/** The tenant of a butler. One that is not in this roster is served elsewhere, and its own roster names its tenant. */
export const tenantOf = (roster: Roster, butler: string): string =>
  roster.find(({ name }) => name === butler)?.tenant ?? DEFAULT_TENANT;

/** Butlers whose memory is kept here: they have a store, and need a model. */
export const keptHere = (roster: Roster): Roster =>
  roster.filter(({ memory }) => memory.enabled && memory.service === undefined);

/** Every butler, with the faults of its file if there are any: a faulty file does not hide the other butlers. */
export function readRoster(folder: string): RosterEntry[] {
  const names = foldersOf(folder);
  const entries = names.flatMap((name) => {
    const own = join(folder, name);
    const file = join(own, "butler.toml");
    const checked = checkFile(file, { name, names });
    if (checked === undefined) return [];
    return [{ name, file, checked: checked.ok ? inFolder(checked, own) : checked }];
  });
  if (entries.length === 0) {
    throw new MemoryError(
      "invalid_input",
      `The roster ${folder} holds no <name>/butler.toml; add one or leave BUTLER_ROSTER out.`,
    );
  }
  return entries;
}

function checkFile(file: string, folder: FolderNames | undefined): Checked | undefined {
  let text: string | undefined;
  try {
    text = readIfThere(file);
  } catch (error) {
    return { ok: false, faults: [{ file, key: "", message: `it cannot be read (${reasonOf(error)}).` }] };
  }
  return text === undefined ? undefined : checkButlerToml(text, file, folder);
}

const inFolder = (checked: Checked & { ok: true }, folder: string): Checked => ({
  ...checked,
  config: { ...checked.config, folder },
});

function foldersOf(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith("."))
      .map((entry) => entry.name)
      .sort();
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new MemoryError("invalid_input", `The roster ${folder} is not a folder; BUTLER_ROSTER must name one.`, {
      cause: error,
    });
  }
}
