export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };

const LONE_SURROGATE = /\p{Cs}/u;
const VISIBLE = /[^\s\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;
/** Invisible and without meaning. The joiner U+200D stays: it glues emoji families and shapes Indic and Arabic script. */
const INVISIBLE = /\u200b|\u2060|\ufeff|\u00ad/g;

/** No half of a surrogate pair stands alone: PostgreSQL refuses such text, and so does every UTF-8 encoder. */
export function isWellFormed(text: string): boolean {
  return !LONE_SURROGATE.test(text);
}

/** PostgreSQL has no way to store U+0000 in text or jsonb. */
export function hasNul(text: string): boolean {
  return text.includes("\0");
}

/** Nothing a reader could see: whitespace, control, zero-width and filler characters only. */
export function isBlank(text: string): boolean {
  return !VISIBLE.test(text);
}

/** Makes any string storable: NUL is dropped, half a surrogate pair becomes U+FFFD. All else stays as it is. */
export function cleanText(text: string): string {
  const withoutNul = hasNul(text) ? text.replaceAll("\0", "") : text;
  return isWellFormed(withoutNul) ? withoutNul : withoutNul.replace(/\p{Cs}/gu, "\ufffd");
}

const ASCII = /^[\t\n\r -~]*$/;

/** Lower case can leave characters that compose again, so NFKC comes before and after it. Never locale dependent. */
function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return text.normalize("NFKC").replace(INVISIBLE, "").toLowerCase().normalize("NFKC");
}

function tightenColons(text: string): string {
  return text.replace(/\s+/g, " ").replace(/ ?: ?/g, ":").trim();
}

/**
 * The form in which subjects and predicates are compared: `Favourite_Drink` and `favourite drink` are one key.
 * A minus sign that starts a number (`offset:-5`) is a value, not a separator, and stays.
 */
export function normaliseKey(text: string): string {
  const spaced = tightenColons(fold(text).replaceAll("_", " "));
  return tightenColons(spaced.replace(/(?<!^|:)-|-(?!\d)/g, " "));
}

const CLOSING: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  "`": "`",
  "“": "”",
  "„": "“",
  "‘": "’",
  "«": "»",
  "»": "«",
  "「": "」",
  "『": "』",
};
/** A final question mark is not among them: "He moved?" does not say "He moved." */
const FINAL_PUNCTUATION = new Set([".", "!", "…", "。", "｡", ",", ";", ":", "、", "،", "؛", "۔", "।"]);
/** Real texts are wrapped once or twice; the limit keeps a megabyte of quotes linear. */
const MAX_WRAPPINGS = 8;

function unwrap(text: string): string {
  let inner = text;
  for (let round = 0; round < MAX_WRAPPINGS; round++) {
    const before = inner;
    let end = inner.length;
    while (end > 0 && FINAL_PUNCTUATION.has(inner.charAt(end - 1))) end--;
    inner = inner.slice(0, end).trimEnd();
    const close = CLOSING[inner.charAt(0)];
    if (close !== undefined && inner.length > 1 && inner.endsWith(close)) {
      const middle = inner.slice(1, -1);
      // `"a" and "b"` is not one quotation.
      if (!middle.includes(close) && !middle.includes(inner.charAt(0))) inner = middle.trim();
    }
    if (inner === before) break;
  }
  return inner;
}

/**
 * The string to hash for duplicate detection. Two texts share it when only case, width, spacing, surrounding quotes or
 * final punctuation differ. No word, digit or sign inside is ever dropped, so "not", "10" and "-5" keep telling texts apart.
 */
export function contentKey(text: string): string {
  // NFKC would turn 10² into 102 and 1½ into 11⁄2: two different numbers with one key.
  const numbersApart = ASCII.test(text)
    ? text
    : text
        .replace(/[⁰¹²³⁴-⁹]+/g, "^$&")
        .replace(/[₀-₉]+/g, "_$&")
        .replace(/[¼-¾⅐-⅞]/g, " $&");
  const folded = fold(numbersApart).replace(/\s+/g, " ").trim();
  const inner = unwrap(folded);
  return inner === "" ? folded : inner;
}

export function sameMeaning(a: string, b: string): boolean {
  return a === b || contentKey(a) === contentKey(b);
}

/** 0 for a scalar, 1 for a flat object or array. Walks with its own stack: parsed JSON can be deeper than the call stack. */
export function jsonDepth(value: unknown): number {
  let deepest = 0;
  const waiting: { value: unknown; depth: number }[] = [{ value, depth: 0 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next.value !== "object" || next.value === null) continue;
    const depth = next.depth + 1;
    if (depth > deepest) deepest = depth;
    for (const child of Object.values(next.value)) waiting.push({ value: child, depth });
  }
  return deepest;
}

/** At most `chars` UTF-16 units, the ellipsis included; never ends in half a surrogate pair or a dangling joiner. */
export function clip(text: string, chars: number): string {
  if (text.length <= chars) return text;
  if (chars < 1) return "";
  let end = Math.floor(chars) - 1;
  const splitsPair = /[\ud800-\udbff]/.test(text.charAt(end - 1)) && /[\udc00-\udfff]/.test(text.charAt(end));
  if (splitsPair) end--;
  while (end > 0 && text.charAt(end - 1) === "\u200d") end--;
  return `${text.slice(0, end)}…`;
}
