/**
 * The file of an opening, which `hook.sh` reads with nothing but a shell: a line for each thing that it has to check before it may tell the
 * text, and the text escaped for JSON, so that the shell only puts the agent's own words around it.
 */

import { lstatSync, mkdirSync, rmdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Home, readIfThere, writePrivate } from "../../daemon/home.ts";
import type { RootPlace } from "../projects/project.ts";

/** What a session has been told with its opening. */
export interface Given {
  readonly ids: readonly string[];
  readonly tokens: number;
}

export interface Opening extends Given {
  /** "" when there is nothing to say. */
  readonly text: string;
  /** Undefined: the butler's own, for folders that were never seen. */
  readonly place: RootPlace | undefined;
  /** The moment before anything that it rests on was read. */
  readonly began: Date;
  /** The folder of the roster that the butler is in. */
  readonly roster: string | undefined;
  /** Files that must not have changed since, beside those that decide the project. */
  readonly after: readonly string[];
  /** Files or folders that must still be there. */
  readonly needs: readonly string[];
}

const FORMAT = "butler opening 1";
const DAY_S = 86_400;
/** A header takes 16 KB; an opening of a few hundred tokens holds a few dozen memories. */
const MOST_IDS = 200;

/** The shell carries it from the file to the owner and does not look into it. */
export const encodeGiven = ({ ids, tokens }: Given): string => `${tokens}:${ids.slice(0, MOST_IDS).join(",")}`;

export function decodeGiven(text: string | undefined): Given | undefined {
  const [, tokens = "", ids = ""] = /^(\d{1,6}):([0-9a-f,-]*)$/.exec(text ?? "") ?? [];
  if (tokens === "") return undefined;
  const list = ids.split(",").filter((id) => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id));
  return { ids: list.slice(0, MOST_IDS), tokens: Number(tokens) };
}

const folderOf = (home: Home, butler: string): string => join(home.openings, butler);
export const indexFile = (home: Home, butler: string): string => join(folderOf(home, butler), "index.json");
const projectsFolder = (home: Home, butler: string): string => join(folderOf(home, butler), "at");

/** While it is there, the openings are older than the memory, and a running owner is asked. */
const changingFile = (home: Home, butler: string): string => join(folderOf(home, butler), "changing");

export function markChanging(home: Home, butler: string): void {
  mkdirSync(folderOf(home, butler), { recursive: true, mode: 0o700 });
  writeFileSync(changingFile(home, butler), "", { mode: 0o600 });
}

export const unmarkChanging = (home: Home, butler: string): void => rmSync(changingFile(home, butler), { force: true });

/** Undefined for a root that the shell would leave to the owner, because JSON escapes a sign of it or a line of the file could not hold it. */
export function openingFile(home: Home, butler: string, root: string | undefined): string | undefined {
  if (root === undefined) return join(folderOf(home, butler), "own");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the signs that JSON escapes.
  if (!root.startsWith("/") || /["\\\u0000-\u001f\u007f]/.test(root)) return undefined;
  return join(projectsFolder(home, butler), root, ".opening");
}

/** Fails where a folder of the same name is in the way, or the path is too long. */
export function writeOpening(file: string, opening: Opening): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  if (lstatSync(file, { throwIfNoEntry: false })?.isDirectory()) throw new Error("a folder is in the way");
  writePrivate(file, fileText(opening));
  // So that a file which changed while the opening was made is newer than it.
  utimesSync(file, opening.began, opening.began);
}

function fileText({ place, began, roster, after, needs, text, ...given }: Opening): string {
  const lines = [
    FORMAT,
    `until ${Math.floor(began.getTime() / 1000) + DAY_S - 1}`,
    ...(place === undefined ? [] : [`root ${place.root}`, `git ${place.git ? "found" : "none"}`]),
    ...(roster === undefined ? [] : [`roster ${roster}`]),
    ...needs.map((path) => `needs ${path}`),
    ...[...after, ...(place?.decidedBy ?? [])].map((path) => `after ${path}`),
    `holds ${encodeGiven(given)}`,
    `text ${JSON.stringify(text).slice(1, -1)}`,
    "end",
  ];
  return `${lines.join("\n")}\n`;
}

/** When the opening was made, as its file says; undefined when there is none. */
export function readOpeningTime(file: string): Date | undefined {
  const until = /^until (\d+)$/m.exec(readIfThere(file) ?? "")?.[1];
  return until === undefined ? undefined : new Date((Number(until) - DAY_S + 1) * 1000);
}

/** Removes one opening, and the folders above it that are then empty. */
export function removeOpening(home: Home, file: string): void {
  if (!lstatSync(file, { throwIfNoEntry: false })?.isDirectory()) rmSync(file, { force: true });
  try {
    for (let folder = dirname(file); folder.startsWith(`${home.openings}/`); folder = dirname(folder))
      rmdirSync(folder);
  } catch {
    // It holds another opening.
  }
}

/** Removes all openings of a butler, but not the list of its projects. */
export function removeOpenings(home: Home, butler: string): void {
  rmSync(join(folderOf(home, butler), "own"), { force: true });
  rmSync(projectsFolder(home, butler), { recursive: true, force: true });
}
