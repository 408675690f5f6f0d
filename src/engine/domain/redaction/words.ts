/** What a value looks like: prose, a placeholder, code, a path, a random string, a chosen password. */
import { classifyName } from "./secret-names.ts";

/** Words that sentences are made of; one of them among several words means prose, not a passphrase. */
const GRAMMAR = new Set(
  (
    "a an and any are as at be been before being but by can choose could did do does either enter every for from had has have he her here his how i if in into is it its just least less like may " +
    "might minimum more most must my neither never no not now of off on once one only or our please she should shown since so some something soon still than that the their them then there these they " +
    "this those to too under unless until up use used user users via very was we were what when where which while who whose why will with within without would yes yet you your yours " +
    "also always again already because both required forgot password passwords passphrase"
  ).split(" "),
);
/** Words that follow "password:" or "password is" without being one. */
const PROSE = new Set(
  (
    "string str number int integer float bool boolean null none nil undefined true false unknown void object text varchar char bytes bytea buffer secretstr optional mandatory " +
    "default input prompt value values new old await async function return self type typeof const let var env inherit stdin " +
    "wrong invalid incorrect correct valid empty missing weak strong short long safe secure insecure unsafe hidden blank same different set sent kept lost gone ok okay good bad fine easy hard simple " +
    "complex ready private public sensitive confidential case case-sensitive available reset field fields flow policy manager " +
    "often sometimes usually currently probably almost equal equals enough about above after all another common great important known temporary permanent unique random " +
    "redacted masked removed example placeholder sample dummy todo tbd n/a passcode token tokens secret secrets key keys bearer basic pin"
  ).split(" "),
);
const PROSE_ENDING = /.(?:ed|ing|ly|able|ible|tion|ment|ness)$/;

