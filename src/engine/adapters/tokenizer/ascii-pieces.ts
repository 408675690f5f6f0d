/**
 * Where pieces of plain ASCII end, as the pattern of o200k_base splits it: that pattern, with its classes of all letters there are, took two
 * thirds of counting a block. The test of the tokenizer holds both together.
 */

const OTHER = 0;
const UPPER = 1;
const LOWER = 2;
const DIGIT = 3;
const BLANK = 4;
const NEWLINE = 5;
const NONE = 6;

/** What a text must be followed by: no character, so that no place need be compared with the end. */
export const END = 255;

const KINDS = Uint8Array.from({ length: 256 }, (_, code) => {
  const char = String.fromCharCode(code);
  if (code > 127) return NONE;
  if (/[A-Z]/.test(char)) return UPPER;
  if (/[a-z]/.test(char)) return LOWER;
  if (/[0-9]/.test(char)) return DIGIT;
  if (/[\r\n]/.test(char)) return NEWLINE;
  return /\s/.test(char) ? BLANK : OTHER;
});

const SLASH = 47;
const APOSTROPHE = 39;
const SPACE = 32;
const MOST_DIGITS = 3;

const kindAt = (bytes: Uint8Array, at: number): number => KINDS[bytes[at] as number] as number;
const isLetter = (kind: number): boolean => kind === UPPER || kind === LOWER;

/** The end of the piece that begins at `from`, which is not the end. */
export function pieceEnd(bytes: Uint8Array, from: number): number {
  const kind = kindAt(bytes, from);
  if (isLetter(kind)) return wordEnd(bytes, from);
  const next = kindAt(bytes, from + 1);
  if (kind === DIGIT) {
    let end = from + 1;
    while (end < from + MOST_DIGITS && kindAt(bytes, end) === DIGIT) end++;
    return end;
  }
  if (kind !== NEWLINE && isLetter(next)) return wordEnd(bytes, from + 1);
  if (kind === OTHER || (bytes[from] === SPACE && next === OTHER)) {
    let end = from + 1;
    while (kindAt(bytes, end) === OTHER) end++;
    while (kindAt(bytes, end) === NEWLINE || bytes[end] === SLASH) end++;
    return end;
  }
  return blankEnd(bytes, from);
}

/** Through the last line break; else all but the last blank before a word, which belongs to the word. */
function blankEnd(bytes: Uint8Array, from: number): number {
  let end = from;
  let line = -1;
  for (let kind = kindAt(bytes, end); kind === BLANK || kind === NEWLINE; kind = kindAt(bytes, ++end))
    if (kind === NEWLINE) line = end + 1;
  if (line !== -1) return line;
  return bytes[end] === END || end === from + 1 ? end : end - 1;
}

function wordEnd(bytes: Uint8Array, from: number): number {
  let end = from;
  while (kindAt(bytes, end) === UPPER) end++;
  while (kindAt(bytes, end) === LOWER) end++;
  return bytes[end] === APOSTROPHE ? end + shortened(bytes, end + 1) : end;
}

/** How long a shortened word behind an apostrophe is, the apostrophe included: 's, 'd, 'm, 't, 'll, 've, 're. */
function shortened(bytes: Uint8Array, at: number): number {
  if (!isLetter(kindAt(bytes, at))) return 0;
  const first = String.fromCharCode((bytes[at] as number) | 32);
  if ("sdmt".includes(first)) return 2;
  if (!isLetter(kindAt(bytes, at + 1))) return 0;
  const both = first + String.fromCharCode((bytes[at + 1] as number) | 32);
  return both === "ll" || both === "ve" || both === "re" ? 3 : 0;
}
