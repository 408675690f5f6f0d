/** Secrets that are assigned to a name: `password = X`, `API_KEY=X`, `"token": "X"`. */
import { classOf, kindOfName, matchAt, type Name, type Scan, type Span } from "./scan.ts";
import type { NameClass } from "./secret-names.ts";
import { passphraseEnd, readValue, sentenceGoesOn, UNITS, type Value, wholeEnd } from "./values.ts";
import {
  isExpression,
  isLocation,
  isPlaceholder,
  isProse,
  isProseWord,
  isReference,
  looksChosen,
  looksRandom,
} from "./words.ts";

interface Assignment {
  readonly text: string;
  readonly value: Value;
  /** As it is written, without the dashes of a flag. */
  readonly name: string;
  readonly operator: string;
  /** No blanks around the operator. */
  readonly tight: boolean;
}

/** In a language whose sentences are not parsed, a plain word after the name is more often grammar than a password. */
const FOREIGN_NAME = /(?:kennwort|passwort|contraseña|contrasena|mdp|senha|wachtwoord|hasło|пароль)$/i;

const isPin = (value: string) => /^\d{4,8}$/.test(value);
const isNumber = (value: string) => /^\d+$/.test(value);
const isLetters = (value: string) => /^\p{L}+$/u.test(value);
/** `password: 8 characters` */
const isAmount = ({ text, value }: Assignment) => UNITS.test(text.slice(value.end, value.end + 20));
const isUpperCase = (name: string) => /^[A-Z][A-Z0-9_]+$/.test(name);
/** `API_KEY=X`, as in a shell or an `.env` file. */
const isEnvironment = ({ tight, operator, name }: Assignment) => tight && operator === "=" && isUpperCase(name);

type Judge = (value: string, at: Assignment) => boolean;

function quotedSecret(value: string): boolean {
  if (isProseWord(value) || isLocation(value)) return false;
  // 'my_api_key' in an example names the key it stands for.
  if (!/\d/.test(value) && isReference(value)) return false;
  // `credentials: 'same-origin'` is one of the words that an option knows.
  if (/^[a-z]+-[a-z]+$/.test(value)) return false;
  return /\d/.test(value) || value.length >= 8;
}

/** Several words between quotes: in an environment variable even a sentence may be the password. */
const isQuotedPhrase = (value: string, { tight, name }: Assignment) => (tight && isUpperCase(name)) || !isProse(value);

/** Whether a value between quotes is a secret, by what its name promises. */
const QUOTED: Readonly<Record<NameClass, Judge>> = {
  pin: isPin,
  weak_key: (value) => looksRandom(value, 16),
  password: (value, at) => (/\s/.test(value) ? isQuotedPhrase(value, at) : !isProseWord(value) && !isLocation(value)),
  secret: (value, at) => (/\s/.test(value) ? isQuotedPhrase(value, at) && /\d/.test(value) : quotedSecret(value)),
};

const isCode: Judge = (value, { operator }) =>
  operator.startsWith("==") || isExpression(value) || isLocation(value) || isReference(value);

function barePassword(value: string, at: Assignment): boolean {
  const { text, value: read, name } = at;
  if (isNumber(value) && isAmount(at)) return false;
  if (!isLetters(value)) return value.length >= 3;
  if (FOREIGN_NAME.test(name) || text.charAt(read.end) === "<") return false;
  return value.length >= 4 && !isProseWord(value) && !sentenceGoesOn(text, read.end);
}

function bareSecret(value: string, at: Assignment): boolean {
  const environment = isEnvironment(at);
  if (isNumber(value)) return value.length >= 8;
  if (isLetters(value))
    return at.tight && at.operator === "=" && value.length >= (environment ? 4 : 8) && !isProseWord(value);
  if (environment) return value.length >= 4;
  return value.length >= 8 && (/\d/.test(value) || value.length >= 16) && !/^[a-z]+(?:[-_][a-z]+)*$/i.test(value);
}

const bareWeakKey: Judge = (value, at) =>
  looksRandom(value, 16) || (isEnvironment(at) && value.length >= 12 && /\d/.test(value) && /[A-Za-z]/.test(value));

/** The same for a value without quotes. */
const BARE: Readonly<Record<NameClass, Judge>> = {
  pin: (value, at) => isPin(value) && !isAmount(at),
  weak_key: (value, at) => !isCode(value, at) && bareWeakKey(value, at),
  password: (value, at) => !isCode(value, at) && barePassword(value, at),
  secret: (value, at) => !isCode(value, at) && bareSecret(value, at),
};

/** After a name: what closes it, the operator (with a type before it), the gap before the value. */
const OPERATOR =
  /(["'`\])*\\]{0,3}[ \t]{0,8})(:[ \t]{0,4}[A-Za-z][\w.[\]<>|]{0,40}[ \t]{0,4}=(?![=>])|=>|:=|={1,3}|:(?!\/\/)|：)([ \t]{0,8}\*{0,2}[ \t]{0,2})/y;
/** `pass` alone heads test reports as often as passwords. */
export const SHORT_NAME = /^(?:pass|user-?pass)$/;

/** `[]byte("X")`, `Buffer.from('X')`, `N'X'`: what holds the literal. */
const WRAPPER = /(?:\[\]byte\(|Buffer\.from\(|SecretStr\(|(?:new )?String\(|[bruNfL@]{1,2}(?=["']))(?=["'])/y;

/** `master.key`, `redis.auth`: the word before the dot says what the last one is. */
const dotted = (text: string, { start, end }: Name) =>
  /[\w-]{2,30}\.$/.exec(text.slice(Math.max(0, start - 31), start))?.[0].concat(text.slice(start, end)) ?? "";

/** Armoured keys know their own end. */
function literalAt(text: string, from: number): Value | undefined {
  const value = readValue(text, from + (matchAt(WRAPPER, text, from)?.[0].length ?? 0));
  return value?.text.startsWith("-----BEGIN ") ? undefined : value;
}

export function assigned(scan: Scan, name: Name): Span | undefined {
  const { text } = scan;
  const match = matchAt(OPERATOR, text, name.end);
  if (match === null) return undefined;
  const [whole, closing = "", operator = "", gap = ""] = match;
  const before = text.slice(Math.max(0, name.start - 2), name.start);
  // Query parameters have their own reader; `${NAME:-default}` is a template.
  if (/[?&]$|\$\{$/.test(before)) return undefined;
  const written = text.slice(name.start, name.end).replace(/^-+/, "");
  // `PWD` is ODBC's; on a shell's line it is the current folder.
  const short = SHORT_NAME.test(name.lower) || (name.lower === "pwd" && /;\s?$/.test(before));
  const cls = short ? "password" : (classOf(scan, written) ?? classOf(scan, dotted(text, name)));
  if (cls === undefined) return undefined;
  const value = literalAt(text, match.index + whole.length);
  if (value === undefined || (short && !looksChosen(value.text))) return undefined;
  const end = /phrase$/.test(name.lower) ? passphraseEnd(text, value) : value.end;
  const tight = gap === "" && !/\s$/.test(closing);
  const isSecret = (value.quoted ? QUOTED : BARE)[cls];
  const single = isSecret(value.text, { text, value, name: written, operator, tight });
  const hidden = end > value.end || (single && (cls === "pin" || !isPlaceholder(value.text)));
  return hidden ? { start: value.start, end: Math.max(end, wholeEnd(text, value)), kind: kindOfName(cls) } : undefined;
}
