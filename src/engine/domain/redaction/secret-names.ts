/** What a name promises about its value. Shared by the redaction of text, of metadata and of the configuration. */
export type NameClass = "password" | "pin" | "secret" | "weak_key";

const PASSWORDS =
  "password passwd passwort pwd pw passphrase passcode pass userpass storepass keypass rootpass kennwort contraseña contrasena mdp senha wachtwoord hasło пароль psk";
const STRONG_KEYS =
  "api access secret private signing encryption decryption master auth account service ssh deploy client license webhook admin jwt hmac aes rsa openai anthropic stripe preshared shared session app";
const BENIGN_KEYS =
  "primary foreign public cache sort partition idempotency object row map dict query registry shortcut hot arrow unique composite search group lookup react routing config index translation message content storage sub parent natural surrogate dedupe lock shard hash json yaml i18n";
const BENIGN_TOKENS =
  "next page continuation pad eos bos unk mask stop sep cls cancel cancellation special max per first last prev previous sync current cursor start end";

const ALONE = "";
const ANY = undefined;

/** The last word of a name, the word before it, and what the two promise. The first row that fits decides. */
const ENDINGS: readonly (readonly [last: string, before: string | undefined, cls: NameClass | undefined])[] = [
  ["pass", ALONE, undefined],
  [PASSWORDS, ANY, "password"],
  ["hash", "password", "password"],
  ["pin otp", ANY, "pin"],
  ["secret authorization credential credentials", ANY, "secret"],
  // Rails calls its signing key SECRET_KEY_BASE.
  ["base", "key", "secret"],
  // npm's `_auth` and Docker's `"auth"` are a user and a password in base64.
  ["auth", ALONE, "weak_key"],
  ["auth", "npm", "weak_key"],
  // kubectl writes `client-key-data`.
  ["data", "key", "weak_key"],
  ["token pat", BENIGN_TOKENS, undefined],
  ["token pat", ANY, "secret"],
  ["key", ALONE, undefined],
  ["key", STRONG_KEYS, "secret"],
  ["key", BENIGN_KEYS, undefined],
  ["key", ANY, "weak_key"],
];

interface Ending {
  readonly before: ReadonlySet<string> | undefined;
  readonly cls: NameClass | undefined;
}

const BY_LAST_WORD = new Map<string, Ending[]>();
for (const [words, before, cls] of ENDINGS)
  for (const last of words.split(" ")) {
    const ending = { before: before === ANY ? ANY : new Set(before.split(" ")), cls };
    BY_LAST_WORD.set(last, [...(BY_LAST_WORD.get(last) ?? []), ending]);
  }

const RUN_TOGETHER =
  /(?:password|passwort|kennwort|passwd|passphrase)$|(?:api|access|secret|private|signing|encryption|preshared|auth)key$|(?:client|app|shared)secret$|(?:access|auth|refresh|id|bot|api|bearer|session)token$/;

function nameWords(name: string): string[] {
  return name
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9À-ɏͰ-ԯ]+/)
    .filter((word) => word !== "" && !/^\d+$/.test(word));
}

/** `dbPassword`, `FOO_TOKEN`, `x-api-key` … but not `token_budget`, `primary_key`, `idempotency_key` or `PWD`. */
export function classifyName(name: string): NameClass | undefined {
  // The mark that stands for a redacted token is no name of one.
  if (name.length > 100 || name === "PWD" || name === "OLDPWD" || name.startsWith("[redacted:")) return undefined;
  const words = nameWords(name);
  const last = words.at(-1) ?? "";
  const before = words.at(-2) ?? ALONE;
  const ending = BY_LAST_WORD.get(last)?.find((row) => row.before === ANY || row.before.has(before));
  if (ending !== undefined) return ending.cls;
  const run = RUN_TOGETHER.exec(last)?.[0];
  if (run === undefined) return undefined;
  return /^(?:pass|kenn)/.test(run) ? "password" : "secret";
}
