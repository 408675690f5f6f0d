/**
 * Bytes by slot, one after the other in one buffer: an array of its own for each memory would cost more than its bytes. What is dropped
 * leaves a hole; when half of the buffer is holes, it is written anew.
 */
export interface Arena {
  put(slot: number, bytes: Uint8Array): void;
  drop(slot: number): void;
  /** A view, valid until the next `put`; undefined where nothing was put. */
  get(slot: number): Uint8Array | undefined;
  bytes(): number;
}

const FIRST = 1 << 16;

export function openArena(): Arena {
  let buffer = new Uint8Array(FIRST);
  let end = 0;
  let holes = 0;
  const at: number[] = [];
  const size: number[] = [];

  const drop = (slot: number) => {
    holes += Math.max(0, size[slot] ?? 0);
    size[slot] = ABSENT;
  };
  const moveTo = (room: number) => {
    const next = new Uint8Array(room);
    let to = 0;
    for (let slot = 0; slot < size.length; slot++) {
      const length = size[slot] ?? ABSENT;
      if (length === ABSENT) continue;
      const from = at[slot] as number;
      next.set(buffer.subarray(from, from + length), to);
      at[slot] = to;
      to += length;
    }
    buffer = next;
    end = to;
    holes = 0;
  };
  return {
    put(slot, bytes) {
      while (size.length <= slot) {
        size.push(ABSENT);
        at.push(0);
      }
      drop(slot);
      const live = end - holes + bytes.length;
      if (end + bytes.length > buffer.length)
        moveTo(Math.max(FIRST, live < buffer.length / 2 ? buffer.length : Math.ceil(live * 1.25)));
      buffer.set(bytes, end);
      at[slot] = end;
      size[slot] = bytes.length;
      end += bytes.length;
    },
    drop,
    get(slot) {
      const length = size[slot] ?? ABSENT;
      return length === ABSENT ? undefined : buffer.subarray(at[slot] as number, (at[slot] as number) + length);
    },
    bytes: () => buffer.length,
  };
}

const ABSENT = -1;
