/** The record of an installation, in `<home>/installs/<agent>/<scope>/`: what is needed to undo it exactly, and a backup of each file. */
import { createHash } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { readIfThere, writePrivate } from "../../daemon/home.ts";
import { integrity } from "../../engine/domain/errors.ts";
import type { AgentName } from "../hooks/dialects.ts";
import { removeEmpty } from "./disk.ts";
import type { Ours } from "./edit/host-file.ts";
import type { Places, Scope } from "./plan.ts";

export interface Touched extends Ours {
  readonly path: string;
  /** Hashes of the file without our part and with it; null: there was no file. */
  readonly before: string | null;
  readonly after: string;
  /** The name of the backup beside the manifest. */
  readonly backup: string | null;
}

export interface OwnedFile {
  readonly path: string;
  readonly sha256: string;
  /** The backup of a file that was overwritten with --force. */
  readonly backup: string | null;
}

export interface Manifest {
  readonly format: 1;
  readonly agent: AgentName;
  readonly scope: Scope;
  /** The project's folder, or the person's home. */
  readonly root: string;
  readonly butler: string;
  readonly version: string;
  readonly installed_at: string;
  readonly host: readonly Touched[];
  readonly files: readonly OwnedFile[];
  readonly folders: readonly string[];
}

export function installFolder(places: Places, agent: AgentName, scope: Scope): string {
  const mark = createHash("sha256").update(places.project).digest("hex").slice(0, 12);
  return join(places.home.root, "installs", agent, scope === "user" ? "user" : `project-${mark}`);
}

export function readManifest(folder: string): Manifest | undefined {
  const file = join(folder, "manifest.json");
  const text = readIfThere(file);
  if (text === undefined) return undefined;
  try {
    const read = JSON.parse(text) as Manifest;
    if (read.format === 1) return read;
  } catch (error) {
    throw integrity(`${file} cannot be read; it says what was installed where.`, error);
  }
  throw integrity(`${file} was written by a newer butler; use that one.`);
}

export function writeManifest(folder: string, manifest: Manifest, backups: ReadonlyMap<string, string>): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const [name, text] of backups) writePrivate(join(folder, name), text);
  writePrivate(join(folder, "manifest.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
}

export function readBackup(folder: string, name: string | null): string | undefined {
  return name === null ? undefined : readIfThere(join(folder, name));
}

/** Removes the manifest with its backups, and those of our folders around it that are then empty. */
export function removeManifest(places: Places, agent: AgentName, folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  const own = (name: string) => [join(places.home.root, name, agent), join(places.home.root, name)];
  removeEmpty([...own("installs"), ...own("plugins")]);
}
