/** The form of an encrypted text: `sealed:1:<id of the key>:<bytes>.`; the dot tells a whole one from one that was cut. */
import { isRecord } from "./record.ts";
import { normaliseKey } from "./text/text.ts";

export const SEALED_PREFIX = "sealed:1:";
const WHOLE = /^sealed:1:([0-9a-f]{8}):([A-Za-z0-9_-]+)\.$/;

export const isSealed = (text: string): boolean => text.startsWith(SEALED_PREFIX);

export const sealedText = (keyId: string, bytes: string): string => `${SEALED_PREFIX}${keyId}:${bytes}.`;

/** Undefined when it was cut. */
export function partsOfSealed(text: string): { readonly keyId: string; readonly bytes: string } | undefined {
  const found = WHOLE.exec(text);
  return found?.[1] === undefined || found[2] === undefined ? undefined : { keyId: found[1], bytes: found[2] };
}

/** Nobody stores a text that would be taken for an encrypted one. */
export const unsealable = (text: string): string =>
  text.includes(SEALED_PREFIX) ? text.replaceAll(SEALED_PREFIX, "sealed 1 ") : text;

/** What stands where a text is not shown. */
export const NOT_SHOWN = "(encrypted)";

/** A predicate that carries its object (`allergy:nuts`) counts as the one before the colon too. */
export function isAmong(predicates: readonly string[], predicate: string): boolean {
  if (predicates.length === 0) return false;
  const own = normaliseKey(predicate);
  const first = normaliseKey(predicate.split(":")[0] ?? predicate);
  return predicates.some((one) => [own, first].includes(normaliseKey(one)));
}

/** Changes the texts at these places of a value from the store, at any depth. Nothing is copied where nothing changes. */
export function eachSealed(value: unknown, open: (text: string) => string): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => eachSealed(item, open));
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  if (!isRecord(value) || value instanceof Date || value instanceof Uint8Array) return value;
  let copy: Record<string, unknown> | undefined;
  for (const [name, item] of Object.entries(value)) {
    const next =
      typeof item === "string"
        ? PLACES.has(name) && isSealed(item)
          ? open(item)
          : item
        : typeof item === "object" && item !== null
          ? eachSealed(item, open)
          : item;
    if (next !== item) {
      copy ??= { ...value };
      copy[name] = next;
    }
  }
  return copy ?? value;
}

/** Names of columns and of places in JSON that may hold the content of a fact. */
const PLACES: ReadonlySet<string> = new Set(["content", "claim"]);

const IN_JSON = /(?<!\\)"(sealed:1:[0-9a-f]{8}:[A-Za-z0-9_-]+\.)"/g;

/** The same for the rows of an answer of the store, some of which have columns of JSON as text: searches send all rows as one. */
export const openRows = <R>(rows: readonly R[], open: (text: string) => string): R[] =>
  (eachSealed(rows, open) as R[]).map((row) => {
    const texts = Object.entries(row as object).filter(
      ([, value]) => typeof value === "string" && /^[[{]/.test(value) && value.includes(`"${SEALED_PREFIX}`),
    );
    if (texts.length === 0) return row;
    const opened = texts.map(([name, text]: [string, string]) => [
      name,
      text.replace(IN_JSON, (_, sealed: string) => JSON.stringify(open(sealed))),
    ]);
    return { ...row, ...Object.fromEntries(opened) };
  });

/** What is said of these predicates in a value, encrypted: every record with a predicate and a content. */
export function sealClaims(value: unknown, predicates: readonly string[], seal: (text: string) => string): unknown {
  if (predicates.length === 0) return value;
  if (Array.isArray(value)) return value.map((item) => sealClaims(item, predicates, seal));
  if (!isRecord(value) || value instanceof Date) return value;
  const copy = Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, sealClaims(item, predicates, seal)]),
  );
  const { predicate, content } = copy;
  if (
    typeof predicate === "string" &&
    typeof content === "string" &&
    !isSealed(content) &&
    isAmong(predicates, predicate)
  )
    copy.content = seal(content);
  return copy;
}
