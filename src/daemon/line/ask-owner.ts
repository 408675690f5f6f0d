/** Repeats a question until an owner answers it. Every local process asks its owner this way. */
import { unavailable } from "../../engine/domain/errors.ts";
import type { Home } from "../home.ts";
import type { Launch } from "../owner/start-owner.ts";
import { mayRepeat, notInTime, OwnerError } from "./owner-error.ts";
import type { OwnerQuestion, OwnerReply } from "./question.ts";
import { requestOwner } from "./request.ts";
import { retry } from "./retry.ts";

/** Both on the clock of `performance.now()`. */
export interface Deadlines {
  /** Until when the question is repeated to find an owner; 0: it is asked once. */
  readonly reach: number;
  readonly answer: number;
}

/** `find` is called before every attempt; it makes sure that there is an owner, as far as its caller wants that. */
export function askOwner(
  home: Home,
  question: OwnerQuestion,
  deadlines: Deadlines,
  find: (attempt: number) => Promise<unknown>,
): Promise<OwnerReply> {
  return untilAnswered(home, deadlines, find, (timeoutMs) =>
    requestOwner({ ...question, socket: home.socket, timeoutMs }),
  );
}

/** Repeats `send` with the time that is left, as long as it finds no owner. */
export function untilAnswered<T>(
  home: Home,
  deadlines: Deadlines,
  find: (attempt: number) => Promise<unknown>,
  send: (timeoutMs: number) => Promise<T>,
): Promise<T> {
  let attempt = 0;
  const giveUp = () => new OwnerError("unreachable", notInTime(home));
  return retry({ until: deadlines.reach, firstMs: 0, giveUp }, async () => {
    try {
      await find(attempt++);
      return await send(Math.max(1, deadlines.answer - performance.now()));
    } catch (error) {
      if (mayRepeat(error)) return undefined;
      throw error;
    }
  });
}

export interface OwnerAccess {
  readonly home: Home;
  /** Undefined: only an owner that is running is asked. */
  readonly launch: (() => Promise<Launch>) | undefined;
  /** The caller's own database server; an owner with another one is not asked. */
  readonly databaseUrl: string | undefined;
}

/** For a process that an agent waits for. The question itself finds out whether there is an owner: only when nobody answers is one started. */
export async function askAtOnce(access: OwnerAccess, question: OwnerQuestion, deadlines: Deadlines): Promise<unknown> {
  const find = startWhenMissing(access, deadlines.reach);
  const { status, json } = await askOwner(access.home, question, deadlines, find);
  if (status === 200 || status === 204) return json;
  const { error } = (json ?? {}) as { readonly error?: { readonly message?: unknown } };
  throw new Error(typeof error?.message === "string" ? error.message : `the owner answered with status ${status}`);
}

function startWhenMissing(access: OwnerAccess, until: number): (attempt: number) => Promise<void> {
  const { home, databaseUrl } = access;
  return async (attempt) => {
    if (attempt === 0 && databaseUrl === undefined) return;
    // Only now: what finds and starts an owner takes longer to load than an answer takes.
    const [{ ensureOwner, findOwner }, launch] = await Promise.all([
      import("../owner/start-owner.ts"),
      access.launch?.(),
    ]);
    if (attempt > 0) {
      await ensureOwner(home, launch, until);
      return;
    }
    const { databaseMark } = await import("../owner/owner-file.ts");
    const note = await findOwner(home, Math.max(1, until - performance.now()));
    if (note !== undefined && note.database !== databaseMark(databaseUrl))
      throw unavailable("its owner uses another database than BUTLER_DATABASE_URL names here");
  };
}
