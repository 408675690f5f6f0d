/** Strings that a pattern may be slow on, made from the pattern itself: what stands before a repetition, then the repeated part over and over. */

type Node =
  | { readonly kind: "set"; readonly chars: readonly string[] }
  | { readonly kind: "all"; readonly parts: readonly Node[] }
  | { readonly kind: "any"; readonly options: readonly Node[] }
  | { readonly kind: "look"; readonly inner: Node; readonly ahead: boolean }
  | { readonly kind: "repeat"; readonly inner: Node; readonly min: number; readonly max: number };

/** A repetition that ends before this cannot make a pattern slow by itself. */
const LONG = 30;
const ALPHABET = [
  " ",
  "a",
  "1",
  "-",
  ".",
  "\n",
  '"',
  "/",
  "=",
  "<",
  "A",
  "_",
  ";",
  ":",
  "'",
  ",",
  "b",
  "[",
  "(",
  "\\",
  "é",
  "中",
];
const NOTHING: Node = { kind: "all", parts: [] };

export interface Attack {
  readonly before: string;
  readonly pumped: string;
}

export function attacksOn({ source, flags }: { readonly source: string; readonly flags: string }): Attack[] {
  const found = new Map<string, Attack>();
  const root = new Reader(source, flags).read();
  collect(root, "", (before, pumped) => {
    if (pumped !== "") found.set(`${before}\0${pumped}`, { before, pumped });
  });
  return [...found.values()];
}

/** Returns a short text that the node matches, most often. */
function collect(node: Node, before: string, see: (before: string, pumped: string) => void): string {
  switch (node.kind) {
    case "set":
      return node.chars[0] ?? "";
    case "all": {
      let sample = "";
      for (const part of node.parts) sample += collect(part, before + sample, see);
      return sample;
    }
    case "any": {
      const samples = node.options.map((option) => collect(option, before, see));
      return samples.find((sample) => sample !== "") ?? "";
    }
    case "look":
      collect(node.inner, before, see);
      return "";
    case "repeat": {
      const one = collect(node.inner, before, see);
      if (node.max >= LONG) for (const pumped of new Set([one, ...spellings(node.inner)])) see(before, pumped);
      return node.min === 0 && node.max > 1 ? one : one.repeat(Math.min(node.min, 40) || 1);
    }
  }
}

function spellings(node: Node): readonly string[] {
  if (node.kind === "set") return node.chars.slice(0, 12);
  if (node.kind === "any") return node.options.flatMap((option) => spellings(option).slice(0, 4)).slice(0, 12);
  if (node.kind === "all") {
    const samples = node.parts.map((part) => collect(part, "", () => undefined));
    const first = node.parts[0];
    return first === undefined
      ? []
      : spellings(first)
          .slice(0, 6)
          .map((start) => start + samples.slice(1).join(""));
  }
  return node.kind === "repeat" ? spellings(node.inner) : [];
}

/** As much of the grammar as the sources use; what it does not know it throws at. */
class Reader {
  private at = 0;
  private readonly groups: Node[] = [];
  private readonly source: string;
  private readonly flags: string;

  constructor(source: string, flags: string) {
    this.source = source;
    this.flags = flags.replace(/[gy]/g, "");
  }

  read(): Node {
    const node = this.options();
    if (this.at < this.source.length) throw new Error(`not understood at ${this.at}: /${this.source}/`);
    return node;
  }

  private options(): Node {
    const options = [this.sequence()];
    while (this.take("|")) options.push(this.sequence());
    return options.length === 1 ? (options[0] ?? NOTHING) : { kind: "any", options };
  }

  private sequence(): Node {
    const parts: Node[] = [];
    while (this.at < this.source.length && this.source[this.at] !== "|" && this.source[this.at] !== ")") {
      parts.push(this.quantified(this.atom()));
    }
    return { kind: "all", parts };
  }

  private quantified(inner: Node): Node {
    const found = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/.exec(this.source.slice(this.at));
    if (found === null) return inner;
    this.at += found[0].length;
    const [sign] = found[0];
    if (sign === "?") return { kind: "repeat", inner, min: 0, max: 1 };
    if (sign === "*" || sign === "+") return { kind: "repeat", inner, min: sign === "*" ? 0 : 1, max: Infinity };
    const min = Number(found[1]);
    const max = found[3] ? Number(found[3]) : found[2] === "," ? Infinity : min;
    return { kind: "repeat", inner, min, max };
  }

  private atom(): Node {
    if (this.take("(")) return this.group();
    if (this.source[this.at] === "[") return this.set(/^\[(?:\\[\s\S]|[^\]\\])*\]/);
    if (this.source[this.at] === "\\") return this.escape();
    if (this.take("^") || this.take("$")) return NOTHING;
    return this.set(/^[\s\S]/u);
  }

  private group(): Node {
    const look = /^\?(<?)[=!]/.exec(this.source.slice(this.at));
    const head = look?.[0] ?? /^\?(?::|<\w+>)/.exec(this.source.slice(this.at))?.[0] ?? "";
    this.at += head.length;
    const slot = head === "" || /^\?<\w/.test(head) ? this.groups.push(NOTHING) - 1 : -1;
    const inner = this.options();
    if (!this.take(")")) throw new Error(`unclosed group: /${this.source}/`);
    if (slot >= 0) this.groups[slot] = inner;
    return look === null ? inner : { kind: "look", inner, ahead: look[1] === "" };
  }

  private escape(): Node {
    const rest = this.source.slice(this.at);
    const back = /^\\(?:([1-9])|k<\w+>)/.exec(rest);
    if (back !== null) {
      this.at += back[0].length;
      return this.groups[Number(back[1] ?? 1) - 1] ?? NOTHING;
    }
    if (/^\\[bB]/.test(rest)) {
      this.at += 2;
      return NOTHING;
    }
    return this.set(/^\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Z]|[\s\S])/);
  }

  private set(shape: RegExp): Node {
    const text = shape.exec(this.source.slice(this.at))?.[0];
    if (text === undefined) throw new Error(`no character at ${this.at}: /${this.source}/`);
    this.at += text.length;
    const one = new RegExp(`^(?:${text})$`, this.flags.replace("m", ""));
    const chars = [...ALPHABET, ...inside(text)].filter((char) => one.test(char));
    return { kind: "set", chars: [...new Set(chars)] };
  }

  private take(sign: string): boolean {
    if (this.source[this.at] !== sign) return false;
    this.at++;
    return true;
  }
}

/** Characters that the text of a class names. */
function inside(text: string): string[] {
  const named = [...text.matchAll(/\\u\{([0-9a-fA-F]+)\}|\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})/g)].map((found) =>
    String.fromCodePoint(Number.parseInt(found[1] ?? found[2] ?? found[3] ?? "0", 16)),
  );
  return [
    ...named,
    ...text.replace(/[\\[\]]/g, ""),
    "\t",
    "\r",
    "\0",
    "~",
    "@",
    "k",
    "z",
    "Z",
    "0",
    "9",
    "ß",
    "İ",
    "\ud83d\ude00",
  ];
}
