/** Vectors as they are stored, in numbers of 16 bits (IEEE 754, half precision), and their dot products with a question. */
import { type Assembly, growTo, instanceOf } from "../assembled.ts";

/** dots.wat, assembled: `test/pure/read-model.test.ts` holds them together. */
export const ASSEMBLED =
  "AGFzbQEAAAABCgFgBn9/f39/fwADAgEABQMBABAHEQIGbWVtb3J5AgAEZG90cwAACs8FAcwFAgh/CntBgICAvAf9ESEWQYDA//94/REhFyACQQF0IQYgAyAE" +
  "QQJ0aiEHAkADQCADIAdPDQEgASADKAIAIAZsaiEKIAEgA0EEaigCACAGbGohCyABIANBCGooAgAgBmxqIQwgASADQQxqKAIAIAZsaiENQQD9ESEVIAAhCUEA" +
  "IQgDQCAKIAhq/QAEACEOIAsgCGr9AAQAIQ8gDCAIav0ABAAhECANIAhq/QAEACERIA4gD/0NAAEQEQIDEhMEBRQVBgcWFyESIBAgEf0NAAEQEQIDEhMEBRQV" +
  "BgcWFyETIBIgE/0NAAECAxAREhMEBQYHFBUWFyEUIBUgCf0JAgAgFP2nAUEN/asBIBf9TiAW/eYB/eYB/eQBIRUgFSAJQQRq/QkCACAU/agBQQ39qwEgF/1O" +
  "IBb95gH95gH95AEhFSASIBP9DQgJCgsYGRobDA0ODxwdHh8hFCAVIAlBCGr9CQIAIBT9pwFBDf2rASAX/U4gFv3mAf3mAf3kASEVIBUgCUEMav0JAgAgFP2o" +
  "AUEN/asBIBf9TiAW/eYB/eYB/eQBIRUgDiAP/Q0ICRgZCgsaGwwNHB0ODx4fIRIgECAR/Q0ICRgZCgsaGwwNHB0ODx4fIRMgEiAT/Q0AAQIDEBESEwQFBgcU" +
  "FRYXIRQgFSAJQRBq/QkCACAU/acBQQ39qwEgF/1OIBb95gH95gH95AEhFSAVIAlBFGr9CQIAIBT9qAFBDf2rASAX/U4gFv3mAf3mAf3kASEVIBIgE/0NCAkK" +
  "CxgZGhsMDQ4PHB0eHyEUIBUgCUEYav0JAgAgFP2nAUEN/asBIBf9TiAW/eYB/eYB/eQBIRUgFSAJQRxq/QkCACAU/agBQQ39qwEgF/1OIBb95gH95gH95AEh" +
  "FSAJQSBqIQkgCEEQaiEIIAggBkkNAAsgBSAV/QsEACAFQRBqIQUgA0EQaiEDDAALCws=";

interface Dots extends Assembly {
  dots(query: number, halves: number, dims: number, slots: number, count: number, out: number): void;
}

/** Sums are of 32 bits, one number after the other, as the embedded store makes them: the same cosine to the last bit. */
const float = Math.fround;

export interface Halves {
  /** High byte first; the answer is the square of its length. */
  put(slot: number, bytes: Uint8Array): number;
  floats(slot: number): Float32Array;
  dots(query: Float32Array, slots: Int32Array): Float32Array;
}

/** What each of the 65,536 halves stands for. */
const VALUES = Float32Array.from({ length: 65_536 }, (_, bits) => halfOf(bits));
/** So many slots are handed over at once. */
const PART = 4_096;
/** Numbers that are compared at a time: a vector is filled up with zeros to a multiple of it, which adds nothing to any sum. */
const STEP = 8;

export function openHalves(dims: number): Halves {
  const assembly = instanceOf<Dots>(ASSEMBLED);
  const { memory } = assembly;
  const width = Math.ceil(dims / STEP) * STEP;
  const query = 0;
  const slots = query + width * 4;
  const out = slots + PART * 4;
  const first = out + PART * 4;
  let room = 0;
  let halves = new Uint16Array(0);

  const reserve = (count: number) => {
    if (count <= room) return;
    room = Math.ceil(Math.max(1024, count * 1.25));
    growTo(assembly, first + room * width * 2);
    halves = new Uint16Array(memory.buffer, first, room * width);
  };
  reserve(1);

  return {
    put(slot, bytes) {
      reserve(slot + 1);
      const own = halves;
      let norm = 0;
      for (let i = 0, at = slot * width; i < dims; i++, at++) {
        const half = ((bytes[2 * i] as number) << 8) | (bytes[2 * i + 1] as number);
        const value = VALUES[half] as number;
        own[at] = half;
        norm = float(norm + float(value * value));
      }
      return norm;
    },
    floats(slot) {
      const own = halves;
      const vector = new Float32Array(dims);
      for (let i = 0, at = slot * width; i < dims; i++, at++) vector[i] = VALUES[own[at] as number] as number;
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
        assembly.dots(query, first, width, slots, count, out);
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
