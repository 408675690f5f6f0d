/** Vectors as they are stored, in numbers of 16 bits (IEEE 754, half precision), and their dot products with a question. */
import { type Assembly, growTo, instanceOf } from "../assembled.ts";

/** dots.wat, assembled: `test/pure/read-model.test.ts` holds them together. */
export const ASSEMBLED =
  "AGFzbQEAAAABCgFgBn9/f39/fwADAgEABQMBABAHEQIGbWVtb3J5AgAEZG90cwAACsoKAccKAgx/DntBgMD//3j9ESEfIAJBAXQhBiADIARBAnRqIQcCQANA" +
  "IAMgB08NASABIAMoAgAgBmxqIQogASADQQRqKAIAIAZsaiELIAEgA0EIaigCACAGbGohDCABIANBDGooAgAgBmxqIQ0gASADQRBqKAIAIAZsaiEOIAEgA0EU" +
  "aigCACAGbGohDyABIANBGGooAgAgBmxqIRAgASADQRxqKAIAIAZsaiERQQD9ESEdQQD9ESEeIAAhCUEAIQgDQCAKIAhq/QAEACESIAsgCGr9AAQAIRMgDCAI" +
  "av0ABAAhFCANIAhq/QAEACEVIA4gCGr9AAQAIRYgDyAIav0ABAAhFyAQIAhq/QAEACEYIBEgCGr9AAQAIRkgEiAT/Q0AARARAgMSEwQFFBUGBxYXIBQgFf0N" +
  "AAEQEQIDEhMEBRQVBgcWF/0NAAECAxAREhMEBQYHFBUWFyEaIBYgF/0NAAEQEQIDEhMEBRQVBgcWFyAYIBn9DQABEBECAxITBAUUFQYHFhf9DQABAgMQERIT" +
  "BAUGBxQVFhchGyAJ/QkCACEcIB0gHCAa/acBQQ39qwEgH/1O/eYB/eQBIR0gHiAcIBv9pwFBDf2rASAf/U795gH95AEhHiAJQQRq/QkCACEcIB0gHCAa/agB" +
  "QQ39qwEgH/1O/eYB/eQBIR0gHiAcIBv9qAFBDf2rASAf/U795gH95AEhHiASIBP9DQABEBECAxITBAUUFQYHFhcgFCAV/Q0AARARAgMSEwQFFBUGBxYX/Q0I" +
  "CQoLGBkaGwwNDg8cHR4fIRogFiAX/Q0AARARAgMSEwQFFBUGBxYXIBggGf0NAAEQEQIDEhMEBRQVBgcWF/0NCAkKCxgZGhsMDQ4PHB0eHyEbIAlBCGr9CQIA" +
  "IRwgHSAcIBr9pwFBDf2rASAf/U795gH95AEhHSAeIBwgG/2nAUEN/asBIB/9Tv3mAf3kASEeIAlBDGr9CQIAIRwgHSAcIBr9qAFBDf2rASAf/U795gH95AEh" +
  "HSAeIBwgG/2oAUEN/asBIB/9Tv3mAf3kASEeIBIgE/0NCAkYGQoLGhsMDRwdDg8eHyAUIBX9DQgJGBkKCxobDA0cHQ4PHh/9DQABAgMQERITBAUGBxQVFhch" +
  "GiAWIBf9DQgJGBkKCxobDA0cHQ4PHh8gGCAZ/Q0ICRgZCgsaGwwNHB0ODx4f/Q0AAQIDEBESEwQFBgcUFRYXIRsgCUEQav0JAgAhHCAdIBwgGv2nAUEN/asB" +
  "IB/9Tv3mAf3kASEdIB4gHCAb/acBQQ39qwEgH/1O/eYB/eQBIR4gCUEUav0JAgAhHCAdIBwgGv2oAUEN/asBIB/9Tv3mAf3kASEdIB4gHCAb/agBQQ39qwEg" +
  "H/1O/eYB/eQBIR4gEiAT/Q0ICRgZCgsaGwwNHB0ODx4fIBQgFf0NCAkYGQoLGhsMDRwdDg8eH/0NCAkKCxgZGhsMDQ4PHB0eHyEaIBYgF/0NCAkYGQoLGhsM" +
  "DRwdDg8eHyAYIBn9DQgJGBkKCxobDA0cHQ4PHh/9DQgJCgsYGRobDA0ODxwdHh8hGyAJQRhq/QkCACEcIB0gHCAa/acBQQ39qwEgH/1O/eYB/eQBIR0gHiAc" +
  "IBv9pwFBDf2rASAf/U795gH95AEhHiAJQRxq/QkCACEcIB0gHCAa/agBQQ39qwEgH/1O/eYB/eQBIR0gHiAcIBv9qAFBDf2rASAf/U795gH95AEhHiAJQSBq" +
  "IQkgCEEQaiEIIAggBkkNAAsgBSAd/QsEACAFQRBqIB79CwQAIAVBIGohBSADQSBqIQMMAAsLCw==";

