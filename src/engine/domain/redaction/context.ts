/** Secrets that a name gives away: assignments, query parameters, flags, elements, calls. */
import {
  classOf,
  type Finder,
  groupAt,
  matchAt,
  matches,
  type Name,
  type Scan,
  type SecretKind,
  type Span,
} from "./scan.ts";
import { JUDGED, passphraseEnd, readValue, sentenceGoesOn, trimBare, UNITS, type Value, wholeEnd } from "./values.ts";
import {
  classifyName,
  isExpression,
  isLocation,
  isPlaceholder,
  isProse,
  isProseWord,
  isReference,
  looksChosen,
  looksRandom,
  type NameClass,
} from "./words.ts";

export function kindOfName(name: NameClass): SecretKind {
  return name === "password" || name === "pin" ? name : "secret";
}

interface Assignment {
  readonly name: string;
  readonly operator: string;
  readonly tight: boolean;
}

/** In a language whose sentences are not parsed, a plain word after the name is more often grammar than a password. */
const FOREIGN_NAME = /(?:kennwort|passwort|contraseña|contrasena|mdp|senha|wachtwoord|hasło|пароль)$/i;

function assignedQuoted(value: string, cls: NameClass, environment: boolean): boolean {
  if (cls === "pin") return /^\d{4,8}$/.test(value);
  if (cls === "weak_key") return looksRandom(value, 16);
  if (/\s/.test(value)) return (environment || !isProse(value)) && (cls === "password" || /\d/.test(value));
  if (isProseWord(value) || isLocation(value)) return false;
  // 'my_api_key' in an example names the key it stands for.
  if (cls === "secret" && !/\d/.test(value) && isReference(value)) return false;
  // `credentials: 'same-origin'` is one of the words that an option knows.
  if (cls === "secret" && /^[a-z]+-[a-z]+$/.test(value)) return false;
  return cls === "password" || /\d/.test(value) || value.length >= 8;
}

function assignedBare(text: string, value: Value, cls: NameClass, { name, operator, tight }: Assignment): boolean {
  const v = value.text;
  if (cls === "pin") return /^\d{4,8}$/.test(v) && !UNITS.test(text.slice(value.end, value.end + 20));
  if (operator.startsWith("==") || isExpression(v) || isLocation(v) || isReference(v)) return false;
  const letters = /^\p{L}+$/u.test(v);
  if (cls === "password") {
    if (UNITS.test(text.slice(value.end, value.end + 20)) && /^\d+$/.test(v)) return false;
    if (letters && (FOREIGN_NAME.test(name) || text.charAt(value.end) === "<")) return false;
    if (letters) return v.length >= 4 && !isProseWord(v) && !sentenceGoesOn(text, value.end);
    return v.length >= 3;
  }
  const environment = tight && operator === "=" && /^[A-Z][A-Z0-9_]+$/.test(name);
  if (cls === "weak_key")
    return looksRandom(v, 16) || (environment && v.length >= 12 && /\d/.test(v) && /[A-Za-z]/.test(v));
  if (/^\d+$/.test(v)) return v.length >= 8;
  if (letters) return tight && operator === "=" && v.length >= (environment ? 4 : 8) && !isProseWord(v);
  return environment
    ? v.length >= 4
    : v.length >= 8 && (/\d/.test(v) || v.length >= 16) && !/^[a-z]+(?:[-_][a-z]+)*$/i.test(v);
}

