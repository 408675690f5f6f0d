/**
 * Patterns that people write into their settings. They run over every text that is stored, on the owner's event loop, so they are a
 * part of regular expressions whose work can be counted before they run: characters, classes, alternatives and groups, where only
 * characters and classes are repeated, at most a hundred times. What one would cost at each character of a text is added up here.
 */

export type OwnPattern =
  | { readonly ok: true; readonly pattern: RegExp; readonly shortest: number }
  | { readonly ok: false; readonly reason: string };

const LONGEST_SOURCE = 200;
/** `+`, `*` and `{n,}` take no more. */
const MOST_REPEATS = 100;
/** Comparisons at one character of the text, in the worst case: a tenth of a second for the longest text. */
const MOST_STEPS = 1_000;
/** Shorter matches would take out half of every text. */
const SHORTEST = 3;
const DEEPEST = 10;

/** Which of the 128 ASCII characters, and at 128 whether any other. */
type Chars = readonly boolean[];

type Item =
  | { readonly is: "chars"; readonly source: string; readonly chars: Chars; readonly min: number; readonly max: number }
  | { readonly is: "group"; readonly choices: readonly (readonly Item[])[]; readonly optional: boolean }
  | { readonly is: "edge" };

class Unfit extends Error {}
const refuse = (reason: string): never => {
  throw new Unfit(reason);
};

export function readOwnPattern(source: string): OwnPattern {
  if (source.length > LONGEST_SOURCE) return { ok: false, reason: `is longer than ${LONGEST_SOURCE} characters` };
  try {
    const choices = parse(source);
    const shortest = Math.min(...choices.map(lengthOf));
    if (shortest < SHORTEST) refuse(`would match fewer than ${SHORTEST} characters`);
    const steps = stepsOf(choices);
    if (steps > MOST_STEPS)
      refuse(
        "can be matched in too many ways: let what is repeated differ from what follows it, or repeat it less often",
      );
    return { ok: true, pattern: new RegExp(choicesText(choices), "gu"), shortest };
  } catch (error) {
    if (error instanceof Unfit || error instanceof SyntaxError) return { ok: false, reason: error.message };
    throw error;
  }
}

