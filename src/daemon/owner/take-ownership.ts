/** How `butler up` becomes the owner: it takes over from an owner that a client started, never from another `butler up`. */
import { acquireLock, type Lock } from "../../engine/adapters/files/lock.ts";
import { unavailable } from "../../engine/domain/errors.ts";
import type { Home } from "../home.ts";
import { mayRepeat } from "../line/owner-error.ts";
import { requestOwner } from "../line/request.ts";
import { retry } from "../line/retry.ts";
import type { OwnerNote } from "./owner-file.ts";
import { findOwner } from "./start-owner.ts";

const HAND_OVER_MS = 30_000;

/** Refuses a second `butler up` before its long preparations; `takeOwnership` refuses one that started at the same time. */
export async function refuseSecondUp(home: Home): Promise<void> {
  const owner = await findOwner(home, 5_000);
  if (owner?.mode === "up") throw alreadyUp(owner);
}

export async function takeOwnership(home: Home): Promise<Lock> {
  const until = performance.now() + HAND_OVER_MS;
  // While this lock is held, no client starts an owner between the end of the old one and the start of this one.
  const turn = await waitFor(until, () => acquireLock(home.spawnLock));
  try {
    return await waitFor(until, async () => {
      const lock = await acquireLock(home.ownerLock);
      if (lock) return lock;
      const owner = await findOwner(home, 5_000);
      if (owner?.mode === "up") throw alreadyUp(owner);
      if (owner) await askToStop(home);
      return undefined;
    });
  } finally {
    await turn.release();
  }
}

/** The owner that was stopped, or undefined when there was none. */
export async function stopOwner(home: Home): Promise<OwnerNote | undefined> {
  const owner = await findOwner(home, 5_000);
  if (!owner) return undefined;
  await askToStop(home);
  await waitFor(performance.now() + HAND_OVER_MS, () => hasLeft(home, owner));
  return owner;
}

/** A client may have started the next owner by now: then the old one has ended too. */
async function hasLeft(home: Home, owner: OwnerNote): Promise<true | undefined> {
  const lock = await acquireLock(home.ownerLock);
  if (lock) {
    await lock.release();
    return true;
  }
  const next = await findOwner(home, 5_000);
  return next !== undefined && next.pid !== owner.pid ? true : undefined;
}

async function askToStop(home: Home): Promise<void> {
  try {
    await requestOwner({ socket: home.socket, method: "POST", path: "/owner/stop", timeoutMs: 5_000 });
  } catch (error) {
    if (!mayRepeat(error)) throw error;
  }
}

function waitFor<T>(until: number, attempt: () => Promise<T | undefined>): Promise<T> {
  const giveUp = () => unavailable("The process that owns the memory does not let go of it; stop it by hand.");
  return retry({ until, firstMs: 50, mostMs: 50, giveUp }, attempt);
}

function alreadyUp(owner: OwnerNote): Error {
  return unavailable(`butler up is already running (process ${owner.pid}) at ${owner.address}; "butler stop" ends it.`);
}
