/** What a function made of a text, for texts that come again and again: the lines of a block are mostly those of the block before. */
const MOST = 4_096;
/** Longer ones are made anew, so that what is kept stays within some megabytes. */
export const REMEMBERED_CHARACTERS = 1_000;

/** Shorter pieces are copied by V8 itself. */
const PIECE = 13;

/**
 * A copy of a text that keeps nothing else in memory: a piece that was cut out of a longer text, be it a word of thirteen letters, keeps the
 * whole of it. For whoever keeps pieces of other people's texts.
 */
export const alone = (piece: string): string => (piece.length < PIECE ? piece : ` ${piece}`.slice(1));

/**
 * `keyOf` gives a copy of a text to keep, where the text itself would keep more in memory. `make` must depend on nothing but the text. When there are too many, those are dropped that were not asked for since there were too many last:
 * keeping an order costs more than it saves.
 */
export function remembered<T extends string | number | boolean>(
  make: (text: string) => T,
  keyOf: (text: string) => string = (text) => text,
): (text: string) => T {
  let known = new Map<string, T>();
  let older = new Map<string, T>();
  return (text) => {
    if (text.length > REMEMBERED_CHARACTERS) return make(text);
    const lately = known.get(text);
    if (lately !== undefined) return lately;
    const own = keyOf(text);
    const made = older.get(text) ?? make(own);
    if (known.size >= MOST) {
      older = known;
      known = new Map();
    }
    known.set(own, made);
    return made;
  };
}
