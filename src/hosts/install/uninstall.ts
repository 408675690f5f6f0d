/** Removes memory from an agent: every file becomes as it was or, if the person has changed it since, loses our part. */
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { writePrivate } from "../../daemon/home.ts";
import { notFound } from "../../engine/domain/errors.ts";
import type { AgentName } from "../hooks/dialects.ts";
import { removeAllOpenings } from "../openings/keep-openings.ts";
import { AGENTS } from "./agents/agents.ts";
import { readText, removeEmpty, requireInside, sha256, type Write, writeAll } from "./disk.ts";
import { takeFrom } from "./edit/host-file.ts";
import { installFolder, type Manifest, readBackup, readManifest, removeManifest, type Touched } from "./manifest.ts";
import { boundary, type Places, type Scope } from "./plan.ts";

export interface PreparedUninstall {
  readonly places: Places;
  readonly folder: string;
  readonly manifest: Manifest;
  readonly writes: readonly Write[];
  /** Entries that the person has made their own since, and that stay, each with its file. */
  readonly kept: readonly string[];
  /** Texts of our files that the person has changed, by the path where a copy of each is kept. */
  readonly copies: ReadonlyMap<string, string>;
}

export function prepareUninstall(places: Places, agent: AgentName, scope: Scope): PreparedUninstall {
  const folder = installFolder(places, agent, scope);
  const manifest = readManifest(folder);
  if (manifest === undefined) {
    const where = scope === "user" ? "for you" : `in ${places.project}`;
    throw notFound(`Butler Memory is not installed in ${AGENTS[agent].title} ${where}; butler install lists what is.`);
  }
  requireInside(
    boundary({ places, scope }),
    [...manifest.host, ...manifest.files].map(({ path }) => path),
  );
  const kept: string[] = [];
  const writes: Write[] = [];
  for (const touched of manifest.host) {
    const current = readText(touched.path);
    if (current === undefined) continue;
    const { after, left } = without(folder, current, touched);
    kept.push(...left.map((name) => `${name} in ${touched.path}`));
    if (after !== current) writes.push({ path: touched.path, before: current, after, mode: 0o644 });
  }
  const copies = new Map<string, string>();
  for (const { path, backup, sha256: written } of manifest.files) {
    const current = readText(path);
    if (current !== undefined && sha256(current) !== written)
      copies.set(join(dirname(folder), `changed-${sha256(current).slice(0, 8)}-${basename(path)}`), current);
    const after = readBackup(folder, backup);
    if (current !== undefined && current !== after) writes.push({ path, before: current, after, mode: 0o644 });
  }
  return { places, folder, manifest, writes, kept, copies };
}

export function applyUninstall({ places, folder, manifest, writes, copies }: PreparedUninstall): void {
  for (const [path, text] of copies) writePrivate(path, text);
  writeAll(writes, boundary({ places, scope: manifest.scope }));
  removeManifest(places, manifest.agent, folder);
  removeEmpty(manifest.folders);
  // Without a hook nobody reads them.
  if (!existsSync(join(places.home.root, "installs"))) removeAllOpenings(places.home);
}

function without(
  folder: string,
  current: string,
  touched: Touched,
): { after: string | undefined; left: readonly string[] } {
  const original = readBackup(folder, touched.backup);
  const lost = touched.backup !== null && original === undefined;
  if (sha256(current) === touched.after && !lost) return { after: original, left: [] };
  const { text, empty, kept } = takeFrom(touched.path, current, touched);
  // A file without anything of the person is removed, or becomes blank if it was.
  if (empty && (touched.before === null || original?.trim() === "")) return { after: original, left: kept };
  return { after: text, left: kept };
}
