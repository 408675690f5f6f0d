/** Writes all files or none: everything is checked first, each write is a rename, and a failure restores the files that were written. */
import { createHash, randomBytes } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { conflict, errorCode, isMissing, reasonOf, unavailable } from "../../engine/domain/errors.ts";

export interface Write {
  readonly path: string;
  /** Undefined: there is no such file. */
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** For a new file; an existing one keeps its own. */
  readonly mode: number;
}

/** A project may come from anybody: a link in it that leads out would let its author choose where we write. */
export function requireInside(root: string | undefined, paths: readonly string[]): void {
  if (root === undefined) return;
  const inside = realpathSync(root);
  for (const path of paths) {
    const real = realPlace(path);
    if (real !== inside && !real.startsWith(inside.endsWith(sep) ? inside : `${inside}${sep}`))
      throw conflict(
        `${path} leads out of the project, to ${real}; make it a file of the project. Nothing was changed.`,
      );
  }
}

/** The real path that a file has or would have, with all links followed. */
function realPlace(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (!isMissing(error))
      throw unavailable(`${path} cannot be followed (${reasonOf(error)}). Nothing was changed.`, error);
    if (isLink(path)) throw conflict(`${path} is a link that leads nowhere. Nothing was changed.`);
    return join(realPlace(dirname(path)), basename(path));
  }
}

/** The text of a file, undefined if there is none; a file that is not UTF-8 is refused. */
export function readText(path: string): string | undefined {
  let bytes: Buffer | undefined;
  try {
    // Reading a pipe could block for ever.
    bytes = statSync(path).isFile() ? readFileSync(path) : undefined;
  } catch (error) {
    if (isMissing(error) && !isLink(path)) return undefined;
    if (isMissing(error)) throw conflict(`${path} is a link that leads nowhere. Nothing was changed.`);
    throw unavailable(`${path} cannot be read (${reasonOf(error)}). Nothing was changed.`, error);
  }
  if (bytes === undefined) throw conflict(`${path} is no file. Nothing was changed.`);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw conflict(`${path}, line 1: it is not UTF-8 text (${reasonOf(error)}). Nothing was changed.`);
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

export const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** The folders that must be created for these files, outermost first. */
export function missingFolders(paths: readonly string[]): string[] {
  const missing = new Set<string>();
  for (const path of paths) {
    for (let folder = dirname(path); !existsSync(folder) && !missing.has(folder); folder = dirname(folder))
      missing.add(folder);
  }
  return [...missing].sort((left, right) => left.length - right.length);
}

/** `root`: files outside of it are refused. */
export function writeAll(writes: readonly Write[], root: string | undefined): void {
  requireInside(
    root,
    writes.map(({ path }) => path),
  );
  for (const { path, before } of writes)
    if (readText(path) !== before) throw conflict(`${path} was changed by somebody else just now; try again.`);
  const folders = missingFolders(writes.filter(({ after }) => after !== undefined).map(({ path }) => path));
  const done: Write[] = [];
  try {
    for (const folder of folders) mkdirSync(folder, { mode: 0o755 });
    for (const write of writes) {
      put(write.path, write.after, write.mode);
      done.push(write);
    }
  } catch (error) {
    for (const { path, before, mode } of done.reverse()) put(path, before, mode);
    removeEmpty(folders);
    throw unavailable(`Not everything could be written (${reasonOf(error)}); what was done is undone.`, error);
  }
}

function put(path: string, text: string | undefined, mode: number): void {
  if (text === undefined) {
    rmSync(path, { force: true });
    return;
  }
  // A settings file is often a link into a folder of dotfiles: the file behind it is written, and the link stays.
  const there = existsSync(path);
  const target = there ? realpathSync(path) : path;
  const draft = `${target}.${process.pid}.${randomBytes(4).toString("hex")}`;
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: "wx" });
    chmodSync(draft, there ? statSync(target).mode & 0o7777 : mode);
    renameSync(draft, target);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** Innermost first; a folder that is not empty stays. */
export function removeEmpty(folders: readonly string[]): void {
  for (const folder of [...folders].sort((left, right) => right.length - left.length)) {
    try {
      rmdirSync(folder);
    } catch (error) {
      if (!isMissing(error) && !["ENOTEMPTY", "EEXIST", "EACCES", "EPERM", "EBUSY"].includes(errorCode(error) ?? ""))
        throw error;
    }
  }
}
