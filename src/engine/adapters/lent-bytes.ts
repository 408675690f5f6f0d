/**
 * Memory for columns of bytes that a caller gives back when it has read them. V8 counts what is allocated outside of its heap as if it were in its
 * old space, so that a megabyte for the lists of each search began a collection of everything at every ninth. What is not given back is
 * collected as always.
 */
const LEAST = 16_384;
const MOST_FREE = 16 * 2 ** 20;

const lent = new WeakSet<ArrayBufferLike>();
/** By their size, which is a power of two. */
const free = new Map<number, ArrayBuffer[]>();
let freeBytes = 0;

/** Its content is whatever was there before. */
export function lendBytes(size: number): Buffer {
  if (size < LEAST) return Buffer.allocUnsafe(size);
  const whole = 2 ** Math.ceil(Math.log2(size));
  const held = free.get(whole)?.pop();
  if (held !== undefined) freeBytes -= whole;
  const memory = held ?? new ArrayBuffer(whole);
  lent.add(memory);
  return Buffer.from(memory, 0, size);
}

/** Nothing may read these bytes any more, nor any part of them. Bytes that were not lent are left alone. */
export function giveBack(bytes: Uint8Array): void {
  const memory = bytes.buffer;
  if (!lent.delete(memory) || freeBytes + memory.byteLength > MOST_FREE) return;
  const others = free.get(memory.byteLength) ?? [];
  others.push(memory as ArrayBuffer);
  free.set(memory.byteLength, others);
  freeBytes += memory.byteLength;
}
