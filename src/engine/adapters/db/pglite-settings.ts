/**
 * The settings of whoever uses the connection. There is one connection and nobody else's, so they stay until somebody with others
 * comes: a store of one tenant sets them once. They are set before a transaction begins, and outlive its rollback.
 */
import type { Statements } from "./pglite-statements.ts";
import type { Settings } from "./port.ts";

export interface PgliteSettings {
  /** To be called outside of a transaction. */
  use(settings: Settings): Promise<void>;
  /** The role whose rights count; empty for the one that the store was opened with. */
  role(): string;
}

const ROLE = "role";
/** The setting `role` has this value when there is none. */
const NO_ROLE = "none";
const SET = "select set_config(name, value, false) from unnest($1::text[], $2::text[]) as s (name, value)";

export function openPgliteSettings(statements: Statements): PgliteSettings {
  /** Undefined after a failure: some may have been set. */
  let now: Settings | undefined = {};
  const ever = new Set<string>([ROLE]);
  return {
    async use(wanted) {
      if (now !== undefined && isSame(now, wanted)) return;
      for (const name of Object.keys(wanted)) ever.add(name);
      now = undefined;
      const values = [...ever].map((name) => wanted[name] ?? (name === ROLE ? NO_ROLE : ""));
      await statements.query(SET, [[...ever], values], "");
      now = wanted;
    },
    role: () => now?.[ROLE] ?? "",
  };
}

function isSame(a: Settings, b: Settings): boolean {
  const names = Object.keys(a);
  return a === b || (names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]));
}
