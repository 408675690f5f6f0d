/** Where a long text can be cut so that no secret, nor its name, stands half on either side. */
export const SLICE = 32_768;
/** How far before its limit a slice may end, to end at a better point. */
const SEARCHED = 8_192;
/** A 16384 bit RSA key has 13 kB. */
const LONGEST_KEY = 32_768;

export function* slicesOf(text: string): Generator<string> {
  let at = 0;
  while (text.length - at > SLICE) {
    const end = cutAfter(text, at);
    yield text.slice(at, end);
    at = end;
  }
  yield text.slice(at);
}

/** An empty line, else the end of a line that does not announce the next one, else a blank, else a comma, else anywhere. */
const ENDS: readonly RegExp[] = [/^[\s\S]*\n\s*\n/u, /^[\s\S]*[^:=|,\s\\][ \t]*\n/u, /^[\s\S]*\s/u, /^[\s\S]*[,;}>]/u];

function cutAfter(text: string, from: number): number {
  const limit = from + SLICE;
  const window = text.slice(limit - SEARCHED, limit);
  const length = ENDS.map((end) => end.exec(window)?.[0].length).find((found) => found !== undefined) ?? SEARCHED;
  return outsideKey(text, from, limit - SEARCHED + length);
}

/** An armoured key stays in one piece: the cut goes before its first line, or behind its last. */
function outsideKey(text: string, from: number, cut: number): number {
  const begins = text.lastIndexOf("-----BEGIN ", cut);
  if (begins < from || cut - begins > LONGEST_KEY) return cut;
  const ends = text.indexOf("-----END ", begins);
  const closed = ends < 0 || ends > begins + LONGEST_KEY ? -1 : text.indexOf("\n", ends);
  if (closed >= 0 && closed < cut) return cut;
  if (begins > from) return begins;
  return closed < 0 ? cut : closed + 1;
}
