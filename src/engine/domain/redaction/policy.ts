/** What a butler's settings say about secrets: kinds that stay, kinds of personal data that go, and patterns of its own. */
import { readOwnPattern } from "./own-pattern.ts";
import { PERSONAL_KINDS, type PersonalKind, personalFinders } from "./personal.ts";
import { type Finder, matches, SECRET_KINDS, type SecretKind } from "./scan.ts";

export interface Policy {
  /** Kinds that stay where they are. */
  readonly keeps: ReadonlySet<string>;
  readonly more: readonly Finder[];
  /** No finder accepts less. */
  readonly shortest: number;
}

/** No finder of secrets accepts less, the words around the secret included: `pin:1234`, `ab://:p@`. */
const SHORTEST_SECRET = 8;
const SHORTEST_PERSONAL = 6;

export const SECRETS_ONLY: Policy = { keeps: new Set(), more: [], shortest: SHORTEST_SECRET };

export interface OwnRule {
  readonly name: string;
  readonly pattern: string;
}

export interface PolicySettings {
  readonly keep_kinds: readonly SecretKind[];
  readonly also: readonly PersonalKind[];
  readonly patterns: readonly OwnRule[];
}

export function policyOf({ keep_kinds, also, patterns }: PolicySettings): Policy {
  const own = patterns.map(({ name, pattern }) => ownFinder(name, pattern));
  return {
    keeps: new Set(keep_kinds),
    more: [...also.map((kind) => personalFinders[kind]), ...own.map(({ find }) => find)],
    shortest: Math.min(
      SHORTEST_SECRET,
      ...(also.length > 0 ? [SHORTEST_PERSONAL] : []),
      ...own.map(({ shortest }) => shortest),
    ),
  };
}

function ownFinder(kind: string, source: string): { readonly find: Finder; readonly shortest: number } {
  const read = readOwnPattern(source);
  // Settings are checked when they are read.
  if (!read.ok) throw new Error(`the pattern of ${kind} ${read.reason}`);
  return {
    shortest: read.shortest,
    *find({ text }) {
      for (const { index, 0: found } of matches(read.pattern, text))
        yield { start: index, end: index + found.length, kind };
    },
  };
}

/** A kind stands in the text in place of what was taken out. */
export const KIND_NAME = /^[a-z][a-z0-9_-]{1,39}$/;

export const isBuiltIn = (name: string): boolean =>
  ([...SECRET_KINDS, ...PERSONAL_KINDS] as readonly string[]).includes(name);
