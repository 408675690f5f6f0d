/** Finds the transcripts of agents. */

import { existsSync } from "node:fs";
import { lstat, readdir, realpath, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { reasonOf } from "../../engine/domain/errors.ts";
import { readHead, TRANSCRIPT_AGENTS, type TranscriptAgent, type TranscriptHead } from "./read.ts";

export interface TranscriptRoot {
  readonly path: string;
  /** Undefined: each file is read to see which agent wrote it. */
  readonly agent: TranscriptAgent | undefined;
}

export interface Found {
  readonly path: string;
  readonly bytes: number;
  readonly changed: Date;
  readonly head: TranscriptHead;
}

/** A file or folder that cannot be read, or is no transcript. */
export interface Unfit {
  readonly path: string;
  readonly problem: string;
}

/** The agents' own folders, as far as they exist. */
export function usualRoots(homes: { readonly claude: string; readonly codex: string }): TranscriptRoot[] {
  const roots: readonly TranscriptRoot[] = [
    { path: join(homes.claude, "projects"), agent: "claude-code" },
    { path: join(homes.codex, "sessions"), agent: "codex" },
  ];
  return roots.filter(({ path }) => existsSync(path));
}

/** One after the other, so that one is held in memory at a time. A root that is a link is followed. */
export async function* transcriptsIn(roots: readonly TranscriptRoot[]): AsyncGenerator<Found | Unfit> {
  for (const { path, agent } of roots) yield* inside(await realpath(path).catch(() => path), agent, true);
}

/** A sub-agent's result is in the transcript of the session that started it. */
const LEFT_OUT = new Set(["subagents", "tool-results", "node_modules", ".git"]);
const DEEPEST = 8;

async function* inside(
  path: string,
  agent: TranscriptAgent | undefined,
  named: boolean,
  depth = 0,
): AsyncGenerator<Found | Unfit> {
  try {
    const found = await lstat(path);
    if (found.isSymbolicLink()) {
      const leadsTo = await stat(path);
      // A link could lead anywhere on this machine.
      if (leadsTo.isDirectory() || path.endsWith(".jsonl"))
        yield { path, problem: "is a link and is not followed; name what it leads to" };
    } else if (found.isDirectory()) {
      if (depth > DEEPEST || (!named && LEFT_OUT.has(basename(path)))) return;
      for (const name of (await readdir(path)).sort()) yield* inside(join(path, name), agent, false, depth + 1);
    } else if (found.isFile() && (named || path.endsWith(".jsonl"))) {
      const head = await headOf(path, agent);
      yield head === undefined
        ? {
            path,
            problem: found.size === 0 ? "is empty" : `is no transcript of ${agent ?? TRANSCRIPT_AGENTS.join(" or ")}`,
          }
        : { path, bytes: found.size, changed: found.mtime, head };
    }
  } catch (error) {
    yield { path, problem: `cannot be read: ${reasonOf(error)}` };
  }
}

async function headOf(path: string, agent: TranscriptAgent | undefined): Promise<TranscriptHead | undefined> {
  for (const candidate of agent === undefined ? TRANSCRIPT_AGENTS : [agent]) {
    const head = await readHead(candidate, path);
    if (head !== undefined) return head;
  }
  return undefined;
}
