import type { ApiHealth } from "../../../src/doors/http/api/types.ts";

/** Its store did not answer in time because it is being opened, which takes a new one seconds: that is no trouble. */
export const isOpening = ({ ok, store, conditions }: Pick<ApiHealth, "ok" | "store" | "conditions">): boolean =>
  !ok && store === "closed" && !conditions.some(({ state }) => state === "not_ok");
