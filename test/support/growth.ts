/** How the work of a function grows with its text, by CPU time: four times the text may take about four times as long, not sixteen. */

const SIZES = [10_000, 20_000, 40_000] as const;
/** Below this nothing is judged: a quadratic pattern takes hundreds of milliseconds for 40 KB. */
const QUIET_MS = 60;
/** Between the 4 of linear work and the 16 of quadratic work, nearer to the latter. */
const MOST_RATIO = 10;
const SURELY_LINEAR = 6;
const RUNS = 8;
/** A thousand characters may be 150 sentences, of which each is read for half a millisecond. */
const TOO_LONG_MS = 400;

function cpuOf(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** The least of several runs: another process, a collection of garbage or a first compilation only ever adds. */
function leastOf(work: () => unknown): number {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < RUNS && least > QUIET_MS / 20; run++) least = Math.min(least, cpuOf(work));
  return least;
}

/** Undefined when the work is at most in proportion to the text; else what was measured. */
export function steepness(make: (chars: number) => string, work: (text: string) => unknown): string | undefined {
  // What explodes would not come back from 10 KB.
  for (const chars of [24, 250, 1_000]) {
    const text = make(chars);
    if (cpuOf(() => work(text)) > TOO_LONG_MS && leastOf(() => work(text)) > TOO_LONG_MS)
      return `over ${TOO_LONG_MS} ms for ${chars} characters`;
  }
  const [small, middle, large] = SIZES.map(make) as [string, string, string];
  // Nearly all end here: sixteen times as long would still be nothing.
  if (cpuOf(() => work(small)) < QUIET_MS / 16) return undefined;
  const first = cpuOf(() => work(large));
  if (first < QUIET_MS || first < SURELY_LINEAR * cpuOf(() => work(small))) return undefined;
  const most = leastOf(() => work(large));
  const least = leastOf(() => work(small));
  if (most < QUIET_MS || most / least < MOST_RATIO) return undefined;
  const between = leastOf(() => work(middle));
  return `${[least, between, most].map((ms) => `${ms.toFixed(1)} ms`).join(", ")} for 10, 20, 40 KB`;
}

const fill = (part: string, chars: number) => part.repeat(Math.ceil(chars / part.length)).slice(0, chars);

/** A repeated part after an opening, and what makes a match fail at the end. */
export const pumped =
  (before: string, part: string, after: string) =>
  (chars: number): string =>
    before + fill(part, chars) + after;

/** Parts that strangers can repeat, each a known way to make some pattern slow. */
export const REPEATED: readonly string[] = [
  ..." \n\t<>\"'`([{|=.,;:-_/\\*#@%&+~^?!a1Aé中👍\u200b\u00a0",
  ..."< |<\n|<a |</|< /|<private|<private>|</private>|<private >a|<butler-memory|<butler-memory>|</butler-memory>|&lt;|&lt;butler-memory".split(
    "|",
  ),
  ...'"a|"a"|."|." |\'s |a" "|a=b; |cookie: a=b; |set-cookie: a=b; |Authorization: |Bearer |x-api-key: |key: |key = |token |token is '.split(
    "|",
  ),
  ...'password |password is |password: |my password for |passwort |the key for |api key |secret_|a_secret=|"key": "|{"a":|[[|((|{{|}}|]]|))'.split(
    "|",
  ),
  ..."a@|@a.|a@b.c |a:b@|://|http://|http://a|http://a:b@|git@|a::|/a|../|a/|a.git|.git|%3|%2f|\\n|\\\\|\\u00|0x|ff|ff:|f0 |1 |1.|1,|1-|1:|12:|2026-|a.|a-|a_|a,|a, |a; |a: |a\n|\na|\n\n".split(
    "|",
  ),
  ..."and |but |, and |I |I like |I am |my |we |always |never |If |User: |User: a\n|- |* |# |> |```\n|~~~|\r\n|\r|-----BEGIN |-----BEGIN RSA PRIVATE KEY-----|eyJ|AKIA|sk-|ghp_|xox".split(
    "|",
  ),
  ...'<system-reminder>|<system-reminder |<skill>|<command-name>|[Request interrupted by user|the user said: |The user |"x"="|$HOME|${|$(|--a |-p |-p=|mysql -p|export A=|A=B\n|aB1|aB1 |a1-'.split(
    "|",
  ),
  "e\u0301",
  "\u0130",
  "\ud83d\ude00 ",
  "Dr. ",
  "A. ",
  "a b ",
  "ab ",
  "the ",
  "seed phrase ",
  "password\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t",
  "key: a..............................",
  "name;passwort\nbob;Semi-K0lon\n",
  "| run | pass | fail |\n|---|---|---|\n",
  "| user | password |\n",
  "пароль: ",
  "pin ",
  "is ",
];
