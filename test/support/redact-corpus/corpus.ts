/**
 * Secrets and innocents, all made up. What is random is written as `{hex:32}` and put in at run time from the text's own
 * seed, so that every run has the same corpus and no secret scanner stops at these files. `«…»` marks what must go.
 */
import { redact } from "../../../src/engine/domain/redaction/redact.ts";

const ALPHABETS: Readonly<Record<string, string>> = {
  hex: "0123456789abcdef",
  HEX: "0123456789ABCDEF",
  an: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
  lo: "abcdefghijklmnopqrstuvwxyz0123456789",
  up: "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
  b64: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
  b64u: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
  b32: "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
  bech: "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
  d: "0123456789",
};

/** FNV-1a: the same text has the same seed everywhere. */
function seedOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const char of text) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193);
  return hash >>> 0;
}

function mulberry(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** `{uuid}`, `{BEGIN:RSA}` and `{END:RSA}` beside the alphabets. */
function expand(text: string): string {
  const random = mulberry(seedOf(text));
  const draw = (alphabet: string, length: number) =>
    Array.from({ length }, () => alphabet.charAt(Math.floor(random() * alphabet.length))).join("");
  return text
    .replace(/\{(BEGIN|END):([A-Z ]*)\}/g, (_, edge, type) => `-----${edge} ${`${type} PRIVATE`.trim()} KEY-----`)
    .replaceAll("{uuid}", () => "{hex:8}-{hex:4}-4{hex:3}-a{hex:3}-{hex:12}")
    .replace(/\{([A-Za-z0-9]+):(\d+)\}/g, (whole, name: string, length: string) => {
      const alphabet = ALPHABETS[name];
      return alphabet === undefined ? whole : draw(alphabet, Number(length));
    });
}

export interface Planted {
  readonly text: string;
  readonly secrets: readonly string[];
}

export function planted(entry: string): Planted {
  const full = expand(entry);
  return {
    text: full.replace(/[«»]/g, ""),
    secrets: [...full.matchAll(/«([^»]*)»/g)].map(([, secret = ""]) => secret),
  };
}

/** Left behind: the secret, or a half of one that is long enough for its half to be of use. */
const leaks = (out: string, secret: string) =>
  out.includes(secret) ||
  (secret.length >= 12 &&
    (out.includes(secret.slice(0, secret.length / 2)) || out.includes(secret.slice(secret.length / 2))));

export const missed = ({ text, secrets }: Planted): boolean => {
  const out = redact(text).text;
  return secrets.some((secret) => leaks(out, secret));
};

export const taken = (entry: string): boolean => {
  const text = expand(entry);
  return redact(text).text !== text;
};

/** Every third entry was set aside before the first pattern was written for the others. */
export const split = <T>(entries: readonly T[]): { readonly tuned: readonly T[]; readonly aside: readonly T[] } => ({
  tuned: entries.filter((_, index) => index % 3 !== 2),
  aside: entries.filter((_, index) => index % 3 === 2),
});
