/** Secrets in sentences. */
import { type Finder, matchAt, matches, type Name, type Scan, type Span } from "./scan.ts";
import { passphraseEnd, readValue, sentenceGoesOn, UNITS, type Value, wholeEnd } from "./values.ts";
import { isExpression, isLocation, isPlaceholder, isProse, isProseWord, looksChosen, looksRandom } from "./words.ts";

const ENGLISH = /^(?:password|passcode|passwd|passwort|pwd|passphrase)$/;
/** Nouns of other languages and compounds: their sentences are not parsed, so the value itself must look chosen. */
const FOREIGN =
  /(?:kennwort|passwort|contraseña|contrasena|mdp|senha|wachtwoord|hasło|пароль|密码|密碼|パスワード|password|passe|^clave|^pw|(?:wlan|wifi|wi-fi)-?(?:schlüssel|key|code)|geheimnis|zugangscode)$/;

const FOR =
  "(?:[ \\t]{1,24}(?:for|to|of|on|at|in|that|which|i|we|he|she|they|you)[ \\t]{1,24}(?![ \\t])(?:[^\\n.!?;:]|\\.(?=\\S)){1,60}?)";
const ADVERBS = "(?:[ \\t]{1,24}(?:now|still|set to|changed to|simply|just|called|probably|currently|again|also)){0,4}";
/** "(the password) (for X) is Y", "(the password) for X: Y" */
const SAID = new RegExp(
  `(?:${FOR}?[ \\t]{1,24}(?:is|was|will be|has been)${ADVERBS}[ \\t]{0,24}[:=]?|(?:${FOR}|[ \\t]{0,24}\\([^()\\n]{1,40}\\))[ \\t]{0,24}[:=](?!//))[ \\t]{0,24}(?=\\S)`,
  "iy",
);
/** "changed the password to Y", "log in with password Y": looser grammar, so the value itself must look like one. */
const TO = /[ \t]{1,24}to[ \t]{1,24}(?=\S)/iy;
const BARE = /[ \t]{1,24}(?:to[ \t]{1,24})?(?=\S)/iy;
const BEFORE_BARE =
  /(?<=(?:^|\n|[,;(/]|with|using|use|the|my|mit dem|mit|con la|avec le|le|la|das)[ \t]{0,24}(?:mot de )?)\S/iy;
/** The same of any language: a few words, then a verb, a colon, an arrow or a dash. */
const LINKED =
  /(?:[ \t]{1,24}(?![ \t])[^\n.!?;:]{1,50}?)?(?:[ \t]{0,24}(?:[:=：→–—](?!\/\/)|->)|[ \t]{1,24}-(?=[ \t])|[ \t]{1,24}(?:is|are|was|ist|war|lautet|heißt|heisst|wird|es|era|será|sera|est|c['’]est|était|è|é|to|auf|a|en|à|in|op)(?![\p{L}\d])|は)[ \t]{0,24}[:：]?[ \t]{0,24}(?=\S)/iuy;
/** The same after nouns that English shares: its own verbs have a grammar above. */
const POINTED =
  /(?:[ \t]{1,24}(?![ \t])[^\n.!?;:]{1,50}?)?(?:[ \t]{0,24}(?:[:=：→–—](?!\/\/)|->)|[ \t]{1,24}-(?=[ \t])|[ \t]{1,24}(?:ist|war|lautet|heißt|heisst|wird|será|c['’]est|è|é|auf)(?![\p{L}\d]))[ \t]{0,24}[:：]?[ \t]{0,24}(?=\S)/iuy;
/** "Y is my password", "with Y as the password", "Y as access token" */
const REVERSED = /(?<=(?:is|as)[ \t]{1,24}(?:(?:my|the|our|his|her)[ \t]{1,24})?(?:[\w-]{1,30}[ \t]{1,24}){0,2})\S/iy;
const REVERSED_VALUE =
  /(?:^|[\s"'`])([^\s"'`]{4,64})["'`]?[ \t]{1,24}(?:is[ \t]{1,24}(?:my|the|our|his|her)|as(?:[ \t]{1,24}(?:my|the|our|his|her))?)[ \t]{1,24}(?:[\w-]{1,30}[ \t]{1,24}){0,2}$/di;
/** "Y api key" */
const DIRECTLY_BEFORE =
  /(?:^|[\s"'`])([A-Za-z0-9+/=_-]{24,512})["'`]?[ \t]{1,4}(?:(?:api|access|auth|secret|private|signing)[ \t])?$/d;

function saidEnd(text: string, name: Name, value: Value, strict: boolean): number | undefined {
  const v = value.text;
  const phraseEnd = !strict && name.lower.endsWith("phrase") ? passphraseEnd(text, value) : value.end;
  if (phraseEnd > value.end) return phraseEnd;
  if (isPlaceholder(v) || isExpression(v) || isLocation(v) || /^\d+-[a-z]+/i.test(v)) return undefined;
  if (/^\d+$/.test(v) && (v.length < 4 || UNITS.test(text.slice(value.end, value.end + 20)))) return undefined;
  if (strict) return looksChosen(v) ? value.end : undefined;
  if (value.quoted) return isProse(v) ? undefined : value.end;
  if (isProseWord(v)) return undefined;
  if (/^[\p{L}'’-]+!*$/u.test(v)) return v.length < 4 || sentenceGoesOn(text, value.end) ? undefined : value.end;
  return value.end;
}

function valueAfter({ text }: Scan, name: Name, pattern: RegExp, strict: boolean): Span | undefined {
  const match = matchAt(pattern, text, name.end);
  const value = match === null ? undefined : readValue(text, match.index + match[0].length);
  const end = value === undefined ? undefined : saidEnd(text, name, value, strict);
  if (value === undefined || end === undefined) return undefined;
  return { start: value.start, end: Math.max(end, wholeEnd(text, value)), kind: "password" };
}

function valueBefore({ text }: Scan, name: Name, accept: (value: string) => boolean): Span | undefined {
  const reversed = matchAt(REVERSED, text, name.start) !== null;
  if (
    !reversed &&
    !/[A-Za-z0-9+/=_-]{12}["'`]?[ \t]{1,4}(?:[a-z]{3,7}[ \t])?$/.test(
      text.slice(Math.max(0, name.start - 24), name.start),
    )
  )
    return undefined;
  const from = Math.max(0, name.start - 540);
  const match = (reversed ? REVERSED_VALUE : DIRECTLY_BEFORE).exec(text.slice(from, name.start));
  const at = match?.indices?.[1];
  if (at === undefined || !accept(match?.[1] ?? "")) return undefined;
  return { start: from + at[0], end: from + at[1], kind: "password" };
}

const WIFI_BEFORE = /(?:wi-?fi|wlan|wpa[23]?|network|hotspot)[ -]$/;
const isWifiKey = ({ lower }: Scan, { start, lower: word }: Name) =>
  /^(?:key|code|schlüssel|clave|clé)$/.test(word) && WIFI_BEFORE.test(lower.slice(Math.max(0, start - 9), start));

const passwords: Finder = function* (scan): Generator<Span> {
  let done = 0;
  for (const name of scan.names) {
    if (name.start < done) continue;
    // `${PASSWORD:?must be set}`
    if (scan.text.charAt(name.start - 1) === "{") continue;
    const english = ENGLISH.test(name.lower);
    if (!english && !FOREIGN.test(name.lower) && !isWifiKey(scan, name)) continue;
    const bare = matchAt(BEFORE_BARE, scan.text, name.start) !== null || name.lower === "passwd";
    const span =
      (english ? valueAfter(scan, name, SAID, false) : undefined) ??
      (english ? valueAfter(scan, name, TO, true) : undefined) ??
      valueAfter(scan, name, english ? POINTED : LINKED, true) ??
      (bare ? valueAfter(scan, name, BARE, true) : undefined) ??
      valueBefore(scan, name, looksChosen);
    if (span === undefined) continue;
    yield span;
    done = span.end;
  }
};

/** Lower-case "pin" alone is a pin on a board; it needs an owner, a card or the word code. */
const PIN_WORD =
  /(?:(?<![A-Za-z0-9_])PIN(?: code| number)?|(?<![A-Za-z])[Pp]in (?:code|number)|(?<=(?:my|his|her|our|your|card|sim|bank|debit|phone|door|alarm|the|meine|die|mi|mon|code) )[Pp]in|(?<=(?:door|alarm|gate|access|security|safe|unlock|entry|verification|confirmation|one-time|login|backup|your) )[Cc]ode|(?:zugangs|tür|sicherheits|bestätigungs)code|code d['’]acc[eè]s|(?<=(?:one-time|einmal) ?)pass(?:word|wort)|(?<=(?:safe|lock) )combination|OTP(?: code)?)/iy;
const PIN_VALUE =
  /(?: (?:for|to|of|für|de|du|del) [^\n.!?:;]{1,40}?)?(?:[ \t]{0,24}[:=]|[ \t]{1,24}(?:is|was|ist|lautet|es|est))?(?: now| still)?[ \t]{1,24}["'`]?(\d{4,8}|\d{2}(?:-\d{2}){2,3})(?![\d-]|[.,:]\d)/dy;

const pins: Finder = function* ({ text, names }): Generator<Span> {
  for (const name of names) {
    if (!/pin|code|otp|combination|pass/.test(name.lower)) continue;
    const word = matchAt(PIN_WORD, text, name.start);
    // Written in small letters it is also what a needle is called.
    if (
      word === null ||
      (/^pin$/.test(word[0]) &&
        !/(?:my|his|her|our|your|card|sim|bank|debit|phone|door|alarm|the|meine|die|mi|mon|code) $/i.test(
          text.slice(Math.max(0, name.start - 8), name.start),
        ))
    )
      continue;
    const match = matchAt(PIN_VALUE, text, name.start + word[0].length);
    const at = match?.indices?.[1];
    if (at === undefined || /gpio[ _-]?$/i.test(text.slice(Math.max(0, name.start - 6), name.start))) continue;
    if (!UNITS.test(text.slice(at[1], at[1] + 20))) yield { start: at[0], end: at[1], kind: "pin" };
  }
};

/** Lists of codes that each let one in without the second factor. */
const CODES = /(?:[ \t]*:)?\s{1,4}((?:[a-z0-9]{4,6}-[a-z0-9]{4,6}(?:[\s,]{1,4}|(?=[.]?$)|$)){2,20})/diy;

const backupCodes: Finder = function* ({ text, lower, names }): Generator<Span> {
  for (const name of names) {
    if (
      name.lower !== "codes" ||
      !/(?:backup|recovery|rescue) $/.test(lower.slice(Math.max(0, name.start - 10), name.start))
    )
      continue;
    const match = matchAt(CODES, text, name.end);
    const at = match?.indices?.[1];
    if (at !== undefined && /\d/.test(match?.[1] ?? ""))
      yield { start: at[0], end: at[0] + (match?.[1] ?? "").trimEnd().length, kind: "secret" };
  }
};

const SEED =
  /(?:(?:seed|recovery|mnemonic|backup)[ -]?(?:phrase|words?)|mnemonic|wallet seed)(?: (?:for|of|to) [^\n.!?:;]{1,40}?)?(?:[ \t]*[:=]|[ \t]+(?:is|are|was):?)?[\s"'`“]{1,4}/gi;
const SEED_WORD = /(?:\d{1,2}[.)][ \t]?)?([a-z]{3,8})(?![A-Za-z0-9'’])(?:,?[ \t\r\n]{1,3})?/y;
const NEVER_SEED = new Set(["the", "and", "for", "was", "are", "has", "had", "but", "not", "which", "from", "were"]);

const seedPhrases: Finder = function* ({ text, lower }): Generator<Span> {
  if (!/phrase|mnemonic|words?|seed/.test(lower)) return;
  for (const match of matches(SEED, text)) {
    const start = match.index + match[0].length;
    let end = start;
    let words = 0;
    SEED_WORD.lastIndex = start;
    for (let word = SEED_WORD.exec(text); word !== null && words < 24; word = SEED_WORD.exec(text)) {
      if (NEVER_SEED.has(word[1] ?? "")) break;
      end = word.index + word[0].trimEnd().replace(/,$/, "").length;
      words++;
    }
    if (words >= 12) yield { start, end, kind: "seed_phrase" };
  }
};

/** What follows "key", "token", "secret" and their like, if it is random enough. */
const NEAR =
  /(?:[ \t]{1,24}(?:for|of|to|from|für|de|del|du)[ \t]{1,24}(?![ \t])[^\n.!?;:]{1,40}?)?(?:[ \t]{1,24}\([^()\n]{1,20}\))?([ \t]{0,24}[:=]|[ \t]{1,24}(?:is|was|are|to|ist|lautet|es|est|->))?[ \t"'`(*:]{1,4}([A-Za-z0-9][A-Za-z0-9+/_=.~-]{9,})/diy;
const NEAR_WORD =
  /^(?:[\p{L}\d]+[-_])?(?:keys?|schlüssel|clave|clé|secrets?|tokens?|credentials?|psk|seed|geheimnis)$|(?:key|token|secret|schlüssel)$/u;
/** Before a bare "key": whose it is. Without one of these, hexadecimal is a cache key or a digest. */
const KEPT_KEY =
  /(?:encryption|decryption|master|signing|private|secret|shared|symmetric|session|root|licen[cs]e|aes|hmac|pre-?shared|psk|wpa2?|wi-?fi|wlan|api|access|auth|webhook|app|application|chiffrement|cifrado|der|clé|secret|user|admin|service)[ _-]$/;
const OPEN_KEY =
  /(?:public|pub|verify|verification|site|cache|checksum|primary|foreign|host|idempotency|sort|partition|object|publishable|measurement)[ _-]$/;
/** "clave de cifrado", "clé API", "key passphrase": the words between the noun and its value. */
const OF_WHAT =
  /(?:[ \t]{1,24}(?:de[ \t]{1,24}(?:cifrado|chiffrement|acceso)|d['’]acc[eè]s|api|(?:in[ \t]{1,24})?(?:hex|base64)))?/iy;

const nearSecretWords: Finder = function* (scan): Generator<Span> {
  const { text, lower, names } = scan;
  for (const name of names) {
    if (!NEAR_WORD.test(name.lower)) continue;
    const reversed = valueBefore(
      scan,
      name,
      (value) => looksRandom(value, 24) && /[a-z]/.test(value) && /[A-Z]/.test(value),
    );
    if (reversed !== undefined) yield { ...reversed, kind: "secret" };
    const of = matchAt(OF_WHAT, text, name.end)?.[0].length ?? 0;
    const match = matchAt(NEAR, text, name.end + of);
    const at = match?.indices?.[2];
    if (!match || at === undefined) continue;
    const value = (match[2] ?? "").replace(/(?<!\.)\.+$/, "");
    if (isPlaceholder(value.slice(0, 256)) || isExpression(value.slice(0, 256))) continue;
    const before = lower.slice(Math.max(0, name.start - 16), name.start);
    if (OPEN_KEY.test(before) || OPEN_KEY.test(`${name.lower.replace(/[-_]?keys?$/, "")} `)) continue;
    const bareKey = /^(?:keys?|schlüssel|clave|clé)$/.test(name.lower) && of === 0 && !KEPT_KEY.test(before);
    // A bare "key" often stands before a cache key or a digest; those are hexadecimal.
    if (bareKey && /^(?:[a-z]+[-_:])*[0-9a-f]+$/i.test(value)) continue;
    if (looksRandom(value, match[1] === undefined || bareKey ? 20 : 10))
      yield { start: at[0], end: at[0] + value.length, kind: "secret" };
  }
};

export const languageFinders: readonly Finder[] = [seedPhrases, backupCodes, pins, passwords, nearSecretWords];
