/**
 * Bytes by slot, one after the other in a few buffers: an array of its own for each memory would cost more than its bytes. It grows by another
 * buffer and copies nothing: of one that was exchanged for a larger one the old one stayed until the next collection. What is dropped leaves a
 * hole; when half of the bytes are holes, they are written anew.
 */
import { withRoom } from "../collections/with-room.ts";

export interface Arena {
  put(slot: number, bytes: Uint8Array): void;
  drop(slot: number): void;
  /** A view of what was put last; undefined where nothing was put. */
  get(slot: number): Uint8Array | undefined;
  bytes(): number;
}

/** The first buffer, and the largest: those between are a quarter of what there is. */
const FIRST = 1 << 16;
const LARGEST = 1 << 20;

export function openArena(): Arena {
  let buffers: Uint8Array[] = [];
  /** Of all buffers together, and how much of it was dropped. */
  let total = 0;
  let holes = 0;
  /** Where the free room of the last buffer begins. */
  let end = 0;
  let buffer = new Int32Array(0);
  let at = new Int32Array(0);
  /** One more than the number of bytes; 0 where there are none. */
  let size = new Int32Array(0);

  const reserve = (slot: number) => {
    if (slot < size.length) return;
    const room = Math.ceil(Math.max(1_024, slot * 1.25));
    buffer = withRoom(new Int32Array(room), buffer);
    at = withRoom(new Int32Array(room), at);
    size = withRoom(new Int32Array(room), size);
  };
  const hasRoom = (bytes: number) => end + bytes <= (buffers.at(-1)?.length ?? -1);
  const append = (slot: number, bytes: Uint8Array) => {
    if (!hasRoom(bytes.length)) {
      const next = new Uint8Array(Math.max(bytes.length, Math.min(LARGEST, Math.max(FIRST, total / 4))));
      buffers.push(next);
      total += next.length;
      end = 0;
    }
    buffers.at(-1)?.set(bytes, end);
    buffer[slot] = buffers.length - 1;
    at[slot] = end;
    size[slot] = bytes.length + 1;
    end += bytes.length;
  };
  const get = (slot: number, from: readonly Uint8Array[]): Uint8Array | undefined => {
    const length = (size[slot] ?? 0) - 1;
    const start = at[slot] as number;
    return length < 0 ? undefined : from[buffer[slot] as number]?.subarray(start, start + length);
  };
  const drop = (slot: number) => {
    if (slot >= size.length) return;
    holes += Math.max(0, (size[slot] as number) - 1);
    size[slot] = 0;
  };
  const writeAnew = () => {
    const before = buffers;
    [buffers, total, holes, end] = [[], 0, 0, 0];
    for (let slot = 0; slot < size.length; slot++) {
      const bytes = get(slot, before);
      if (bytes !== undefined) append(slot, bytes);
    }
  };
  return {
    put(slot, bytes) {
      reserve(slot);
      drop(slot);
      if (!hasRoom(bytes.length) && holes * 2 > total) writeAnew();
      append(slot, bytes);
    },
    drop,
    get: (slot) => get(slot, buffers),
    bytes: () => total,
  };
}
