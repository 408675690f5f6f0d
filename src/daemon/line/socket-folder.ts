/**
 * Checks before every connection that the socket is ours. A connection does not say who answers, so the folder has to: in one that
 * another user made or can write to, their process may listen, and would receive every call.
 */
import { lstatSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import { forbidden, type MemoryError } from "../../engine/domain/errors.ts";

/** Throws when the folder is not safe. A folder that does not exist is: nobody answers in it. */
export function refuseForeignSocket(socket: string): void {
  const us = process.getuid?.();
  // Windows has neither owners nor modes of this kind; its homes lie in the user's own profile.
  if (us === undefined) return;
  const folder = dirname(socket);
  const around = lookAt(dirname(folder), statSync);
  if (!around) return;
  const open = (around.mode & 0o022) !== 0;
  // Whoever may rename the folder can put another there instead; the sticky bit of /tmp forbids just that.
  if (open && (around.mode & 0o1000) === 0) throw refusal(dirname(folder), "lets others replace what is in it");
  // In a folder of our own, links are our own too, and others who may list the folder do no harm: the socket itself is 0600.
  const shared = open || around.uid !== us;
  const found = lookAt(folder, shared ? lstatSync : statSync);
  const fault = found && faultOf(found, us, shared ? 0o077 : 0o022);
  if (fault !== undefined) throw refusal(folder, fault);
}

function faultOf(found: Stats, us: number, bits: number): string | undefined {
  if (found.isSymbolicLink()) return "is a link";
  if (!found.isDirectory()) return "is not a folder";
  if (found.uid !== us) return "belongs to another user";
  return (found.mode & bits) === 0 ? undefined : "can be entered by other users";
}

const refusal = (folder: string, fault: string): MemoryError =>
  forbidden(
    `The socket of this home is not used: its folder ${folder} ${fault}, so that somebody else might answer. It must be a folder of yours with mode 0700; mend that with chmod, remove it, or set BUTLER_HOME to a shorter path of your own.`,
  );

function lookAt(path: string, stat: (path: string) => Stats): Stats | undefined {
  try {
    return stat(path);
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR"))
      return undefined;
    throw error;
  }
}
