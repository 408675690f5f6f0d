/** Which openings lie ready, for people who look. */

import { readdirSync } from "node:fs";
import type { Home } from "../../daemon/home.ts";
import { isMissing } from "../../engine/domain/errors.ts";
import { knownProjects } from "./known-projects.ts";
import { openingFile, readOpeningTime } from "./opening-file.ts";

export interface OpeningsKept {
  readonly butler: string;
  readonly projects: number;
  /** When the oldest of them was made. */
  readonly oldest: Date | undefined;
}

export function openingsKept(home: Home): OpeningsKept[] {
  return butlersIn(home).map((butler) => {
    const times = knownProjects(home, butler)
      .roots()
      .flatMap((root) => readOpeningTime(openingFile(home, butler, root) ?? "") ?? [])
      .toSorted((a, b) => a.getTime() - b.getTime());
    return { butler, projects: times.length, oldest: times[0] };
  });
}

/** Those that openings are kept for, or were. */
export function butlersIn(home: Home): string[] {
  try {
    return readdirSync(home.openings).sort();
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