/** After a name: what closes it, the operator (with a type before it), the gap before the value. */
const OPERATOR =
  /(["'`\])*\\]{0,3}[ \t]{0,8})(:[ \t]{0,4}[A-Za-z][\w.[\]<>|]{0,40}[ \t]{0,4}=(?![=>])|=>|:=|={1,3}|:(?!\/\/)|：)([ \t]{0,8}\*{0,2}[ \t]{0,2})/y;
/** `pass` alone heads test reports as often as passwords. */
const SHORT_NAME = /^(?:pass|user-?pass)$/;

/** `[]byte("X")`, `Buffer.from('X')`, `N'X'`: what holds the literal. */
const WRAPPER = /(?:\[\]byte\(|Buffer\.from\(|SecretStr\(|(?:new )?String\(|[bruNfL@]{1,2}(?=["']))(?=["'])/y;

/** `master.key`, `redis.auth`: the word before the dot says what the last one is. */
const dotted = (text: string, { start, end }: Name) =>
  /[\w-]{2,30}\.$/.exec(text.slice(Math.max(0, start - 31), start))?.[0].concat(text.slice(start, end)) ?? "";

function assigned(scan: Scan, name: Name): Span | undefined {
  const { text } = scan;
  const match = matchAt(OPERATOR, text, name.end);
  if (match === null) return undefined;
  const [whole, closing = "", operator = "", gap = ""] = match;
  // Query parameters have their own reader; `${NAME:-default}` is a template.
  const before = text.slice(Math.max(0, name.start - 2), name.start);
  if (/[?&]$|\$\{$/.test(before)) return undefined;
  const written = text.slice(name.start, name.end).replace(/^-+/, "");
  // ODBC's; on a shell's line it is the current folder.
  const odbc = name.lower === "pwd" && /;\s?$/.test(before);
  const short = SHORT_NAME.test(name.lower) || odbc;
  const cls = short ? "password" : (classOf(scan, written) ?? classOf(scan, dotted(text, name)));
  if (cls === undefined) return undefined;
  const from = match.index + whole.length;
  const value = readValue(text, from + (matchAt(WRAPPER, text, from)?.[0].length ?? 0));
  // Armoured keys know their own end.
  if (value === undefined || value.text.startsWith("-----BEGIN ")) return undefined;
  if (short && !looksChosen(value.text)) return undefined;
  const end = /phrase$/.test(name.lower) ? passphraseEnd(text, value) : value.end;
  const tight = gap === "" && !/\s$/.test(closing);
  const single = value.quoted
    ? assignedQuoted(value.text, cls, tight && /^[A-Z][A-Z0-9_]+$/.test(written))
    : assignedBare(text, value, cls, { name: written, operator, tight });
  const hidden = end > value.end || (single && (cls === "pin" || !isPlaceholder(value.text)));
  return hidden ? { start: value.start, end: Math.max(end, wholeEnd(text, value)), kind: kindOfName(cls) } : undefined;
}

const QUERY = /(?<=[?&#])([A-Za-z0-9_.-]{1,60})=([^&#\s"'`<>\\)\]]+)/dg;
const QUERY_NAMES = /^(?:sig|signature|x-amz-signature|x-amz-security-token|auth|pass|code_verifier)$/i;
/** Keys of services that are open to everybody but paid for by one. */
const QUERY_KEYS = /^(?:key|appid|app_id|apikey)$/i;

const queryParameters: Finder = function* ({ text }): Generator<Span> {
  for (const match of matches(QUERY, text)) {
    const [, name = "", value = ""] = match;
    const at = groupAt(match, 2);
    const cls = QUERY_NAMES.test(name) ? "secret" : QUERY_KEYS.test(name) ? "weak_key" : classifyName(name);
    if (at === undefined || cls === undefined || value.length < 4 || isPlaceholder(value.slice(0, JUDGED))) continue;
    if (cls === "weak_key" ? !looksRandom(value, 16) : isReference(value.slice(0, JUDGED))) continue;
    yield {
      start: at[0],
      end: at[0] + trimBare(value.slice(-JUDGED)).length + Math.max(0, value.length - JUDGED),
      kind: kindOfName(cls),
    };
  }
};

/** A value that stands apart from its name is judged by itself alone. */
function standsAlone(value: string, cls: NameClass): boolean {
  if (isPlaceholder(value) || isExpression(value) || isLocation(value)) return false;
  if (cls === "weak_key") return looksRandom(value, 16);
  if (cls === "pin") return /^\d{4,8}$/.test(value);
  return cls === "password" ? !isProse(value) : /\d/.test(value);
}

/** `--password X`, `-storepass X`; the name begins with its dashes. */
const FLAG_VALUE = /[ \t]{1,4}["']?([^\s"'`<>$-][^\s"'`<>]{3,255})/dy;
/** `<password>X</password>`, `name="password">X<`, `<td>Password</td><td>X</td>` */
const ELEMENT_VALUE =
  /(?:["'][^<>\n]{0,60})?>[ \t]{0,4}([^<>\s][^<>\n]{0,255})<\/|:?<\/\w{1,10}>:?\s{0,4}(?:<\w{1,10}>)?\s{0,4}([^\s<>]{4,255})/dy;
/** `key="Password" value="X"` */
const ATTRIBUTE_VALUE = /["']\s{1,4}value=["']([^"'\n]{1,255})["']/dy;
/** `.password("X")`, `define('DB_PASSWORD', 'X')`, `PASSWORD 'X'`, `PASSWORD('X')` */
const CALL_VALUE =
  /(?:["']\s{0,4},|[ \t]{0,2}\(|[ \t]{1,4}(?==?[ \t]*N?'))[ \t]{0,4}(?:=[ \t]{0,4})?(?:N|\[\]byte\()?["']([^"'\n]{3,255})["']/dy;
/** `ENV ADMIN_PASSWORD X`, `SetEnv APP_SECRET X`, `setx API_TOKEN X`, and netrc's `login bob password X` */
const NEXT_WORD = /[ \t]{1,4}["']?([^\s"'`<>$][^\s"'`<>]{3,255})/dy;
const COMMAND_BEFORE =
  /(?:^|\n)[ \t]{0,8}(?:ENV|ARG|SetEnv|setx|#[ \t]?define)[ \t]{1,4}$|(?:login|user|username|wifi|connect|create)[ \t:=]{1,4}[^\s,;]{1,60}[\s,;]{1,12}(?:[\w.]{1,20}[ \t]{1,4})?(?:and )?$/i;

function apart(scan: Scan, name: Name): Span | undefined {
  const { text } = scan;
  const cls =
    SHORT_NAME.test(name.lower) || name.lower === "passphrase"
      ? "password"
      : classOf(scan, name.lower.replace(/^-+/, ""));
  const flag = /^--?[a-z]/.test(name.lower);
  const found = (pattern: RegExp, judge: (value: string) => boolean): Span | undefined => {
    const match = matchAt(pattern, text, name.end);
    const at = match && (groupAt(match, 1) ?? groupAt(match, 2));
    if (!at || cls === undefined || !judge(text.slice(at[0], at[1]))) return undefined;
    return { start: at[0], end: at[1], kind: kindOfName(cls) };
  };
  if (cls === undefined) return undefined;
  const chosen = (value: string) => (cls === "password" ? looksChosen(value) : cls !== "pin" && looksRandom(value, 10));
  const alone = (value: string) => standsAlone(value, cls);
  return (
    (flag ? found(FLAG_VALUE, alone) : undefined) ??
    found(ELEMENT_VALUE, text.charAt(name.start - 1) === "<" ? alone : chosen) ??
    found(ATTRIBUTE_VALUE, alone) ??
    found(CALL_VALUE, chosen) ??
    found(
      NEXT_WORD,
      (value) => chosen(value) && COMMAND_BEFORE.test(text.slice(Math.max(0, name.start - 120), name.start)),
    )
  );
}

const named: Finder = function* (scan): Generator<Span> {
  let done = 0;
  for (const name of scan.names) {
    if (name.start < done) continue;
    const span = assigned(scan, name) ?? apart(scan, name);
    if (span === undefined) continue;
    yield span;
    done = span.end;
  }
};

/** `NetworkCredential("bob", "X")`, `auth=("bob", "X")` */
const PAIR =
  /(?:credentials?|auth)[ \t]{0,2}=?[ \t]{0,2}\([ \t]{0,2}["'][^"'\n]{1,80}["'][ \t]{0,2},[ \t]{0,2}["']([^"'\n]{4,200})["']/dgi;
const IDENTIFIED_BY = /identified[ \t]{1,4}by[ \t]{1,4}(?:password[ \t]{1,4})?["']([^"'\n]{1,200})["']/dgi;
const INSERT = /insert[ \t]+into[ \t]+\S{1,80}[ \t]*\(([^()]{1,400})\)\s{0,4}values\s{0,4}\(([^()]{1,800})\)/dgi;

const calls: Finder = function* ({ text, lower }): Generator<Span> {
  if (/credentials?\(|auth\(|auth[ \t]?=[ \t]?\(/.test(lower))
    for (const match of matches(PAIR, text)) {
      const at = groupAt(match, 1);
      if (at && looksChosen(match[1] ?? "")) yield { start: at[0], end: at[1], kind: "password" };
    }
  if (lower.includes("identified"))
    for (const match of matches(IDENTIFIED_BY, text)) {
      const at = groupAt(match, 1);
      if (at && !isPlaceholder(match[1] ?? "")) yield { start: at[0], end: at[1], kind: "password" };
    }
  if (lower.includes("insert"))
    for (const match of matches(INSERT, text)) {
      const at = groupAt(match, 2);
      const columns = (match[1] ?? "").split(",");
      const values = (match[2] ?? "").split(",");
      let start = at?.[0] ?? 0;
      for (const [i, value] of values.entries()) {
        const inner = value.trim().replace(/^'|'$/g, "");
        const from = start + value.indexOf(inner);
        const cls = classifyName((columns[i] ?? "").trim());
        if (cls !== undefined && inner !== "" && looksChosen(inner))
          yield { start: from, end: from + inner.length, kind: kindOfName(cls) };
        start += value.length + 1;
      }
    }
};

export const contextFinders: readonly Finder[] = [queryParameters, named, calls];
