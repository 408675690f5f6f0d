import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/**
 * Follows links in the part of a path that exists, so that one folder under two names is one. `isAbsent` says which errors mean that the
 * path's last part is not there yet; at another one the path stays as it is, or the error is thrown.
 */
export function realPath(path: string, isAbsent: (error: unknown) => boolean, otherwise: "keep" | "throw"): string {
  try {
    return realpathSync(path);
  } catch (error) {
    const parent = dirname(path);
    if (isAbsent(error) && parent !== path) return join(realPath(parent, isAbsent, otherwise), basename(path));
    if (otherwise === "throw") throw error;
    return path;
  }
}
