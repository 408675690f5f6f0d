/**
 * Statements that a server plans once for a connection. Those that gather the candidates of a search took it longer to plan than half of their work:
 * a statement whose text ends with `PLAN_KEPT` is given a name, and with it the server finds the plan that it made before. Behind a pooler that lends
 * connections by the transaction a name may belong to another connection: then all go on without names.
 */
import { createHash } from "node:crypto";
import { errorCode } from "../../domain/errors.ts";
import { PLAN_KEPT } from "./port.ts";

/** A server keeps half a megabyte of each, for each connection. */
const MOST_NAMES = 32;

/** The name is not known, or is taken, or the plan is of columns that have changed since. In each case nothing was done. */
const OF_NAMES = new Set(["26000", "42P05", "0A000"]);

export interface Plans {
  /** Undefined: it is planned each time. */
  nameOf(text: string): string | undefined;
  /** Whether a failure was that of a name. From then on there are none. */
  refuse(error: unknown): boolean;
}

export function keptPlans(isPooled: boolean): Plans {
  const names = new Map<string, string>();
  let refused = isPooled;
  return {
    nameOf(text) {
      if (refused || !text.endsWith(PLAN_KEPT)) return undefined;
      const known = names.get(text);
      if (known !== undefined || names.size >= MOST_NAMES) return known;
      // The same for the same text: a connection that several processes share has one of each.
      const name = `butler_${createHash("sha256").update(text).digest("hex").slice(0, 40)}`;
      names.set(text, name);
      return name;
    },
    refuse(error) {
      const isOfNames = OF_NAMES.has(errorCode(error) ?? "");
      refused ||= isOfNames;
      return isOfNames;
    },
  };
}
