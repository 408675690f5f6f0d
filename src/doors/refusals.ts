/** Who was turned away at a door and why, as it is counted for the audit. Never a token, nor a word of the request. */
import type { Door } from "../engine/adapters/meter.ts";
import type { Failure } from "../engine/tools/outcome.ts";
import type { Principal } from "./backend.ts";

/** `token`: none, or one that is unknown, expired or not right. */
const KINDS = [
  "token",
  "butler",
  "tenant",
  "role",
  "scope",
  "claims",
  "host",
  "origin",
  "size",
  "rate",
  "busy",
] as const;
export type RefusalKind = (typeof KINDS)[number];

export interface Refusal {
  readonly kind: RefusalKind;
  readonly door: Door;
  /** Absent where nobody knows who it was. */
  readonly by?: Pick<Principal, "name" | "tenant" | "butler">;
  /** The butler that was called, if there is one of that name. */
  readonly butler?: string | undefined;
}

export interface Refusals {
  note(refusal: Refusal): void;
}

/** Undefined for a failure that is no refusal: a mistake in the input, or something that is not there. */
export function refusalKind({ code, field = "" }: Failure): RefusalKind | undefined {
  const named = KINDS.find((kind) => kind === field.toLowerCase());
  if (code === "unauthorized") return "token";
  if (code === "forbidden") return named ?? "role";
  return code === "unavailable" && (named === "rate" || named === "busy") ? named : undefined;
}
