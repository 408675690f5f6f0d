import type { Db, Settings } from "./port.ts";

/** A store some of whose verbs are replaced, whatever settings it is used with. */
export const wrapDb = <D extends Db>(db: D, replace: (inner: Db) => Partial<Db>): D => ({
  ...db,
  ...replace(db),
  ...(db.reading && { reading: () => wrapDb(db.reading?.() ?? db, replace) }),
  withSettings: (settings: Settings) => wrapDb(db.withSettings(settings), replace),
});
