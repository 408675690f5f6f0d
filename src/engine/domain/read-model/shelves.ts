/** On which shelf each slot is filed: numbers outside of the heap, where a list of JavaScript's own took four times as much. */
import { withRoom } from "../collections/with-room.ts";

export interface Shelves {
  of(slot: number): number | undefined;
  put(slot: number, sk: number): void;
  drop(slot: number): void;
}

export function openShelves(): Shelves {
  /** One more than the number of the shelf; 0 where the slot is on none. */
  let filed = new Int32Array(1_024);
  return {
    of(slot) {
      const known = filed[slot] ?? 0;
      return known === 0 ? undefined : known - 1;
    },
    put(slot, sk) {
      if (slot >= filed.length) filed = withRoom(new Int32Array(Math.ceil(slot * 1.25)), filed);
      filed[slot] = sk + 1;
    },
    drop(slot) {
      if (slot < filed.length) filed[slot] = 0;
    },
  };
}
