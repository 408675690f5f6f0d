/**
 * Group commit. Of the writes of one kind one transaction is under way at a time; those that come meanwhile share the next one. The first
 * of them begins at once, so that nobody waits for company, unless others read all the time: they need the cores more, and a transaction for four
 * takes the store little longer than one for each (at 50 contexts and 40 episodes a second 170 ms of each second instead of 240).
 */
import { setTimeout as pause } from "node:timers/promises";
import { MemoryError } from "../domain/errors.ts";
import { Cancelled } from "./following.ts";

export interface Groups {
  /** `carryOut` gets some of those that wait under `kind`, in their order, and gives an answer or an error for each. */
  add<W extends Keyed, A>(kind: string, one: W, carryOut: CarryOut<W, A>): Promise<A>;
}

type CarryOut<W, A> = (group: readonly W[]) => Promise<readonly (A | MemoryError)[]>;

/** Two calls with one key are never in the same group: the second gets the answer that the first one left. */
interface Keyed {
  readonly call: { readonly idempotencyKey: string | undefined };
}

interface Waiting {
  readonly one: Keyed;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A longer transaction would hold up everybody else on the embedded store. */
const MOST = 32;
/** How long a write waits for company where others read all the time. */
const COMPANY_MS = 100;

export function openGroups(isReadBusily: () => boolean): Groups {
  const waiting = new Map<string, Waiting[]>();

  async function carryOutAll(kind: string, carryOut: CarryOut<Keyed, unknown>): Promise<void> {
    for (;;) {
      const queue = waiting.get(kind) ?? [];
      if (queue.length === 0) break;
      if (isReadBusily()) await pause(COMPANY_MS);
      const group = takeGroup(queue);
      await settle(group, carryOut);
    }
    waiting.delete(kind);
  }

  return {
    add: <W extends Keyed, A>(kind: string, one: W, carryOut: CarryOut<W, A>) =>
      new Promise<A>((resolve, reject) => {
        const mine: Waiting = { one, resolve: resolve as Waiting["resolve"], reject };
        const queue = waiting.get(kind);
        if (queue !== undefined) return void queue.push(mine);
        waiting.set(kind, [mine]);
        void carryOutAll(kind, carryOut as unknown as CarryOut<Keyed, unknown>);
      }),
  };
}

function takeGroup(queue: Waiting[]): Waiting[] {
  const keys = new Set<string>();
  const group: Waiting[] = [];
  const left: Waiting[] = [];
  for (const waits of queue.splice(0)) {
    const { idempotencyKey: key } = waits.one.call;
    const fits = group.length < MOST && (key === undefined || !keys.has(key));
    (fits ? group : left).push(waits);
    if (key !== undefined) keys.add(key);
  }
  queue.push(...left);
  return group;
}

/**
 * Where a group fails as a whole, each is tried by itself: one of them must not take the others with it, nor one that was cancelled. A store that
 * is gone is asked once.
 */
async function settle(group: readonly Waiting[], carryOut: CarryOut<Keyed, unknown>): Promise<void> {
  try {
    const answers = await carryOut(group.map(({ one }) => one));
    for (const [at, { resolve, reject }] of group.entries()) {
      const answer = answers[at];
      if (answer instanceof MemoryError) reject(answer);
      else resolve(answer);
    }
  } catch (error) {
    const isGone = error instanceof MemoryError && error.code === "unavailable" && !(error instanceof Cancelled);
    if (group.length === 1 || isGone) for (const { reject } of group) reject(error);
    else for (const one of group) await settle([one], carryOut);
  }
}
