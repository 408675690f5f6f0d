/**
 * Opens a transcript, which must be a regular file. The path comes from another program and may lead to a pipe, a device or another
 * person's file. Opening does not wait for a writer, links are not followed, and the check is made on the opened file, because the path may
 * name another one a moment later.
 */

import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { errorCode } from "../../engine/domain/errors.ts";

export const UNFIT_FILE = "unfit_file";

/** This path holds no transcript, and trying again will not help. */
export class UnfitFile extends Error {
  readonly code = UNFIT_FILE;
}

/** Years of sessions; a larger file is no transcript. */
export const MOST_BYTES = 1024 ** 3;

// Some are absent on Windows.
const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0, O_NOCTTY = 0 } = constants;

export async function openRegular(path: string): Promise<{ handle: FileHandle; size: number }> {
  const handle = await opened(path);
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw new UnfitFile("it is no regular file");
    return { handle, size: stat.size };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function opened(path: string): Promise<FileHandle> {
  try {
    return await open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
  } catch (error) {
    const code = errorCode(error);
    if (code === "ELOOP" || code === "EMLINK") throw new UnfitFile("it is a link");
    // The path names a socket.
    if (code === "ENXIO") throw new UnfitFile("it is no regular file");
    throw error;
  }
}
