/** A store that another one is being moved into has this table until all of it is there; nothing else opens it meanwhile. */
import { unavailable } from "../../domain/errors.ts";

export const MOVE_TABLE = "butler_move";

export const unfinishedMove = () =>
  unavailable(
    `this store is the unfinished copy of another one: run the same "butler migrate --to …" again, which goes on where it stopped, or use the store that was to be moved.`,
  );
