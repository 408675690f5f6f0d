/** Prefix of the idempotency keys that a proxy makes for its own retries; they are dropped sooner than keys that callers chose. */
export const CALL_KEY_PREFIX = "call:";
