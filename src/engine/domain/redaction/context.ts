/** Secrets that a name gives away: assignments, query parameters, flags, elements, calls. */
import { assigned, SHORT_NAME } from "./assignments.ts";
import {
  classOf,
  type Finder,
  groupAt,
  kindOfName,
  matchAt,
  matches,
  type Name,
  type Scan,
  type Span,
} from "./scan.ts";
import { classifyName, type NameClass } from "./secret-names.ts";
import { JUDGED, trimBare } from "./values.ts";
import { isExpression, isLocation, isPlaceholder, isProse, isReference, looksChosen, looksRandom } from "./words.ts";

const QUERY = /(?<=[?&#])([A-Za-z0-9_.-]{1,60})=([^&#\s"'`<>\\)\]]+)/dg;
const QUERY_NAMES = /^(?:sig|signature|x-amz-signature|x-amz-security-token|auth|pass|code_verifier)$/i;
/** Keys that stand openly in addresses, though their owner pays for every use. */
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

/** What is looked for where one of these words stands, and which values are taken. */
const PASSWORD_ARGUMENTS = [
  { near: /credentials?\(|auth\(|auth[ \t]?=[ \t]?\(/, pattern: PAIR, isSecret: looksChosen },
  { near: /identified/, pattern: IDENTIFIED_BY, isSecret: (value: string) => !isPlaceholder(value) },
] as const;

function* passwordArguments({ text, lower }: Scan): Generator<Span> {
  for (const { near, pattern, isSecret } of PASSWORD_ARGUMENTS) {
    if (!near.test(lower)) continue;
    for (const match of matches(pattern, text)) {
      const at = groupAt(match, 1);
      if (at && isSecret(match[1] ?? "")) yield { start: at[0], end: at[1], kind: "password" };
    }
  }
}

/** The values of an INSERT, each judged by the name of its column. */
function* insertedValues({ text, lower }: Scan): Generator<Span> {
  if (!lower.includes("insert")) return;
  for (const match of matches(INSERT, text)) {
    const columns = (match[1] ?? "").split(",");
    let start = groupAt(match, 2)?.[0] ?? 0;
    for (const [i, value] of (match[2] ?? "").split(",").entries()) {
      const inner = value.trim().replace(/^'|'$/g, "");
      const from = start + value.indexOf(inner);
      const cls = classifyName((columns[i] ?? "").trim());
      if (cls !== undefined && inner !== "" && looksChosen(inner))
        yield { start: from, end: from + inner.length, kind: kindOfName(cls) };
      start += value.length + 1;
    }
  }
}

/** One finder for both: where their finds overlap, the first in the text names the kind. */
const calls: Finder = function* (scan): Generator<Span> {
  yield* passwordArguments(scan);
  yield* insertedValues(scan);
};

export const contextFinders: readonly Finder[] = [queryParameters, named, calls];
