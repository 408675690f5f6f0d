import type { ApiHealth } from "../../../src/doors/http/api/types.ts";

/** A butler that did not answer in time because its store is being opened, which takes seconds where the store is new: that is no trouble. */
export const isOpening = ({ ok, store, conditions }: Pick<ApiHealth, "ok" | "store" | "conditions">): boolean =>
  !ok && store === "closed" && !conditions.some(({ state }) => state === "not_ok");
