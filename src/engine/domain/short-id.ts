/**
 * Short names of memories, for models: eight characters instead of 36, which cost a model 5 tokens instead of 23. They are made
 * of the bits of a UUIDv7 in which two memories of one process differ: the counter of its millisecond (12 bits) and the
 * milliseconds in a window of three days (28 bits). The windows before are looked at too, each by a range of the primary key.
 */

/** Crockford's digits: no i, l, o or u. */
const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";
const LENGTH = 8;
const SIZE = 2n ** 40n;
/** Multiplication by an odd number is a permutation: memories of one moment get names that are not alike, and a slip hits none. */
const SPREAD = 0xb97f4a7c15n;
const GATHER = inverse(SPREAD);

const COUNTER_BITS = 12n;
const WINDOW_MS = 2 ** 28;

export function shortId(id: string): string {
  const bits = BigInt(`0x${id.slice(5, 8)}${id.slice(9, 13)}${id.slice(15, 18)}`);
  let rest = (bits * SPREAD) % SIZE;
  let digits = "";
  for (let at = 0; at < LENGTH; at++) {
    digits = `${DIGITS[Number(rest % 32n)]}${digits}`;
    rest /= 32n;
  }
  return digits;
}

/** As it is compared: lower case, and the letters that are no digits read as those they look like. */
export function plainShortId(given: string): string | undefined {
  const plain = given.trim().toLowerCase().replaceAll("o", "0").replace(/[il]/g, "1");
  return plain.length === LENGTH && [...plain].every((digit) => DIGITS.includes(digit)) ? plain : undefined;
}

export interface IdRange {
  readonly from: string;
  readonly to: string;
}

const LAST_MS = Date.UTC(2100, 0, 1);

/** Where the ids with this short name lie, between the oldest and the newest id that there is. */
export function rangesOf(short: string, oldest: string, newest: string): IdRange[] {
  const value = [...short].reduce((sum, digit) => sum * 32n + BigInt(DIGITS.indexOf(digit)), 0n);
  const bits = (value * GATHER) % SIZE;
  const counter = (bits % 2n ** COUNTER_BITS).toString(16).padStart(3, "0");
  const offset = Number(bits >> COUNTER_BITS);
  const ranges: IdRange[] = [];
  const last = Math.min(msOf(newest), LAST_MS);
  for (let ms = msOf(oldest) - (msOf(oldest) % WINDOW_MS) + offset; ms <= last; ms += WINDOW_MS) {
    const hex = ms.toString(16).padStart(12, "0");
    const head = `${hex.slice(0, 8)}-${hex.slice(8)}-7${counter}`;
    ranges.push({ from: `${head}-0000-000000000000`, to: `${head}-ffff-ffffffffffff` });
  }
  return ranges;
}

const msOf = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

/** Of an odd number, modulo 2^40: every step doubles the bits that are right. */
function inverse(odd: bigint): bigint {
  let found = odd;
  for (let step = 0; step < 6; step++) found = (found * (2n - odd * found)) & (SIZE - 1n);
  return found & (SIZE - 1n);
}
