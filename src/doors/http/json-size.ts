/**
 * The size of a JSON body does not say what parsing it costs: eight million brackets, or a few hundred thousand names, block
 * the event loop for up to a second. A body is scanned for its depth and its number of values before it is parsed, which takes milliseconds.
 */
const DEEPEST = 100;
const MOST_VALUES = 20_000;
/** A smaller body cannot hold enough values to matter. */
export const SMALL_BYTES = 65_536;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** What is wrong with the body, as the end of a sentence that begins with "The body"; undefined when it may be parsed. */
export function tooMuchJson(bytes: Uint8Array): string | undefined {
  if (bytes.length <= SMALL_BYTES) return undefined;
  let depth = 0;
  let values = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at + 1);
    else if (byte === 0x5b || byte === 0x7b) depth++;
    else if (byte === 0x5d || byte === 0x7d) depth--;
    else if (byte === 0x2c) values++;
    if (depth > DEEPEST) return `is nested more than ${DEEPEST} deep`;
    if (values > MOST_VALUES) return `holds more than ${MOST_VALUES} values; send fewer at a time`;
  }
  return undefined;
}

function endOfString(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}
