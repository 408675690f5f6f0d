/** How a caller follows its call while it is under way: it may cancel it, and it may be told how far it has come. */
import { MemoryError } from "../domain/errors.ts";

export interface Following {
  /** Aborted when nobody waits for the answer any more. What is not committed by then is given up; what is committed stays. */
  readonly signal?: AbortSignal | undefined;
  /** Must not throw. */
  readonly progress?: ((step: Progress) => void) | undefined;
}

export interface Progress {
  /** Grows from step to step of one call. */
  readonly done: number;
  /** Left out when it is not known. */
  readonly total?: number | undefined;
  readonly message: string;
}

/** What use cases have of it: their call. */
interface Followed {
  readonly following?: Following | undefined;
}

export class Cancelled extends MemoryError {
  constructor() {
    super("unavailable", "The call was cancelled; nothing of it was stored.");
    this.name = "Cancelled";
  }
}

/** Stands before each step that takes long, and last in every transaction of a call. */
export function stopIfCancelled({ following }: Followed): void {
  if (following?.signal?.aborted) throw new Cancelled();
}

/** A batch of any size tells about twenty steps. */
const STEPS = 20;

/** Tells of the step when it ends a twentieth of the work. */
export function tellShare({ following }: Followed, done: number, total: number, message: string): void {
  if (done % Math.ceil(total / STEPS) === 0 || done === total) following?.progress?.({ done, total, message });
}
