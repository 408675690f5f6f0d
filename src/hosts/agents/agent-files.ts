/** Texts that an agent is given as files, readable by this user only and removed when it has ended, or cut to fit into an argument. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Linux accepts no argument of 128 KiB or more. */
const LONGEST_ARGUMENT = 120_000;

export const isTooLong = (text: string) => Buffer.byteLength(text) > LONGEST_ARGUMENT;

/** The first part of a text that can only be passed as an argument. */
export const cutToFit = (text: string) =>
  isTooLong(text)
    ? Buffer.from(text)
        .subarray(0, LONGEST_ARGUMENT)
        .toString("utf8")
        .replace(/\ufffd$/, "")
    : text;

export async function withFiles<T>(
  texts: Readonly<Record<string, string>>,
  work: (path: (name: string) => string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "butler-run-"));
  try {
    for (const [name, text] of Object.entries(texts)) await writeFile(join(folder, name), text, { mode: 0o600 });
    return await work((name) => join(folder, name));
  } finally {
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}
