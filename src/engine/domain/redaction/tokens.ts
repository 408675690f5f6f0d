/** Keys and tokens that are known by their own shape. */
import { type Finder, groupAt, matches, type SecretKind, type Span } from "./scan.ts";
import { looksRandom } from "./words.ts";

const HEX = "[0-9a-f]";
const UUID = `${HEX}{8}-(?:${HEX}{4}-){3}${HEX}{12}`;

/**
 * Tried at the first character of a word only. Every pattern stays linear: it repeats without bound only where nothing after
 * it can fail, and is bounded everywhere else. Group 1, where there is one, is the secret.
 */
const TOKENS: readonly (readonly [SecretKind, string])[] = [
  ["aws_key", "(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])"],
  ["aws_key", "ABSK[A-Za-z0-9+/]{80,}={0,2}"],
  ["service_token", `amzn\\.mws\\.${UUID}`],
  ["google_key", "AIza[\\w-]{35}"],
  ["google_key", "(?:ya29\\.[\\w-]{20,}|GOCSPX-[\\w-]{20,}|1//0[\\w-]{30,})"],
  ["azure_key", "[\\w~.-]{3}\\dQ~[\\w.~-]{31,36}"],
  ["azure_key", "[A-Za-z0-9]{72,80}AZDO[A-Za-z0-9]{4}"],
  ["llm_key", "sk-(?:ant|proj|svcacct|admin|or|lf)-[\\w-]{16,}"],
  ["llm_key", "(?<![_-])sk-[A-Za-z0-9]{20,}"],
  ["llm_key", "(?:gsk_|xai-|pplx-)[A-Za-z0-9]{40,}"],
  ["llm_key", `(?:r8_[A-Za-z0-9]{30,}|sk_${HEX}{40,}|nvapi-[\\w-]{40,}|tvly-[\\w-]{20,}|fc-${HEX}{32}(?![\\w-]))`],
  [
    "llm_key",
    `(?:e2b_${HEX}{40}|csk-[a-z0-9]{40,}|jina_[\\w-]{40,}|pcsk_\\w{40,}|lsv2_(?:pt|sk)_${HEX}{32}_${HEX}{10})`,
  ],
  ["github_token", "(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})"],
  ["gitlab_token", "(?:gl(?:pat|dt|rt|ptt|ft|cbt|soat|imt|oas|agent|ffct)-[\\w-]{20,}|GR1348941[\\w-]{20,})"],
  ["slack_token", "(?:xoxe\\.)?(?:xox[abeoprs]-|xapp-\\d-)[A-Za-z0-9+/-]{10,}"],
  ["slack_token", "hooks\\.slack\\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{20,})"],
  ["stripe_key", "(?:[sr]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{20,})"],
  ["npm_token", "npm_[A-Za-z0-9]{36,}"],
  ["pypi_token", "pypi-[\\w-]{32,}"],
  ["huggingface_token", "(?:hf_|api_org_)[A-Za-z0-9]{30,}"],
  ["telegram_token", "(?<![_-])\\d{8,10}:[\\w-]{35}(?![\\w-])"],
  ["telegram_token", "bot(\\d{8,10}:[\\w-]{35})(?![\\w-])"],
  ["discord_token", "(?<![_.-])[MNO][\\w-]{23,25}\\.[\\w-]{6}\\.[\\w-]{27,40}(?![\\w.-])"],
  ["discord_token", "discord(?:app)?\\.com/api/webhooks/(\\d{5,25}/[\\w-]{40,})"],
  ["service_token", `webhook\\.office\\.com/webhookb2/([\\w@/-]{40,})`],
  ["sendgrid_key", "SG\\.[\\w-]{16,32}\\.[\\w-]{30,64}"],
  ["twilio_key", `(?:SK|AC)${HEX}{32}(?![A-Za-z0-9])`],
  ["jwt", "(?<![_-])(?:ops_)?eyJ[\\w-]{8,}\\.[\\w-]{8,}\\.[\\w-]{8,}"],
  ["service_token", "ops_eyJ[\\w-]{60,}"],
  ["azure_key", "(?:[Aa]ccount[Kk]ey|[Ss]hared[Aa]ccess(?:[Kk]ey|[Ss]ignature))=([A-Za-z0-9+/%&=_-]{16,})"],
  ["private_key", "AGE-SECRET-KEY-1[A-Z0-9]{50,}"],
  ["private_key", "[xyz]prv[A-Za-z0-9]{80,}"],
  ["secret", "\\d{6}(?:-\\d{6}){7}(?![\\d-])"],
  // Clouds and their tools
  ["service_token", `do[opr]_v1_${HEX}{40,}`],
  ["service_token", "hv[sbr]\\.[\\w-]{24,}"],
  ["service_token", "s\\.[A-Za-z0-9]{24}(?![A-Za-z0-9.-])"],
  ["service_token", `dapi${HEX}{32}(?:-\\d)?(?![A-Za-z0-9])`],
  ["service_token", "v1\\.0-[0-9a-f]{24}-[0-9a-f]{100,}"],
  [
    "service_token",
    "(?:HRKU-[\\w-]{30,}|nfp_[A-Za-z0-9]{30,}|rnd_[A-Za-z0-9]{20,}|fm[12]_[A-Za-z0-9+/=_-]{40,}|fo1_[\\w-]{30,})",
  ],
  ["service_token", `(?:sbp_${HEX}{40}|sb_secret_[\\w-]{20,}|pscale_(?:tkn|pw|oauth)_[\\w.-]{30,})`],
  [
    "service_token",
    "(?:LTAI[A-Za-z0-9]{12,24}(?![A-Za-z0-9])|AKID[A-Za-z0-9]{32}(?![A-Za-z0-9])|y[01]_[\\w-]{39,}|AQVN[\\w-]{35,})",
  ],
  ["service_token", "[A-Za-z0-9]{14}\\.atlasv1\\.[\\w-]{60,}"],
  ["service_token", "(?:pul-[0-9a-f]{40}|dp\\.(?:pt|st|ct|sa|scim|audit)\\.(?:[\\w-]{1,30}\\.)?[A-Za-z0-9]{40,})"],
  ["service_token", `st\\.${HEX}{24}\\.${HEX}{32}\\.${HEX}{32}`],
  ["service_token", "A3-[A-Z0-9]{6}-(?:[A-Z0-9]{5,6}-){3,4}[A-Z0-9]{5}(?![A-Z0-9])"],
  ["service_token", "tskey-[a-z]{2,10}-[A-Za-z0-9-]{20,}"],
  // Code hosts, builds and package registries
  ["service_token", "(?:ATBB[A-Za-z0-9]{24,}|AT(?:CTT|ATT)3x[\\w-]{40,}(?:=[0-9A-F]{8})?|BBDC-[A-Za-z0-9+/_-]{40,})"],
  ["service_token", `(?:CCIPAT_|CCIPRJ_)\\w{40,}|bk(?:ua|at|rt)_${HEX}{40}|sq[apu]_${HEX}{40}`],
  [
    "service_token",
    "(?:rubygems_[0-9a-f]{40,}|cio[A-Za-z0-9]{32}(?![A-Za-z0-9])|oy2[a-z0-9]{43}(?![A-Za-z0-9])|CLOJARS_[0-9a-f]{50,})",
  ],
  ["service_token", "(?:AKCp[A-Za-z0-9]{60,}|cmVmdGtuO[A-Za-z0-9+/=]{40,}|dckr_[po]at_[\\w-]{20,})"],
  // Work, mail, shops, payment
  [
    "service_token",
    "(?:lin_(?:api|oauth)_[A-Za-z0-9]{30,}|ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43}(?![A-Za-z0-9]))",
  ],
  ["service_token", `pat[A-Za-z0-9]{14}\\.${HEX}{64}`],
  ["service_token", `[01]/\\d{12,18}(?:/\\d{12,18})?:${HEX}{32}`],
  [
    "service_token",
    "(?:figd_[\\w-]{30,}|PMAK-[0-9a-f]{24}-[0-9a-f]{34}|CFPAT-[\\w-]{40,}|sl\\.(?:u\\.)?[\\w-]{100,}|tfp_\\w{40,})",
  ],
  [
    "service_token",
    `(?:pk_\\d{6,10}_[A-Z0-9]{32}|pat-(?:na|eu)\\d-${UUID}|pnu_[A-Za-z0-9]{36}|rdme_[a-z0-9]{60,}|fio-u-[\\w-]{50,})`,
  ],
  [
    "service_token",
    "(?:key-[0-9a-f]{32}(?![\\w-])|[0-9a-f]{32}-us\\d{1,2}(?!\\w)|[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![\\w-]))",
  ],
  ["service_token", "(?:xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}|re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,})"],
  ["service_token", `shp(?:at|ca|pa|ss|tka)_${HEX}{32}`],
  ["service_token", "(?:EAAA[\\w-]{56,}|sq0(?:atp|csp|idp)-[\\w-]{22,})"],
  ["service_token", `access_token\\$(?:production|sandbox)\\$[a-z0-9]{16}\\$${HEX}{32}`],
  ["service_token", `(?:access|link|public)-(?:production|sandbox|development)-${UUID}`],
  [
    "service_token",
    "(?:FLWSECK(?:_TEST)?-[\\w-]{30,}|EZ[AT]K[A-Za-z0-9]{54}|shippo_(?:live|test)_[0-9a-f]{40}|live_[0-9a-f]{35}(?![0-9a-f]))",
  ],
  // Monitoring
  ["service_token", `(?:sntrys_[A-Za-z0-9+/=_-]{40,}|sntryu_${HEX}{64})`],
  ["service_token", "(?:NRAK-[A-Z0-9]{27}|NRII-[\\w-]{32}|NRRA-[0-9a-f]{42}|[0-9a-f]{36}NRAL)"],
  [
    "service_token",
    `(?:glc_[A-Za-z0-9+/]{32,}={0,2}|glsa_[A-Za-z0-9]{32}_${HEX}{8}|hc[abmx]ik_[a-z0-9]{50,}|dt0[a-z]\\d\\d\\.[A-Z0-9]{24}\\.[A-Z0-9]{64})`,
  ],
  // Hashes of passwords can be tried offline.
  ["password_hash", "\\$(?:2[abxy]|[1567y]|gy|apr1|argon2(?:id?|d)|scrypt|pbkdf2-sha\\d+)\\$[^\\s:\"'`<>]{20,}"],
  ["password_hash", "\\{(?:SSHA|SHA|SMD5|MD5|CRYPT|SSHA256|SSHA512)\\}[A-Za-z0-9+/=$.]{20,}"],
  ["password_hash", `${HEX}{32}:${HEX}{32}(?![0-9a-f])`],
  ["llm_key", "(?:fw_[A-Za-z0-9]{22,}|pa-[\\w-]{40,})"],
  // A short name, `_`, and a long random string: how services without a row of their own write theirs.
  ["service_token", "[a-z][a-z0-9]{1,14}_(?:[a-z]{2,10}_)?[A-Za-z0-9]{32,}(?![\\w-])"],
];

