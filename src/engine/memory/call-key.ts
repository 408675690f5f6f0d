/** Keys that proxies make for a call to be repeated under begin so; they are dropped sooner than those that callers chose. */
export const CALL_KEY_PREFIX = "call:";
