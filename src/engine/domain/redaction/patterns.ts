/** Secrets known by where they stand or by their checksum: armoured keys, headers, URLs, cards and accounts. */
import { type Finder, groupAt, matchAt, matches, type SecretKind, type Span } from "./scan.ts";
import { tokens } from "./tokens.ts";

/** A pattern that is tried only where one of its words occurs. Flags `dg`; group 1 is the secret. */
interface Shape {
  readonly kind: SecretKind;
  readonly words: readonly string[];
  readonly pattern: RegExp;
  readonly accept?: (value: string) => boolean;
}

const MASKED = /^[A-Za-z]{0,8}[-_]?(?:[a-z]{2,6}[-_])?[xX0*._-]+$|x{8}|\*{3}|[-_]your[-_]/i;

const SHAPES: readonly Shape[] = [
  {
    kind: "aws_key",
    words: ["key"],
    pattern:
      /(?:aws|secret)[_ -]?(?:secret|access)[_ -]?(?:access[_ -]?)?key["'`\\]{0,2}\s{0,4}(?:[:=]|is)?\s{0,4}\\?["'`]?([A-Za-z0-9/+=]{40})(?![A-Za-z0-9/+=])/dgi,
  },
  // The pair as people paste it: the id, a separator, the secret.
  {
    kind: "aws_key",
    words: ["asia"],
    pattern: /ASIA[A-Z0-9]{16}[^A-Za-z0-9/+]{1,10}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])/dg,
  },
  {
    kind: "aws_key",
    words: ["akia"],
    pattern: /AKIA[A-Z0-9]{16}[^A-Za-z0-9/+]{1,10}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])/dg,
  },
  {
    kind: "twilio_key",
    words: ["twilio"],
    pattern: /twilio[^\n]{0,40}?(?<![A-Za-z0-9-])([0-9a-f]{32})(?![A-Za-z0-9-])/dgi,
  },
  {
    kind: "authorization",
    words: ["authorization"],
    pattern:
      /authorization["'`\\]{0,2}[ \t]{0,4}[:=][ \t]{0,4}\\?["'`]?(?:bearer|basic|token|digest|apikey|negotiate)[ \t]{1,4}([^\s"'`,;<>\\]{6,})/dgi,
    accept: (value) =>
      !/^(?:\$|\{|%|\[)|^base64\(|^(?:token|auth\w*|(?:[a-z]+[-_])+(?:token|key)|your\S*|credentials?|header|scheme|required)$/i.test(
        value,
      ),
  },
  {
    kind: "authorization",
    words: ["bearer"],
    pattern: /(?<![A-Za-z0-9])bearer[ \t]{1,4}([\w.~+/-]{16,}=*)/dgi,
    accept: (value) => /\d/.test(value) && /[A-Za-z]/.test(value),
  },
  {
    kind: "ssn",
    words: ["ssn", "social"],
    pattern:
      /(?<![A-Za-z])(?:ssn|social[ -]security(?:[ -](?:number|no\.?|#))?)[^\d\n]{1,20}((?!000|666|9)\d{3}([- ]?)(?!00)\d{2}\2(?!0000)\d{4})(?![\d-])/dgi,
  },
  {
    kind: "card",
    words: ["cv"],
    pattern: /(?<![A-Za-z])(?:cvv2?|cvc2?)(?: code)?(?:[ \t]*[:=]|[ \t]+is)?[ \t]+(\d{3,4})(?!\d)/dgi,
  },
  {
    kind: "private_key",
    words: ["private-lines"],
    pattern:
      /private-lines:[ \t]{0,4}\d{1,4}\s{1,4}((?:[A-Za-z0-9+/]{4,100}={0,2}\s{1,4}){0,200}[A-Za-z0-9+/]{4,100}={0,2})(?=\s|$)/dgi,
  },
  // WireGuard's keys have no shape but 32 bytes in base64.
  {
    kind: "private_key",
    words: ["key"],
    pattern: /(?<![A-Za-z])(?:PrivateKey|PresharedKey)[ \t]{0,4}=[ \t]{0,4}([A-Za-z0-9+/]{43}=)/dg,
  },
  {
    kind: "password",
    words: ["wifi:"],
    pattern: /wifi:(?:[^;\n]{1,80};){0,4}?P:((?:[^;\\\n]|\\.){4,80});/dgi,
  },
  { kind: "password", words: ["jdbc:"], pattern: /jdbc:oracle:\w{1,10}:[^\s/@]{1,60}\/([^\s/@]{2,60})@/dgi },
  // name:password of pgpass, with a port or a star in the second place
  {
    kind: "password",
    words: [":"],
    pattern: /(?<=^|\n)[ \t]{0,8}[\w.*-]{1,100}:(?:\d{2,5}|\*):[\w.*-]{1,64}:[\w.*@-]{1,64}:([^\s:]{3,100})(?=\s|$)/dg,
    accept: (value) => !/^[$%{*x]/.test(value),
  },
];

const byShape: Finder = function* ({ text, lower }): Generator<Span> {
  for (const { kind, words, pattern, accept } of SHAPES) {
    if (!words.some((word) => lower.includes(word))) continue;
    for (const match of matches(pattern, text)) {
      const at = groupAt(match, 1);
      if (at === undefined) continue;
      const value = text.slice(at[0], at[1]);
      if (MASKED.test(value.slice(0, 200)) || (accept !== undefined && !accept(value))) continue;
      yield { start: at[0], end: at[1], kind };
    }
  }
};

const SCHEME = /(?<=(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,20}):/y;
const USER_INFO = /:\/\/[^\s:/?#@"'`<>]{0,128}:([^\s/"'`<>]{1,256})@/dy;
/** `host:443,user@…` is a port; braces, dollars and stars are templates and masks; `user:password@` is an example. */
const NO_PASSWORD = /^\d{1,5}[,;)]|^(?:\$?\{.*\}?|\$\w+|\$\(.*|%\w*%?|[*x.]+|password)$/i;

const urlPasswords: Finder = function* ({ text }): Generator<Span> {
  for (let at = text.indexOf("://"); at >= 0; at = text.indexOf("://", at + 3)) {
    const match = matchAt(USER_INFO, text, at);
    const range = match && groupAt(match, 1);
    if (!range || NO_PASSWORD.test(match[1] ?? "") || matchAt(SCHEME, text, at) === null) continue;
    yield { start: range[0], end: range[1], kind: "url_password" };
  }
};

const PEM_EDGE = /-----(BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
/** One line of an armoured key, or one of its headers; line ends may be real or escaped, once or twice. */
const PEM_LINE =
  /(?:\s|\\{1,2}[nr])*(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset):[^\n\\]{0,200}|=?[A-Za-z0-9+/]{4,}={0,2})/y;
/** A 16384 bit RSA key has 13 kB. */
const PEM_LONGEST = 32_768;

const pemBlocks: Finder = function* ({ text }): Generator<Span> {
  if (!text.includes("PRIVATE KEY")) return;
  const edges = [...matches(PEM_EDGE, text)];
  for (const [i, edge] of edges.entries()) {
    if (edge[1] !== "BEGIN") continue;
    const bodyStart = edge.index + edge[0].length;
    const next = edges[i + 1];
    if (next?.[1] === "END" && next.index - bodyStart <= PEM_LONGEST) {
      const body = text.slice(bodyStart, next.index);
      // "between the BEGIN line and the END line" in prose has neither line ends nor key material.
      if (/\n|\\n|[A-Za-z0-9+/=]{16}/.test(body) && /[A-Za-z0-9]/.test(body.replace(/\\[nr]/g, ""))) {
        yield { start: edge.index, end: next.index + next[0].length, kind: "private_key" };
      }
      continue;
    }
    const end = unterminatedEnd(text, bodyStart, next?.index ?? text.length);
    if (end > bodyStart) yield { start: edge.index, end, kind: "private_key" };
  }
};

/** A cut-off key ends with its last base64 line; a shorter word counts only right after a full line. */
function unterminatedEnd(text: string, from: number, limit: number): number {
  let end = from;
  let afterFullLine = false;
  PEM_LINE.lastIndex = from;
  for (let line = PEM_LINE.exec(text); line !== null && line.index < limit; line = PEM_LINE.exec(text)) {
    const content = line[0].replace(/^(?:\s|\\{1,2}[nr])+/, "");
    const header = content.includes(":");
    const full = /^[A-Za-z0-9+/=]{24,}$/.test(content);
    const lastLine = afterFullLine && /[\n\\]/.test(line[0]) && /[\d+/=]|[a-z][A-Z]/.test(content);
    if (!header && !full && !lastLine) break;
    if (!header) end = Math.min(PEM_LINE.lastIndex, limit);
    if (lastLine && !full) break;
    afterFullLine = full;
  }
  return end;
}

const COOKIE_HEADER =
  /(?<![A-Za-z])(?:set-)?cookie2?["'`\\]{0,2}[ \t]{0,4}[:=][ \t]{0,4}\\?["'`]?(?=[^\s=;"']{1,128}=)/gi;
const COOKIE_PAIR = /([^\s=;,"'`<>()\\]{1,128})(?:=([^\s;"'`<>\\]*))?(?:;[ \t]*|$|(?=[\s"'`\\]))/y;
const COOKIE_ATTRIBUTE = /^(?:path|domain|expires|max-age|samesite|secure|httponly|partitioned|priority|version)$/i;

const cookies: Finder = function* ({ text, lower }): Generator<Span> {
  if (!lower.includes("cookie")) return;
  let readUpTo = 0;
  for (const header of matches(COOKIE_HEADER, text)) {
    // A cookie named `cookie` is part of the header before it; reading on from each would be quadratic.
    if (header.index < readUpTo) continue;
    COOKIE_PAIR.lastIndex = header.index + header[0].length;
    for (let pair = COOKIE_PAIR.exec(text); pair !== null; pair = COOKIE_PAIR.exec(text)) {
      const [whole, name = "", value = ""] = pair;
      const start = pair.index + name.length + 1;
      readUpTo = pair.index + whole.length;
      if (value !== "" && !COOKIE_ATTRIBUTE.test(name) && !/^[$%{[*]|^value$/i.test(value)) {
        yield { start, end: start + value.length, kind: "cookie" };
      }
      if (!whole.includes(";")) break;
    }
  }
};

const CARD =
  /(?<![\w.+#/-])(?:\d{13,19}|\d{4}([ \u00a0-])\d{4}\1\d{4}\1\d{4}(?:\1\d{3})?|\d{4}([ \u00a0-])\d{6}\2\d{4,5})(?!\w|[-.]\d)/g;
const CARD_PREFIXES: readonly (readonly [RegExp, readonly number[]])[] = [
  [/^4/, [13, 16, 19]],
  [/^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, [16]],
  [/^3[47]/, [15]],
  [/^(?:6011|64[4-9]|65)/, [16, 19]],
  [/^35(?:2[89]|[3-8])/, [16, 19]],
  [/^3(?:0[0-5]|[689])/, [14]],
  [/^62/, [16, 17, 18, 19]],
  [/^(?:5018|5020|5038|6304|6759|676[1-3])/, [13, 16, 19]],
];
const NOT_A_CARD =
  /(?:order|invoice|tracking|ticket|ref|reference|sku|isbn|ean|gtin|serial|build|timestamp|time|phone|tel|mobile|fax|id|uid)s?["'`]?[ \t]{0,2}(?:no\.?|number|nr\.?|is)?["'`]?[ \t]{0,2}[:=#]?[ \t]{0,2}["'`]?$/i;
const CARD_WORD = /(?:card|visa|master|amex|pan|credit|debit|pay)/i;

function luhnValid(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits.charAt(digits.length - 1 - i));
    const doubled = i % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

const cards: Finder = function* ({ text }): Generator<Span> {
  for (const match of matches(CARD, text)) {
    const digits = match[0].replace(/\D/g, "");
    const known = CARD_PREFIXES.some(([prefix, lengths]) => prefix.test(digits) && lengths.includes(digits.length));
    if (!known || !luhnValid(digits) || /^(\d)\1+$/.test(digits)) continue;
    const before = text.slice(Math.max(0, match.index - 40), match.index);
    const grouped = digits.length < match[0].length;
    // One in ten long ids passes Luhn by chance, so lengths that ids commonly have need a word that speaks of cards.
    const usual = digits.length === 15 || digits.length === 16;
    if (!grouped && (NOT_A_CARD.test(before) || (!usual && !CARD_WORD.test(before)))) continue;
    yield { start: match.index, end: match.index + match[0].length, kind: "card" };
  }
};

const IBAN_LENGTHS: Readonly<Record<string, number>> = Object.fromEntries(
  "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24 FI18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SE24 SI19 SK24 SM27 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20"
    .split(" ")
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);
const IBAN_START = /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?=[ \u00a0-]?[A-Z0-9])/g;

function ibanValid(iban: string): boolean {
  let rest = 0;
  for (const char of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(char, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

const ibans: Finder = function* ({ text }): Generator<Span> {
  for (const match of matches(IBAN_START, text)) {
    const length = IBAN_LENGTHS[match[0].slice(0, 2)];
    if (length === undefined) continue;
    let compact = "";
    let at = match.index;
    while (compact.length < length && at < text.length) {
      const char = text.charAt(at);
      if (/[A-Z0-9]/.test(char)) compact += char;
      else if (!/[ \u00a0-]/.test(char) || /[ \u00a0-]/.test(text.charAt(at - 1))) break;
      at++;
    }
    if (compact.length === length && !/[A-Za-z0-9]/.test(text.charAt(at)) && ibanValid(compact)) {
      yield { start: match.index, end: at, kind: "iban" };
    }
  }
};

/** In order of trust: where two finds overlap, the earlier one names the kind. */
export const shapeFinders: readonly Finder[] = [pemBlocks, tokens, byShape, urlPasswords, cookies, cards, ibans];
