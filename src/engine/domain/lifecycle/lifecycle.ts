/**
 * States of a memory, and the only ways between them.
 *
 *   facts                                          rules and episodes
 *   active ⇄ fading → expired                      the same, without superseded
 *     │  └──────┬───────┘  │ restore → active
 *     │         └→ superseded (final)
 *     └→ retracted ── restore → active
 *
 * `confirm` takes fading back to active. `restore` takes retracted or expired back, if no live fact holds the key.
 */
import { integrity } from "../errors.ts";

export const VALIDITY = ["active", "fading", "superseded", "expired", "retracted"] as const;
export type Validity = (typeof VALIDITY)[number];

/** `forgotten` is an older name, which streams and callers may still use; it is always shown as `retracted`. */
export const canonicalState = <S>(state: S): S | "retracted" => (state === "forgotten" ? "retracted" : state);

export type Transition = "confirm" | "fade" | "expire" | "supersede" | "retract" | "restore";

const NEXT: Readonly<Record<Validity, Partial<Record<Transition, Validity>>>> = {
  active: { confirm: "active", fade: "fading", expire: "expired", supersede: "superseded", retract: "retracted" },
  fading: { confirm: "active", expire: "expired", supersede: "superseded", retract: "retracted" },
  expired: { restore: "active", retract: "retracted" },
  retracted: { restore: "active" },
  superseded: { retract: "retracted" },
};

export const isLive = (state: Validity): boolean => state === "active" || state === "fading";

export function mayHappen(state: Validity, transition: Transition): boolean {
  return NEXT[state][transition] !== undefined;
}

export function next(state: Validity, transition: Transition): Validity {
  const to = NEXT[state][transition];
  if (to === undefined) throw integrity(`a memory that is ${state} cannot ${transition}.`);
  return to;
}