export function isProseWord(word: string): boolean {
  const plain = word.toLowerCase().replace(/['’](?:s|t|re|ve|ll|d)$/, "");
  return GRAMMAR.has(plain) || PROSE.has(plain) || (/^[a-z]+$/.test(plain) && PROSE_ENDING.test(plain));
}

export function isProse(value: string): boolean {
  return value
    .slice(0, 400)
    .split(/[\s,.;:!?]+/)
    .some((word) => word.length > 1 && GRAMMAR.has(word.toLowerCase()));
}

/** Several words that could have been chosen as a passphrase. */
export function isPhrase(words: string): boolean {
  const list = words.trim().split(/\s+/);
  return list.length >= 3 && !list.some((word) => GRAMMAR.has(word.toLowerCase()) || PROSE_ENDING.test(word));
}

/** Masks, templates and dummies: nothing to hide, and their text says how the real value is supplied. */
export function isMask(value: string): boolean {
  const v = value.trim();
  if (v === "" || /^[x*•.#_?\-–—…]+$/i.test(v)) return true;
  if (/\*{3}|•{3}|x{6}/i.test(v) || /^(?:.{0,16}[-_]|.{0,4})(?:\.{3}|…).{0,8}$/.test(v)) return true;
  if (
    /^(?:\$\{|\$\(|\{\{|\{[\w.]+\}|<[^>]*>$|%\w*%?$|\[(?:redacted|your|insert|hidden|masked)[^\]]*\]$|#\{|@\{)/i.test(v)
  )
    return true;
  // `$ecret1` is a password, `$TOKEN` and `$password` are variables.
  if (/^\$[A-Z_][A-Z0-9_]*$/.test(v) || (/^\$[A-Za-z_]+$/.test(v) && classifyName(v) !== undefined)) return true;
  return /^(?:your|insert|enter|replace|example|placeholder|dummy|change-?_?me)(?:[-_ .]|$)|^your[a-z]*(?:key|token|secret|password)|[-_]your[-_]|[-_]here$/i.test(
    v,
  );
}

export function isPlaceholder(value: string): boolean {
  const word = value.trim().toLowerCase();
  return isMask(value) || PROSE.has(word) || GRAMMAR.has(word);
}

/** What a schema or a form description has where a value would be. */
export function isTypeName(value: string): boolean {
  return /^(?:string|str|text|number|integer|int|boolean|bool|object|array|null|none|nil|undefined|true|false|required|optional)$/i.test(
    value.trim(),
  );
}

/** Code that fetches the value instead of holding it: `process.env.X`, `getpass()`, `os.environ[…`, `user.token`. */
export function isExpression(value: string): boolean {
  return (
    /^[A-Za-z_$][\w$.?!:]*[([{]/.test(value) ||
    /^(?:process\.env|import\.meta|os\.|env\.|secrets\.|vars\.|config\.|settings\.)/.test(value) ||
    /^[A-Za-z_$]+(?:\??\.[A-Za-z_$]+)+$/.test(value) ||
    /^[&*!(]?(?:this|self)[.-]/.test(value) ||
    /^![A-Za-z]+$/.test(value) ||
    /^[([{]/.test(value)
  );
}

export function isReference(value: string): boolean {
  return (
    /^\$?[A-Za-z][A-Za-z0-9_-]*$/.test(value) && /[_-]|[a-z][A-Z]/.test(value) && classifyName(value) !== undefined
  );
}

export function isLocation(value: string): boolean {
  return (
    /^[a-z][a-z0-9+.-]+:\/\//i.test(value) ||
    /^(?:~|\.{1,2}|[A-Za-z]:)?[\\/](?:[\w.@-]+[\\/])*[a-z_.-]{1,40}[\w.-]{0,40}$/.test(value)
  );
}

/**
 * Random strings change between lower case, upper case and digits every two or three characters; identifiers, slugs,
 * dates and versions keep one class for a whole word.
 */
export function looksRandom(value: string, shortest: number): boolean {
  const head = value.slice(0, 256);
  if (head.length < shortest || !/\d/.test(head) || !/[A-Za-z]/.test(head)) return false;
  if (/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(head)) return false;
  if (/^v?\d+(?:\.\d+)+|^\d{4}-\d\d-\d\d/.test(head) || isLocation(head)) return false;
  const parts = head.split(/[-_./:=+~]+/).filter((part) => part !== "");
  if (parts.length > 1 && parts.every((part) => /^(?:[A-Za-z]?[a-z]*\d{0,3}|[A-Z]+\d{0,3}|\d{1,4})$/.test(part)))
    return false;
  const runs = head.match(/[A-Z]?[a-z]+|[A-Z]+|\d+/g) ?? [];
  return new Set(head).size >= 6 && runs.join("").length / runs.length < 3;
}

/** A digit among letters, as in most passwords that people choose; not a version, a date, a size or a known name. */
export function looksChosen(value: string): boolean {
  const v = value.slice(0, 256);
  if (v.length < 4 || !/\p{L}/u.test(v)) return false;
  // Punctuation at the end belongs to the sentence.
  if (!/\d/.test(v) && !/^[^!@#$%^&?~]*[!@#$%^&?~].*[\p{L}$]/u.test(v)) return false;
  if (/^[^@\s]+@[^@\s]+\.\p{L}+$/u.test(v)) return false;
  if (/^v?\d+\.\d+(?:[-+.]\w+)*$|^\d{4}-\d\d-\d\d|^\d+(?:[.,]\d+)?[-\p{L}%°]{1,8}$/iu.test(v)) return false;
  if (
    /^(?:argon2(?:id?|d)?|bcrypt\d*|sha-?\d+|md5|base-?(?:32|58|64)|oauth-?2(?:\.\d)?|utf-?\d+|p-?256|ed25519|es256|rs256|hs256|aes-?\d+\S*)$/i.test(
      v,
    )
  )
    return false;
  return !isPlaceholder(v) && !isExpression(v) && !isLocation(v);
}
