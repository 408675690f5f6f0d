/** What a person marks as `<private>…</private>` is not kept. */
const TAG = /<\s*(\/?)\s*private\b[^<>]{0,100}>/gi;
/** One letter cannot be looked for without harm. */
const SHORTEST = 2;
/** Of a long private text the longest lines: each is looked for by itself. */
const MOST_PIECES = 300;

export interface Public {
  readonly text: string;
  /** What stood inside, outermost only. */
  readonly hidden: readonly string[];
}

/** Nested ones end with the outermost; one that is not closed goes on to the end of the text. */
export function withoutPrivate(text: string): Public {
  const kept: string[] = [];
  const hidden: string[] = [];
  let depth = 0;
  let from = 0;
  for (const tag of text.matchAll(TAG)) {
    const closing = tag[1] === "/";
    const end = tag.index + tag[0].length;
    if (depth === 0) {
      kept.push(text.slice(from, tag.index));
      from = end;
      if (!closing) depth = 1;
      continue;
    }
    depth += closing ? -1 : 1;
    if (depth > 0) continue;
    hidden.push(text.slice(from, tag.index));
    from = end;
  }
  if (depth > 0) hidden.push(text.slice(from));
  else kept.push(text.slice(from));
  return { text: kept.join(" ").trim(), hidden: hidden.map((one) => one.trim()).filter((one) => one !== "") };
}

/** Takes hidden words out wherever they are repeated word for word, as a whole or line by line, however they are spaced. */
export function hider(hidden: readonly string[]): (text: string) => string {
  const pieces = hidden
    .flatMap((one) => [one, ...one.split(/[\r\n]+/)])
    .map((piece) => piece.trim())
    .filter((piece) => piece.length >= SHORTEST);
  const patterns = [...new Set(pieces)]
    .toSorted((a, b) => b.length - a.length)
    .slice(0, MOST_PIECES)
    .map((piece) => new RegExp(wholeWords(piece), "giu"));
  return (text) => patterns.reduce((said, pattern) => said.replace(pattern, "[private]"), text);
}

const WORD = /[\p{L}\p{N}]/u;

function wholeWords(piece: string): string {
  const words = piece.split(/\s+/).map((word) => word.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"));
  const before = WORD.test([...piece][0] ?? "") ? "(?<![\\p{L}\\p{N}])" : "";
  const after = WORD.test([...piece].at(-1) ?? "") ? "(?![\\p{L}\\p{N}])" : "";
  return `${before}${words.join("\\s+")}${after}`;
}
