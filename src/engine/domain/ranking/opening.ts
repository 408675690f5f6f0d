/** How much a session is told before its first prompt. */

/** The budget of an opening where the caller names none. It is paid by every session, also by those that need none of it. */
export const OPENING_TOKENS = 600;

/** Shares of the budget by section, in their order; what a section leaves unused goes to the next one. */
export const OPENING_QUOTAS = { profile: 0.3, rules: 0.25, facts: 0.2, episodes: 0.25 } as const;
