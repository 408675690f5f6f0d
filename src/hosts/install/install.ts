/** Installs memory into an agent. `prepareInstall` reads and checks everything, `applyInstall` writes. */
import { existsSync } from "node:fs";
import { basename, join, sep } from "node:path";
import { conflict } from "../../engine/domain/errors.ts";
import { AGENTS } from "./agents/agents.ts";
import { missingFolders, readText, removeEmpty, requireInside, sha256, type Write, writeAll } from "./disk.ts";
import { putIn, takeFrom } from "./edit/host-file.ts";
import { sameJson } from "./edit/json-tree.ts";
import {
  installFolder,
  type Manifest,
  type OwnedFile,
  readBackup,
  readManifest,
  removeManifest,
  type Touched,
  writeManifest,
} from "./manifest.ts";
import { boundary, type HostChange, type InstallRequest, type OwnFile, type Plan } from "./plan.ts";

export interface Prepared {
  readonly request: InstallRequest;
  readonly plan: Plan;
  readonly folder: string;
  readonly writes: readonly Write[];
  readonly backups: ReadonlyMap<string, string>;
  readonly manifest: Manifest;
  readonly old: Manifest | undefined;
  /** False: it is installed already, and nothing will be written. */
  readonly changes: boolean;
}

/** Only reads. What makes the installation impossible is thrown here, before a file is changed. */
export function prepareInstall(request: InstallRequest, now: Date, force: boolean): Prepared {
  const plan = AGENTS[request.agent].plan(request, existsSync);
  const folder = installFolder(request.places, request.agent, request.scope);
  const old = readManifest(folder);
  requireInside(
    boundary(request),
    [...plan.host, ...plan.files, ...(old?.host ?? []), ...(old?.files ?? [])].map(({ path }) => path),
  );
  const backups = new Map<string, string>();
  const writes: Write[] = [];
  const job = { request, folder, old, force, backups, writes };

  const host = plan.host.map((change) => prepareHost(job, change));
  const files = plan.files.map((file) => prepareFile(job, file));
  for (const touched of old?.host ?? []) if (!host.some(({ path }) => path === touched.path)) dropHost(job, touched);
  for (const { path, backup } of old?.files ?? []) {
    const before = files.some((file) => file.path === path) ? undefined : readText(path);
    if (before !== undefined) writes.push({ path, before, after: readBackup(folder, backup), mode: 0o644 });
  }

  const made = missingFolders([
    ...writes.filter(({ after }) => after !== undefined).map(({ path }) => path),
    join(folder, "x"),
  ]);
  const manifest: Manifest = {
    format: 1,
    agent: request.agent,
    scope: request.scope,
    root: request.scope === "user" ? request.places.userHome : request.places.project,
    butler: request.butler,
    version: request.version,
    installed_at: now.toISOString(),
    host,
    files,
    folders: [...new Set([...(old?.folders ?? []), ...made])],
  };
  const same = old !== undefined && sameJson({ ...old, installed_at: "" }, { ...manifest, installed_at: "" });
  return { request, plan, folder, writes, backups, manifest, old, changes: writes.length > 0 || !same };
}

export function applyInstall(prepared: Prepared): void {
  const { request, folder, writes, backups, manifest, old, changes } = prepared;
  if (!changes) return;
  // The manifest is written first: after a crash in between it still says what to undo.
  writeManifest(folder, manifest, backups);
  try {
    writeAll(writes, boundary(request));
  } catch (error) {
    if (old) writeManifest(folder, old, new Map());
    else {
      removeManifest(request.places, request.agent, folder);
      removeEmpty(manifest.folders);
    }
    throw error;
  }
}

interface Job {
  readonly request: InstallRequest;
  readonly folder: string;
  readonly old: Manifest | undefined;
  readonly force: boolean;
  readonly backups: Map<string, string>;
  readonly writes: Write[];
}

function prepareHost(job: Job, change: HostChange): Touched {
  const { path } = change;
  const current = readText(path);
  const found = current === undefined ? undefined : job.old?.host.find((touched) => touched.path === path);
  const { text, ...ours } = putIn(current, change, found, job.force);
  if (text !== current) job.writes.push({ path, before: current, after: text, mode: 0o644 });
  const base = current === undefined ? undefined : found ? baseOf(job.folder, current, found) : current;
  return {
    path,
    before: base === undefined ? null : sha256(base),
    after: sha256(text),
    backup: keep(job, path, base),
    ...ours,
  };
}

/** The file without our part. */
function baseOf(folder: string, current: string, touched: Touched): string | undefined {
  if (sha256(current) === touched.after) return readBackup(folder, touched.backup);
  const { text, empty } = takeFrom(touched.path, current, touched);
  return empty && touched.before === null ? undefined : text;
}

function dropHost(job: Job, touched: Touched): void {
  const current = readText(touched.path);
  if (current === undefined) return;
  const after = baseOf(job.folder, current, touched);
  if (after !== current) job.writes.push({ path: touched.path, before: current, after, mode: 0o644 });
}

function prepareFile(job: Job, file: OwnFile): OwnedFile {
  const { path, text } = file;
  const current = readText(path);
  const known = job.old?.files.find((one) => one.path === path);
  const within = path.startsWith(`${job.request.places.home.root}${sep}`);
  const foreign = current !== undefined && current !== text && known === undefined && !within;
  if (foreign && !job.force)
    throw conflict(
      `${path} is there already and is not ours; --force replaces it and keeps a backup. Nothing was changed.`,
    );
  if (current !== text) job.writes.push({ path, before: current, after: text, mode: file.executable ? 0o755 : 0o644 });
  const base = foreign ? current : readBackup(job.folder, known?.backup ?? null);
  return { path, sha256: sha256(text), backup: keep(job, path, base) };
}

function keep(job: Job, path: string, text: string | undefined): string | null {
  if (text === undefined) return null;
  const name = `${sha256(path).slice(0, 8)}-${basename(path)}`;
  job.backups.set(name, text);
  return name;
}
