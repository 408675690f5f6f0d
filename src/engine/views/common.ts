/** What several views take, read and answer. */
import { z } from "zod";
import { invalid } from "../domain/errors.ts";
import { TRUST } from "../domain/learning/trust.ts";
import { EVERY_SCOPE, projectScope, readableScopes } from "../domain/scope.ts";
import type { Call } from "../memory/memory.ts";
import * as f from "../tools/fields.ts";

export const PAGE = 50;
export const limit = f.limit(200).optional().describe(`${PAGE} if left out.`);
export const trust = z.enum(TRUST);

export const placeFilter = {
  scope: f.scope.optional().describe("Only this scope."),
  project: f.project.optional().describe("Only this project of the butler."),
};

interface Place {
  readonly scope?: string | undefined;
  readonly project?: string | undefined;
}

export interface Seen {
  readonly tenant: string;
  /** Undefined: every scope of the tenant. */
  readonly scopes: readonly string[] | undefined;
  readonly now: Date;
}

/** What the caller may see: an admin every scope of the tenant, others the steps they stand on; of those the one that was asked for. */
export function seenBy({ caller, now }: Call, { scope, project }: Place = {}): Seen {
  const one = project === undefined ? scope : projectScope(caller.butler, project);
  const all = readableScopes(caller, caller.admin ? EVERY_SCOPE : undefined);
  // Checks that the caller may read it; its wider steps are left out, because one scope was asked for.
  if (one !== undefined && one !== EVERY_SCOPE) readableScopes(caller, one);
  return { tenant: caller.tenant, scopes: one === undefined || one === EVERY_SCOPE ? all : [one], now };
}

/** A place that begins with a time. */
export function timedPlace(place: readonly string[] | undefined): readonly string[] | undefined {
  if (place !== undefined && !f.time.safeParse(place[0]).success)
    throw invalid("cursor", "cursor must be a next_cursor of an earlier answer.");
  return place;
}

export const iso = (at: Date | null): string | null => at?.toISOString() ?? null;

/** A page of one row more than was asked for: whether there is more, without counting. */
export function pageOf<R>(
  rows: readonly R[],
  size: number,
): { readonly rows: readonly R[]; readonly last: R | undefined } {
  const shown = rows.slice(0, size);
  return { rows: shown, last: rows.length > size ? shown.at(-1) : undefined };
}

/** What was forgotten is shown to those who may bring it back. */
export const textFor = (call: Call, state: string, text: string): string | null =>
  state === "retracted" && !call.caller.admin ? null : text;
