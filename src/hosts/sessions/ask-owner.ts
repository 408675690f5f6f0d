/** Questions of a host to the owner, within the time that a host waits. */

import type { Home } from "../../daemon/home.ts";
import { isGone, noAnswerWithin, OwnerTimeout } from "../../daemon/line/local-gone.ts";
import { askLine } from "../../daemon/line/local-line.ts";
import type { Launch } from "../../daemon/owner/start-owner.ts";
import { MemoryError } from "../../engine/domain/errors.ts";

export interface OwnerWay {
  readonly home: Home;
  /** Undefined: only an owner that is running is asked. */
  readonly launch: (() => Promise<Launch>) | undefined;
  /** The caller's own database server; an owner with another one is not asked. */
  readonly databaseUrl: string | undefined;
}

/** A host that takes longer than this for its memory is slower than one without. */
export const HOST_MS = 2_000;

/** Rejects with words for a person. `until` is on the clock of `performance.now()`. */
export async function askOwner(way: OwnerWay, path: string, body: unknown, until: number): Promise<unknown> {
  try {
    if (way.databaseUrl !== undefined) await sameDatabase(way, way.databaseUrl, until);
    for (;;) {
      const reply = await tryOnce(way, path, body, until);
      if (reply?.status === 200) return reply.json;
      if (reply !== undefined && reply.status !== 503) throw new Error(wordsOf(reply.json) ?? `status ${reply.status}`);
      // Only now: what starts an owner takes longer to load than an answer takes.
      const [{ ensureOwner }, launch] = await Promise.all([
        import("../../daemon/owner/start-owner.ts"),
        way.launch?.(),
      ]);
      await ensureOwner(way.home, launch, until);
    }
  } catch (error) {
    if (error instanceof OwnerTimeout) throw new Error(`no answer within ${HOST_MS / 1_000} s`, { cause: error });
    throw error;
  }
}

/** Undefined when nobody is there. */
async function tryOnce({ home }: OwnerWay, path: string, body: unknown, until: number) {
  const timeoutMs = until - performance.now();
  if (timeoutMs <= 0) throw new OwnerTimeout("no time is left");
  try {
    const late = () => noAnswerWithin(timeoutMs);
    return await askLine(home.socket, path, body, timeoutMs, late);
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

async function sameDatabase({ home }: OwnerWay, url: string, until: number): Promise<void> {
  const [{ findOwner }, { databaseMark }] = await Promise.all([
    import("../../daemon/owner/start-owner.ts"),
    import("../../daemon/owner/owner-file.ts"),
  ]);
  const note = await findOwner(home, Math.max(1, until - performance.now()));
  if (note !== undefined && note.database !== databaseMark(url))
    throw new MemoryError("unavailable", "its owner uses another database than BUTLER_DATABASE_URL names here");
}

function wordsOf(json: unknown): string | undefined {
  const { error } = (json ?? {}) as { readonly error?: { readonly message?: unknown } };
  return typeof error?.message === "string" ? error.message : undefined;
}
