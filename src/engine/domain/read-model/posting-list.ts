/**
 * The slots that have a word, each with how often: slot · 256 + tf, in no order. Most words are rare, and a plain array of a few numbers is
 * small; a frequent one is an array of 32-bit numbers with room at its end, which takes half of the memory and is read twice as quickly.
 */
export interface PostingList {
  few: number[] | undefined;
  many: Int32Array;
  size: number;
}

/** What is kept of a word: most words stand in one memory, and their one entry takes no list. */
export type Postings = number | PostingList;

const FEW = 24;
const NONE = new Int32Array(0);

const listOf = (few: number[]): PostingList => ({ few, many: NONE, size: few.length });

/** The entries as a list, which is not what is kept where there is but one. */
export const asList = (kept: Postings): PostingList => (typeof kept === "number" ? listOf([kept]) : kept);

/** What is to be kept with another entry. */
export function withEntry(kept: Postings | undefined, entry: number): Postings {
  if (kept === undefined) return entry;
  if (typeof kept === "number") return listOf([kept, entry]);
  addTo(kept, entry);
  return kept;
}

function addTo(list: PostingList, entry: number): void {
  if (list.few !== undefined) {
    // As long as it is and no longer: `push` makes room for sixteen more.
    list.few = list.few.concat(entry);
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

/** How many are left. Of several the last takes its place; where but one is kept, and is this one, none is left. */
export function takeFrom(kept: Postings, entry: number): number {
  if (typeof kept === "number") return kept === entry ? 0 : 1;
  const entries = kept.few ?? kept.many;
  const at = entries.indexOf(entry);
  if (at === -1 || at >= kept.size) return kept.size;
  kept.size -= 1;
  entries[at] = entries[kept.size] as number;
  kept.few?.pop();
  return kept.size;
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
