/** UUIDv7 (RFC 9562): sortable by time, unique over all memory types, monotonic within one process and millisecond. */
import { randomBytes } from "node:crypto";

export interface Ids {
  next(now: Date): string;
}

export function uuidv7Source(random: (size: number) => Uint8Array = randomBytes): Ids {
  let lastMs = -1;
  let sequence = 0;
  return {
    next(now) {
      const ms = now.getTime();
      // 12 bits of rand_a are a counter that starts in its lower half, so that 2,048 ids of one millisecond keep their order.
      if (ms === lastMs) sequence += 1;
      else sequence = (((random(2)[0] ?? 0) << 3) | ((random(1)[0] ?? 0) & 7)) & 0x7ff;
      lastMs = ms;
      const tail = random(8);
      const hex = ms.toString(16).padStart(12, "0");
      const a = (0x7000 | (sequence & 0xfff)).toString(16);
      const b = (0x80 | ((tail[0] ?? 0) & 0x3f)).toString(16);
      const rest = Buffer.from(tail.subarray(1)).toString("hex");
      return `${hex.slice(0, 8)}-${hex.slice(8)}-${a}-${b}${rest.slice(0, 2)}-${rest.slice(2)}`;
    },
  };
}
