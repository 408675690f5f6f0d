/** The result of one check of `butler doctor`. */
export interface Finding {
  readonly check: string;
  readonly state: "ok" | "warn" | "fail";
  readonly found: string;
  /** What a person can do about it; absent when there is nothing to do. */
  readonly remedy?: string;
}

export const ok = (check: string, found: string): Finding => ({ check, state: "ok", found });
export const warn = (check: string, found: string, remedy: string): Finding => ({
  check,
  state: "warn",
  found,
  remedy,
});
export const fail = (check: string, found: string, remedy: string): Finding => ({
  check,
  state: "fail",
  found,
  remedy,
});
