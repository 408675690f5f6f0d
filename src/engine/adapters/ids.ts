/** UUIDv7 (RFC 9562): sortable by time, unique over all memory types, monotonic within one process and millisecond. */
import { randomBytes } from "node:crypto";

export interface Ids {
  next(now: Date): string;
}

const MOST_COUNTERS = 64;

export function uuidv7Source(random: (size: number) => Uint8Array = randomBytes): Ids {
  /** The counters of the last milliseconds: on a fixed clock callers of several times take turns, and each keeps its order. */
  const counters = new Map<number, number>();
  const first = () => (((random(2)[0] ?? 0) << 3) | ((random(1)[0] ?? 0) & 7)) & 0x7ff;
  return {
    next(now) {
      const ms = now.getTime();
      // 12 bits of rand_a are a counter that starts in its lower half, so that ids of one millisecond keep their order.
      const before = counters.get(ms);
      const sequence = before === undefined ? first() : before + 1;
      counters.delete(ms);
      counters.set(ms, sequence);
      for (const oldest of counters.keys()) {
        if (counters.size <= MOST_COUNTERS) break;
        counters.delete(oldest);
      }
      const tail = random(8);
      // A counter that overflows goes on in the next millisecond.
      const hex = (ms + (sequence >>> 12)).toString(16).padStart(12, "0");
      const a = (0x7000 | (sequence & 0xfff)).toString(16);
      const b = (0x80 | ((tail[0] ?? 0) & 0x3f)).toString(16);
      const rest = Buffer.from(tail.subarray(1)).toString("hex");
      return `${hex.slice(0, 8)}-${hex.slice(8)}-${a}-${b}${rest.slice(0, 2)}-${rest.slice(2)}`;
    },
  };
}