function parse(source: string): Item[][] {
  const chars = [...source];
  let at = 0;
  const choices = (depth: number): Item[][] => {
    if (depth > DEEPEST) refuse(`has groups more than ${DEEPEST} deep`);
    const all: Item[][] = [[]];
    for (; at < chars.length && chars[at] !== ")"; ) {
      if (chars[at] === "|") {
        at++;
        all.push([]);
      } else all.at(-1)?.push(item(depth));
    }
    return all;
  };
  const item = (depth: number): Item => {
    const char = chars[at++] as string;
    if (char === "(") {
      if (chars[at] === "?") {
        if (chars[at + 1] !== ":") refuse("has a group with (? that is not (?: … )");
        at += 2;
      }
      const inner = choices(depth + 1);
      if (chars[at++] !== ")") refuse("has a ( without its )");
      const optional = chars[at] === "?";
      if (optional) at++;
      if (/[*+?{]/.test(chars[at] ?? "")) refuse("repeats a group: repeat characters or classes");
      return { is: "group", choices: inner, optional };
    }
    if (char === "\\" && chars[at] === "b") {
      at++;
      return { is: "edge" };
    }
    const start = at - 1;
    if (char === "[") endOfClass();
    else if (char === "\\") at++;
    else if (/[*+?{}\]^$]/.test(char))
      refuse(`has ${char} where a character was expected; write \\${char} for the character`);
    const text = chars.slice(start, at).join("");
    if (/^\\[^dDwWsStnrfv\\.*+?^${}()|[\]/-]?$/.test(text)) refuse(`has ${text}, which patterns here do not know`);
    return { is: "chars", source: text, chars: charsOf(text), ...repeats() };
  };
  const endOfClass = () => {
    if (chars[at] === "^") at++;
    for (; chars[at] !== "]"; at++) {
      if (at >= chars.length) refuse("has a [ without its ]");
      if (chars[at] === "\\" && !/[dDwWsStnrfv\\.*+?^${}()|[\]/-]/.test(chars[++at] ?? ""))
        refuse(`has \\${chars[at] ?? ""} in a class, which patterns here do not know`);
    }
    at++;
  };
  const repeats = (): { min: number; max: number } => {
    const rest = chars.slice(at).join("");
    const counted = /^\{(\d{1,4})(,)?(\d{1,4})?\}/.exec(rest);
    const sign = /^[*+?]/.exec(rest)?.[0];
    if (counted === null && sign === undefined) return { min: 1, max: 1 };
    at += (counted?.[0] ?? sign ?? "").length;
    if (/[*+?{]/.test(chars[at] ?? "")) refuse(`has two repetitions in a row`);
    const [, least, comma, most] = counted ?? [];
    const min = sign === undefined ? Number(least) : sign === "+" ? 1 : 0;
    const max =
      sign === "?" ? 1 : most !== undefined ? Number(most) : comma === undefined && least ? min : MOST_REPEATS;
    if (min > max || max > MOST_REPEATS) refuse(`repeats something more than ${MOST_REPEATS} times, or backwards`);
    return { min, max };
  };
  const all = choices(0);
  if (at < chars.length) refuse("has a ) without its (");
  return all;
}

function charsOf(source: string): Chars {
  const pattern = new RegExp(`^(?:${source})$`, "u");
  const ascii = Array.from({ length: 128 }, (_, code) => pattern.test(String.fromCharCode(code)));
  const plain = /^[^[\\.]$/u.test(source) ? (source.codePointAt(0) ?? 0) > 127 : false;
  // Of what is beyond ASCII a class may take some: that counts as all.
  const beyond =
    plain ||
    source === "." ||
    /^\\[DWS]$/.test(source) ||
    (source.startsWith("[") && /\[\^|\\[DWS]|[^\0-\x7f]/u.test(source));
  return [...ascii, beyond];
}

const lengthOf = (items: readonly Item[]): number =>
  items.reduce((sum, item) => {
    if (item.is === "edge") return sum;
    if (item.is === "chars") return sum + item.min;
    return sum + (item.optional ? 0 : Math.min(...item.choices.map(lengthOf)));
  }, 0);

/** An upper bound of the comparisons at one place; what follows is compared once for each way to match what is before it. */
function stepsOf(choices: readonly (readonly Item[])[], after = 1, next: Chars | undefined = undefined): number {
  return choices.reduce((sum, items) => sum + seqSteps(items, after, next), 0);
}

function seqSteps([item, ...rest]: readonly Item[], after: number, next: Chars | undefined): number {
  if (item === undefined) return after;
  const then = seqSteps(rest, after, next);
  if (then > MOST_STEPS) return then;
  if (item.is === "edge") return 1 + then;
  const follows = firstOf(rest, next);
  if (item.is === "group") return (item.optional ? then : 0) + stepsOf(item.choices, then, follows);
  const ways = item.max - item.min + 1;
  // Where nothing that is repeated can begin what follows, giving some of it back fails at the first character.
  const apart = follows !== undefined && !item.chars.some((taken, code) => taken && follows[code]);
  return item.max + (ways === 1 ? then : apart ? ways + then : ways * then);
}

/** The characters that a match of these can begin with; undefined when it may be empty with nothing known behind it. */
function firstOf(items: readonly Item[], next: Chars | undefined): Chars | undefined {
  const [item, ...rest] = items;
  if (item === undefined) return next;
  if (item.is === "edge") return firstOf(rest, next);
  const later = () => firstOf(rest, next);
  if (item.is === "chars") return item.min > 0 ? item.chars : either(item.chars, later());
  const firsts = item.choices.map((choice) => firstOf([...choice, ...rest], next));
  return firsts.reduce(either, item.optional ? later() : item.choices.length > 0 ? NONE : undefined);
}

const NONE: Chars = Array.from({ length: 129 }, () => false);
const either = (a: Chars | undefined, b: Chars | undefined): Chars | undefined =>
  a && b && a.map((has, code) => has || b[code] === true);

const choicesText = (choices: readonly (readonly Item[])[]): string =>
  choices.map((items) => items.map(itemText).join("")).join("|");

function itemText(item: Item): string {
  if (item.is === "edge") return "\\b";
  if (item.is === "group") return `(?:${choicesText(item.choices)})${item.optional ? "?" : ""}`;
  const { source, min, max } = item;
  return min === 1 && max === 1 ? source : `${source}{${min},${max}}`;
}
