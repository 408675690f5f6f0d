/** Vectors as they are stored, in numbers of 16 bits (IEEE 754, half precision), and their dot products with a question. */
import { type Assembly, growTo, instanceOf } from "../assembled.ts";

/** dots.wat, assembled: `test/pure/read-model.test.ts` holds them together. */
export const ASSEMBLED =
  "AGFzbQEAAAABCwFgB39/f39/f38AAwIBAAUDAQAQBxECBm1lbW9yeQIABGRvdHMAAAq7AgG4AgIHfwV9IANBAXQhByAEIAVBAnRqIQgCQANAIAQgCE8N" +
  "ASACIAQoAgAgB2xqIQpDAAAAACEPIAIgBEEEaigCACAHbGohC0MAAAAAIRAgAiAEQQhqKAIAIAdsaiEMQwAAAAAhESACIARBDGooAgAgB2xqIQ1DAAAA" +
  "ACESQQAhCQNAIAAgCUEBdGoqAgAhDiAPIA4gASAKIAlqLwEAQQJ0aioCAJSSIQ8gECAOIAEgCyAJai8BAEECdGoqAgCUkiEQIBEgDiABIAwgCWovAQBB" +
  "AnRqKgIAlJIhESASIA4gASANIAlqLwEAQQJ0aioCAJSSIRIgCUECaiEJIAkgB0kNAAsgBiAPOAIAIAZBBGogEDgCACAGQQhqIBE4AgAgBkEMaiASOAIA" +
  "IAZBEGohBiAEQRBqIQQMAAsLCw==";

interface Dots extends Assembly {
  dots(query: number, table: number, halves: number, dims: number, slots: number, count: number, out: number): void;
}

/** Sums are of 32 bits, one number after the other, as the embedded store makes them: the same cosine to the last bit. */
const float = Math.fround;

export interface Halves {
  /** High byte first; the answer is the square of its length. */
  put(slot: number, bytes: Uint8Array): number;
  floats(slot: number): Float32Array;
  dots(query: Float32Array, slots: Int32Array): Float32Array;
}

const KINDS = 65_536;
/** So many slots are handed over at once. */
const PART = 4_096;

export function openHalves(dims: number): Halves {
  const assembly = instanceOf<Dots>(ASSEMBLED);
  const { memory } = assembly;
  const query = 0;
  const table = query + dims * 4;
  const slots = table + KINDS * 4;
  const out = slots + PART * 4;
  const first = out + PART * 4;
  let room = 0;
  let values = new Float32Array(0);
  let halves = new Uint16Array(0);

  const reserve = (count: number) => {
    if (count <= room) return;
    room = Math.ceil(Math.max(1024, count * 1.25));
    growTo(assembly, first + room * dims * 2);
    values = new Float32Array(memory.buffer, table, KINDS);
    halves = new Uint16Array(memory.buffer, first, room * dims);
  };
  reserve(1);
  for (let bits = 0; bits < KINDS; bits++) values[bits] = halfOf(bits);

  return {
    put(slot, bytes) {
      reserve(slot + 1);
      const [meaning, own] = [values, halves];
      let norm = 0;
      for (let i = 0, at = slot * dims; i < dims; i++, at++) {
        const half = ((bytes[2 * i] as number) << 8) | (bytes[2 * i + 1] as number);
        const value = meaning[half] as number;
        own[at] = half;
        norm = float(norm + float(value * value));
      }
      return norm;
    },
    floats(slot) {
      const [meaning, own] = [values, halves];
      const vector = new Float32Array(dims);
      for (let i = 0, at = slot * dims; i < dims; i++, at++) vector[i] = meaning[own[at] as number] as number;
      return vector;
    },
    dots(vector, among) {
      const answer = new Float32Array(among.length);
      new Float32Array(memory.buffer, query, dims).set(vector);
      for (let at = 0; at < among.length; at += PART) {
        const part = among.subarray(at, at + PART);
        const asked = new Int32Array(memory.buffer, slots, PART);
        asked.set(part);
        // Four at a time: the rest of the last four may be any slot that there is.
        const count = Math.ceil(part.length / 4) * 4;
        asked.fill(0, part.length, count);
        assembly.dots(query, table, first, dims, slots, count, out);
        answer.set(new Float32Array(memory.buffer, out, part.length), at);
      }
      return answer;
    },
  };
}

/** What these bits stand for. */
export function halfOf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
