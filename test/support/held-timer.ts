/** A deadline of the product, in the test's own hands: timers of exactly `ms` end when the test says so, however slow the machine is. */
import { vi } from "vitest";

export function heldTimer(ms: number): { end(): void; release(): void } {
  const held: (() => void)[] = [];
  const real = globalThis.setTimeout;
  const spy = vi.spyOn(globalThis, "setTimeout").mockImplementation(((work: () => void, delay?: number) => {
    if (delay !== ms) return real(work, delay);
    held.push(work);
    // Something to clear.
    return real(() => undefined, 0);
  }) as typeof setTimeout);
  return {
    end: () => {
      for (const work of held.splice(0)) work();
    },
    release: () => spy.mockRestore(),
  };
}
