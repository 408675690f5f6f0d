/**
 * The slots that have a word, each with how often: slot · 256 + tf, in no order. Most words are rare, and a plain array of a few numbers is
 * small; a frequent one is an array of 32-bit numbers with room at its end, which takes half of the memory and is read twice as quickly.
 */
export interface PostingList {
  few: number[] | undefined;
  many: Int32Array;
  size: number;
}

const FEW = 24;
const NONE = new Int32Array(0);

export const listOf = (entry: number): PostingList => ({ few: [entry], many: NONE, size: 1 });

export function addTo(list: PostingList, entry: number): void {
  if (list.few !== undefined) {
    list.few.push(entry);
    list.size += 1;
    if (list.size <= FEW) return;
    list.many = new Int32Array(2 * FEW);
    list.many.set(list.few);
    list.few = undefined;
    return;
  }
  if (list.size === list.many.length) {
    const grown = new Int32Array(Math.ceil(list.size * 1.5));
    grown.set(list.many);
    list.many = grown;
  }
  list.many[list.size++] = entry;
}

/** The last one takes its place. */
export function takeFrom(list: PostingList, entry: number): void {
  const entries = list.few ?? list.many;
  const at = entries.indexOf(entry);
  if (at === -1 || at >= list.size) return;
  list.size -= 1;
  entries[at] = entries[list.size] as number;
  list.few?.pop();
}

/** Of one sort, whatever the list is: a loop over two sorts of arrays is slower than copying the few. */
export function entriesOf({ few, many, size }: PostingList): Int32Array {
  return few === undefined ? many.subarray(0, size) : Int32Array.from(few);
}

const copied = new Int32Array(FEW);

/** The same with whatever stands behind the last, to be read before another list is asked for: a search makes no array for each of its words. */
export function entriesWithin({ few, many }: PostingList): Int32Array {
  if (few === undefined) return many;
  for (let i = 0; i < few.length; i++) copied[i] = few[i] as number;
  return copied;
}
