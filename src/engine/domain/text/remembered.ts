/** What a function made of a text, for texts that come again and again: the lines of a block are mostly those of the block before. */
const MOST = 4_096;
/** Longer ones are made anew, so that what is kept stays within some megabytes. */
export const REMEMBERED_CHARACTERS = 1_000;

/**
 * A copy of a text that keeps nothing else in memory: a piece that was cut out of a longer text, be it a word of thirteen letters, keeps the
 * whole of it, and what is made of the piece may be a piece again. Whatever keeps pieces of other people's texts keeps copies of them.
 */
export const alone = (piece: string): string => ` ${piece}`.slice(1);

/**
 * `make` must depend on nothing but the text. When there are too many, those are dropped that were not asked for since there were too many last:
 * keeping an order costs more than it saves.
 */
export function remembered<T extends string | number | boolean>(make: (text: string) => T): (text: string) => T {
  let known = new Map<string, T>();
  let older = new Map<string, T>();
  return (text) => {
    if (text.length > REMEMBERED_CHARACTERS) return make(text);
    const lately = known.get(text);
    if (lately !== undefined) return lately;
    const own = alone(text);
    const made = older.get(text) ?? make(own);
    if (known.size >= MOST) {
      older = known;
      known = new Map();
    }
    known.set(own, made);
    return made;
  };
}
