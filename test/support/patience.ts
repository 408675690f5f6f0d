/** For `vi.waitFor` and `expect.poll`, whose own limit is a second: only what never comes takes this long. */
export const PATIENCE = { timeout: 15 * 60_000 };