/** lanes.wat, assembled. */
export const ASSEMBLED_LANES =
  "AGFzbQEAAAABCgFgBn9/f39/fwADAgEABQMBABAHEQIGbWVtb3J5AgAEZG90cwAACvYBAfMBAgV/BHtBgMD//3j9ESEOIAJBAXQhBiADIARBAnRqIQcCQANAIA" +
  "MgB08NASABIAMoAgAgBmxqIQpBAP0RIQxBAP0RIQ0gACEJQQAhCANAIAogCGr9AAQAIQsgDCAJ/QAEACAL/acBQQ39qwEgDv1O/eYB/eQBIQwgDSAJQRBq/QAE" +
  "ACAL/agBQQ39qwEgDv1O/eYB/eQBIQ0gCUEgaiEJIAhBEGohCCAIIAZJDQALIAUgDCAN/eQB/QsEACAFIAUqAgAgBUEIaioCAJIgBUEEaioCACAFQQxqKgIAkp" +
  "I4AgAgBUEEaiEFIANBBGohAwwACwsL";

/**
 * How a sum of products is made, which its last bits depend on: one number after the other, as the embedded store does it; or eight sums side
 * by side, of which the halves are added until there is one, as a server does it on processors with instructions for halves. A server compares a
 * question that is made of halves too.
 */
export type Sums = "in order" | "by lanes";

interface Dots extends Assembly {
  dots(query: number, halves: number, dims: number, slots: number, count: number, out: number): void;
}

/** Sums are of 32 bits, as the store makes them: the same cosine to the last bit. */
const float = Math.fround;

export interface Halves {
  /** High byte first; the answer is the square of its length. */
  put(slot: number, bytes: Uint8Array): number;
  /** `into`: an array to write them to. */
  floats(slot: number, into?: Float32Array): Float32Array;
  dots(query: Float32Array, slots: Int32Array): Float32Array;
}

/** What each of the 65,536 halves stands for. */
const VALUES = Float32Array.from({ length: 65_536 }, (_, bits) => halfOf(bits));
/** So many slots are handed over at once. */
const PART = 4_096;
/** Numbers that are compared at a time, and vectors: a vector is filled up with zeros to a multiple of it, which adds nothing to any sum. */
const STEP = 8;
/** What a half lacks when its bits are read as those of a float: the question, whose numbers are far from the largest float, makes up for it. */
const SCALE = 2 ** 112;