const mixed = (value: string) => /[A-Z]/.test(value) && /[a-z]/.test(value) && /\d/.test(value);
/** Where a shape alone is not enough, since ordinary names are built the same way. */
const NEEDS_MIX = /^(?:pypi-|s\.|fw_|pa-|\d{8,10}:|[MNO][\w-]{23,25}\.)/;
const generic = TOKENS.length - 1;

function accepted(row: number, value: string): boolean {
  if (MASKED.test(value.slice(0, 200))) return false;
  if (row === generic) return mixed(value) && looksRandom(value.slice(value.lastIndexOf("_") + 1), 32);
  return !NEEDS_MIX.test(value) || mixed(value);
}

const TOKEN = new RegExp(`(?<![A-Za-z0-9])(?:${TOKENS.map(([, source]) => `(?:${source})`).join("|")})`, "g");
const SINGLE = TOKENS.map(([, source]) => new RegExp(`^(?:${source})`, "d"));
/** What is masked or a template has nothing to hide. */
const MASKED = /^[A-Za-z]{0,8}[-_]?(?:[a-z]{2,6}[-_])?[xX0*._-]+$|x{8}|\*{3}|[-_]your[-_]/i;

/** No token is shorter, and prose has few such words: only they are looked at. */
const LONG_WORD = /(?<![^\s"'`<>,;|\\])[^\s"'`<>,;|\\]{16,}/g;
/** Addresses and paths are long words too, but of short parts; the parts of a token are not, or have digits. */
const LONG_PART = /[\w+=~-]{16}/;
const LONG_WITH_SIGNS = /[\w+/=~.-]{16}/;
const DIGIT = /\d/;

export const tokens: Finder = function* ({ text }): Generator<Span> {
  for (const word of matches(LONG_WORD, text)) {
    if (!LONG_PART.test(word[0]) && !(DIGIT.test(word[0]) && LONG_WITH_SIGNS.test(word[0]))) continue;
    // The `n` of an escaped line end belongs to the backslash before it.
    const escaped = /^[nrt]/.test(word[0]) && text.charAt(word.index - 1) === "\\" ? 1 : 0;
    const run = escaped === 0 ? word[0] : word[0].slice(1);
    const from = word.index + escaped;
    for (const match of matches(TOKEN, run)) {
      const span = named(run.slice(match.index), from + match.index);
      if (span !== undefined) yield span;
    }
  }
};

/** Which of the shapes it is: the first one that fits and is no mask. */
function named(rest: string, at: number): Span | undefined {
  for (const [row, single] of SINGLE.entries()) {
    const match = single.exec(rest);
    const [start, end] = (match && (groupAt(match, 1) ?? groupAt(match, 0))) ?? [0, 0];
    if (end > start && accepted(row, rest.slice(start, end)))
      return { start: at + start, end: at + end, kind: TOKENS[row]?.[0] ?? "secret" };
  }
  return undefined;
}
