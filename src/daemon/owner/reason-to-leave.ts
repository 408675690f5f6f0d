/** Why an owner should not stay for the day although its time is not over: nobody can reach it, or its program is no longer the one on disk. */
import { existsSync, statSync } from "node:fs";
import type { Home } from "../home.ts";

/** `program`: files of it that an upgrade replaces. Some modules are loaded late, and would then be of another build than the rest. */
export function reasonToLeave(home: Home, program: readonly string[]): () => string | undefined {
  const atStart = stampOf(program);
  return () => {
    if (!existsSync(home.socket)) return "its home is gone";
    if (stampOf(program) !== atStart) return "its program was replaced or removed";
    return undefined;
  };
}

const stampOf = (files: readonly string[]): string =>
  files
    .map((file) => {
      const stat = statSync(file, { throwIfNoEntry: false });
      return stat ? `${stat.ino} ${stat.mtimeMs} ${stat.size}` : "none";
    })
    .join("\n");