export function openHalves(dims: number, sums: Sums = "in order"): Halves {
  const assembly = instanceOf<Dots>(sums === "in order" ? ASSEMBLED : ASSEMBLED_LANES);
  const { memory } = assembly;
  const width = Math.ceil(dims / STEP) * STEP;
  const query = 0;
  const slots = query + width * 4;
  const out = slots + PART * 4;
  const first = out + PART * 4 + STEP * 4;
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
      for (let i = 0, at = slot * width; i < dims; i++, at++)
        own[at] = ((bytes[2 * i] as number) << 8) | (bytes[2 * i + 1] as number);
      return normOf(sums, dims, (i) => VALUES[own[slot * width + i] as number] as number);
    },
    floats(slot, vector = new Float32Array(dims)) {
      const own = halves;
      for (let i = 0, at = slot * width; i < dims; i++, at++) vector[i] = VALUES[own[at] as number] as number;
      return vector;
    },
    dots(vector, among) {
      const answer = new Float32Array(among.length);
      const scaled = new Float32Array(memory.buffer, query, dims);
      for (let i = 0; i < dims; i++) scaled[i] = (vector[i] as number) * SCALE;
      for (let at = 0; at < among.length; at += PART) {
        const part = among.subarray(at, at + PART);
        const asked = new Int32Array(memory.buffer, slots, PART);
        asked.set(part);
        // Eight at a time: the rest of the last eight may be any slot that there is.
        const count = Math.ceil(part.length / STEP) * STEP;
        asked.fill(0, part.length, count);
        assembly.dots(query, first, width, slots, count, out);
        answer.set(new Float32Array(memory.buffer, out, part.length), at);
      }
      return answer;
    },
  };
}

/** The square of a vector's length. */
export function normOf(sums: Sums, dims: number, value: (i: number) => number): number {
  const lanes = sums === "in order" ? 1 : STEP;
  const parts = new Float32Array(lanes);
  for (let i = 0; i < dims; i++) {
    const lane = i % lanes;
    parts[lane] = (parts[lane] as number) + float(value(i) * value(i));
  }
  for (let left = lanes / 2; left >= 1; left /= 2)
    for (let lane = 0; lane < left; lane++) parts[lane] = (parts[lane] as number) + (parts[lane + left] as number);
  return parts[0] as number;
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

/** In the form in which they are stored: the nearest half of each number, of two equally near ones the even one, the higher byte first. */
export function halvesOf(vector: Float32Array): Uint8Array {
  const bytes = new Uint8Array(vector.length * 2);
  const floats = new Uint32Array(vector.buffer, vector.byteOffset, vector.length);
  for (let i = 0; i < vector.length; i++) {
    const bits = bitsOf(vector[i] as number, floats[i] as number);
    bytes[2 * i] = bits >> 8;
    bytes[2 * i + 1] = bits & 255;
  }
  return bytes;
}

/** Bits of floats: the least number that has no half near it, which is taken for infinity, that of infinity itself, and the least normal half. */
const TOO_LARGE = 0x477f_f000;
const INFINITE = 0x7f80_0000;
const LEAST_NORMAL = 0x3880_0000;
/** The exponent of a float is counted from 127, that of a half from 15. */
const EXPONENTS = (127 - 15) << 23;
/** Bits of a float's fraction that a half has no room for. */
const LOST = 13;

function bitsOf(value: number, float: number): number {
  const sign = (float >>> 16) & 0x8000;
  const size = float & 0x7fff_ffff;
  if (size > INFINITE) return 0x7e00;
  if (size >= TOO_LARGE) return sign | 0x7c00;
  if (size < LEAST_NORMAL) return sign | toEven(Math.abs(value) * 2 ** 24);
  // A fraction that is rounded up to the next power of two carries over into the exponent by itself.
  return sign | ((size - EXPONENTS + ((1 << (LOST - 1)) - 1) + ((size >>> LOST) & 1)) >>> LOST);
}

function toEven(x: number): number {
  const down = Math.floor(x);
  const over = x - down;
  return over > 0.5 || (over === 0.5 && down % 2 === 1) ? down + 1 : down;
}

/** What is left of a vector that is stored so. */
export function roundedToHalves(vector: Float32Array): Float32Array {
  const floats = new Uint32Array(vector.buffer, vector.byteOffset, vector.length);
  const rounded = new Float32Array(vector.length);
  for (let i = 0; i < vector.length; i++)
    rounded[i] = VALUES[bitsOf(vector[i] as number, floats[i] as number)] as number;
  return rounded;
}
