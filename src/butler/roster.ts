/** The butlers of a house: one folder each, with its `butler.toml` and `CLAUDE.md`. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { MemoryError } from "../domain/errors.ts";
import { type ButlerConfig, defaultButler, parseButlerToml } from "./config.ts";
import { isMissing, readIfThere } from "./home.ts";

export type Roster = readonly ButlerConfig[];

/** Without a roster there is one butler, `general`. */
export function loadRoster(folder: string | undefined): Roster {
  if (folder === undefined) return [defaultButler("general")];
  const butlers: ButlerConfig[] = [];
  const faults: string[] = [];
  for (const name of foldersOf(folder)) {
    const file = join(folder, name, "butler.toml");
    const text = readIfThere(file);
    if (text === undefined) continue;
    try {
      butlers.push(namedAfterFolder(parseButlerToml(text, file), name, file));
    } catch (error) {
      if (!(error instanceof MemoryError)) throw error;
      faults.push(error.message);
    }
  }
  if (faults.length > 0) throw new MemoryError("invalid_input", faults.join("\n"));
  if (butlers.length === 0) {
    throw new MemoryError(
      "invalid_input",
      `The roster ${folder} holds no <name>/butler.toml; add one or leave BUTLER_ROSTER out.`,
    );
  }
  return butlers;
}

/** The folder, the data and the address all bear the butler's name, so they must be one name. */
function namedAfterFolder(config: ButlerConfig, folder: string, file: string): ButlerConfig {
  if (config.name === folder) return config;
  throw new MemoryError(
    "invalid_input",
    `${file}: butler.name: found "${config.name}", expected "${folder}", the name of its folder.`,
    { field: "butler.name" },
  );
}

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
