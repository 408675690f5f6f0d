/**
 * Finds the project of a folder. Clones and worktrees of one repository are one project, wherever they are. Only files are read and git is not
 * started, because every session of an agent waits for this.
 */

import { lstatSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { pathKey, projectKey, remoteKey } from "../../doors/project-key.ts";
import { realPath } from "../../engine/adapters/files/real-path.ts";
import { type GitSetting, readGitConfig } from "./git-config.ts";

export interface Project {
  readonly key: string;
  readonly from: "explicit" | "remote" | "git" | "folder";
  /** The top of the working tree, or the folder itself. */
  readonly root: string;
}

interface Repository {
  readonly root: string;
  /** The git folder that all worktrees share; its configuration names the remotes. Undefined when the link to it is broken. */
  readonly common: string | undefined;
}

/** Never throws. An explicit key goes before `butler.project` of the repository, and that before its remote. */
export function projectOf(folder: string, explicit?: string): Project {
  const place = real(resolve(folder));
  const repository = repositoryAround(place);
  const root = repository?.root ?? place;
  const given = explicit === undefined ? undefined : projectKey(explicit);
  if (given !== undefined) return { key: given, from: "explicit", root };
  const common = repository?.common;
  if (common === undefined) return { key: pathKey("folder", root), from: "folder", root };
  const settings = readGitConfig(textOf(join(common, "config")) ?? "");
  const configured = projectKey(lastOf(settings, "butler", "project") ?? "");
  if (configured !== undefined) return { key: configured, from: "explicit", root };
  const remote = remoteOf(settings);
  if (remote !== undefined) return { key: remoteKey(remote) ?? localKey(remote, root), from: "remote", root };
  return { key: pathKey("git", common), from: "git", root };
}

/** A project as a shell finds it: by its root folder alone, and only for as long as the files that decide its key are older than the finding. */
export interface RootPlace {
  readonly root: string;
  readonly git: boolean;
  readonly decidedBy: readonly string[];
}

/** Undefined where a shell cannot tell: `.git` is a link, or leads nowhere, or the repository has no work tree. `hook.sh` looks the same way. */
export function rootPlace(folder: string): RootPlace | undefined {
  const place = real(resolve(folder));
  const repository = repositoryAround(place);
  if (!repository) return kindOf(place) === "folder" ? { root: place, git: false, decidedBy: [] } : undefined;
  const { root, common } = repository;
  const link = join(root, ".git");
  const kind = lstatSync(link, { throwIfNoEntry: false });
  const plain = kind?.isDirectory() ? common === link : kind?.isFile();
  if (!plain || common === undefined) return undefined;
  const config = join(common, "config");
  if (kindOf(config) !== "file") return undefined;
  return { root, git: true, decidedBy: kind?.isFile() ? [link, config] : [config] };
}

const lastOf = (settings: readonly GitSetting[], section: string, name: string) =>
  settings.findLast((one) => one.section === section && one.subsection === "" && one.name === name)?.value;

/** `origin`, else the first that has an address; of several addresses git fetches from the first. */
function remoteOf(settings: readonly GitSetting[]): string | undefined {
  const remotes = settings.filter(
    ({ section, subsection, name, value }) =>
      section === "remote" && subsection !== "" && name === "url" && value.trim() !== "",
  );
  return (remotes.find(({ subsection }) => subsection === "origin") ?? remotes[0])?.value;
}

function localKey(remote: string, root: string): string {
  return pathKey("path", real(resolve(root, pathOf(remote.trim()))));
}

function pathOf(remote: string): string {
  if (!/^file:/i.test(remote)) return remote;
  try {
    return fileURLToPath(remote);
  } catch {
    // A file URL with a server: only its path is used.
    return remote.replace(/^file:\/*/i, "/");
  }
}

/**
 * A bare repository counts only outside of any work tree. Inside of one, its files may have been committed by the author of that
 * repository, and its `butler.project` or remote would give access to the memory of another project (git: `safe.bareRepository`).
 */
function repositoryAround(folder: string): Repository | undefined {
  let bare: Repository | undefined;
  for (let here = folder; ; here = dirname(here)) {
    const link = join(here, ".git");
    const kind = kindOf(link);
    if (kind === "folder" && isGitFolder(link)) return { root: here, common: commonOf(real(link)) };
    if (kind === "file") return { root: here, common: linkedFrom(link) };
    if (bare === undefined && isGitFolder(here) && kindOf(join(here, "objects")) === "folder") {
      bare = { root: here, common: commonOf(here) };
      // git checks nothing out into a folder called `.git`, so its files are the person's own.
      if (here.split(sep).includes(".git")) return bare;
    }
    if (dirname(here) === here) return bare;
  }
}

/** Worktrees and submodules have a file `.git` instead of a folder. */
function linkedFrom(file: string): string | undefined {
  const target = /^gitdir:\s*(.+?)\s*$/m.exec(textOf(file) ?? "")?.[1];
  if (target === undefined) return undefined;
  const folder = real(resolve(dirname(file), target));
  return isGitFolder(folder) ? commonOf(folder) : undefined;
}

function commonOf(gitFolder: string): string {
  const shared = textOf(join(gitFolder, "commondir"))?.trim();
  return shared === undefined || shared === "" ? gitFolder : real(resolve(gitFolder, shared));
}

/** Like git, the search goes on upwards when a folder called `.git` holds no repository. */
const isGitFolder = (path: string) => kindOf(join(path, "HEAD")) === "file";

function kindOf(path: string): "file" | "folder" | "other" | undefined {
  try {
    const found = statSync(path);
    return found.isFile() ? "file" : found.isDirectory() ? "folder" : "other";
  } catch {
    // It is missing, forbidden or a loop of links.
    return undefined;
  }
}

/** A larger file is no git configuration. */
const MOST_BYTES = 1024 * 1024;

function textOf(file: string): string | undefined {
  try {
    const found = statSync(file);
    // Reading a pipe could block for ever.
    return found.isFile() && found.size <= MOST_BYTES ? readFileSync(file, "utf8") : undefined;
  } catch {
    return undefined;
  }
}

/** One folder under two names is one project, also where a parent folder cannot be read. */
const real = (path: string): string => realPath(path, () => true, "keep");
