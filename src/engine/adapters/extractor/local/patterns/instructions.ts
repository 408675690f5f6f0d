/** How the agent is told to behave. Only lasting orders count: "fix this" is a task, "always run the tests" is a rule. */
import { saidOfThem, UNEXPLAINED } from "../phrases.ts";
import { find, type RuleTable } from "../table.ts";

const VERBS =
  `add address answer apologi[sz]e ask assume attach avoid back be book bring bump build buy cache call cc check cite clean close code
  comment commit compile confirm convert copy create default delete deploy disable do document double-check draft edit email enable ensure
  escape explain export fetch flag follow force forget format generate give greet guess handle hard-code hardcode highlight ignore implement
  include inform install introduce invent keep label leave lint list lock log look make mention merge modify mock mute name notify offer open
  order pack pass pay pin plan prefer prefix print publish pull push put quote read rebase recommend record refactor refer release
  remember remind remove rename reorder repeat reply report reserve reset respond restart return review rewrite round run save say schedule
  send set share ship show sign skip sort speak spell split squash stage start state stick stop store suggest summari[sz]e switch
  tag take talk tell test touch track translate treat trust try turn type update upgrade use validate verify wait wear write`
    .split(/\s+/)
    .join("|");
const VERB = `(?:${VERBS})`;
/** Comfort and small talk, which have the form of orders. */
const COMFORT =
  /\b(?:worry|give up|believe in|yourself|your dreams?|be (?:afraid|sorry|proud|happy|positive|strong|kind)|stay (?:positive|strong|safe)|keep (?:going|it up|pushing|shining|up)|forget (?:about|to (?:have|enjoy|smile))|mind|let .{0,80} down|take care|have fun|be yourself|hesitate|ever change)\b/i;
/** A rule has to stand alone, so it must not point to what is on the screen right now. */
const POINTING = /\b(?:this|that|these|those|it|them|they|here|there|he|she|him|above|below|following)\b|§|["“”]/i;
const NOW =
  /\b(?:right now|now|today|tonight|for now|this time|just this once|yet|again|later|tomorrow|first thing|quickly|asap|soon|please\?)\b/i;

/** An order is general with one of these words, or with a verb of manners; any other order may be a single task. */
const GENERAL =
  /\b(?:always|never|every|each|all|any|whenever|when|before|after|by default|without|unless|only|from now on)\b/i;
const MANNERS =
  /^(?:not )?(?:answer|reply|respond|speak|talk|call|keep|format|explain|write in|be|act|treat|address|avoid|prefer|cite|use|follow|escape|validate|double-check)\b/i;
const isGeneral = (order: string) => GENERAL.test(order) || MANNERS.test(order);
/** Conditions that are met once. */
const ONCE = /\b(?:you(?: are|'re| have| get)? (?:done|finished|ready|finish|start)|lunch|dinner|breakfast|work)\b/i;
const LASTING_ORDER = /\b(?:always|never|do not|ask|tell|stop|use|run)\b/i;

/** An order on a condition that is met more than once. */
export const CONDITIONAL_ORDERS: RuleTable = {
  kind: "conditional orders",
  rows: [
    {
      name: "when",
      pattern: new RegExp(
        `^(?:when|whenever|every time|each time|if|unless|(?:before|after)(?= (?:\\p{L}+ing|you|each|every|any|an?)\\b))\\b (.{4,120}?), (?:then )?(?:please )?(?:(?:always|never|do not) )?${VERB}\\b .+$`,
        "iu",
      ),
      example: "When you find a bug, report it first.",
      gives: "When you find a bug, report it first.",
      not: ["When you are done, call the office.", "When we lived in Rome, call costs were high."],
      make: ([sentence, condition]) => {
        if (ONCE.test(condition) || /\b(?:i|we) (?:was|were|would|lived|had)\b/i.test(sentence)) return undefined;
        const once = /^if\b/i.test(sentence) && !LASTING_ORDER.test(sentence.slice(condition.length));
        return once ? undefined : sentence;
      },
    },
  ],
};

/** "Don't touch the tests" does not say which tests, so it is no rule. */
const prohibition = (order: string) =>
  /^forget\b/i.test(order) || UNEXPLAINED.test(order.replace(/^\S+ /, "")) ? undefined : `do not ${order}`;
const withoutPlease = (order: string) => order.replace(/^please /i, "");
const always = (order: string) => `always ${order}`.replace(/^always always /, "always ");
const often = (how: string, order: string) => (how === "" ? order : `${how.toLowerCase()} ${order}`);

export const ORDERS: RuleTable = {
  kind: "orders",
  rows: [
    {
      name: "always or never",
      pattern: new RegExp(`^(?:please )?(always|never) (${VERB}\\b .+)$`, "i"),
      example: "Always run the tests.",
      gives: "Always run the tests.",
      make: ([, how, order]) => often(how, order),
    },
    {
      name: "from now on",
      pattern: new RegExp(
        `^(?:from now on|going forward|in (?:the )?future|for future reference|as a (?:general )?rule)[,:]? (?:please )?(?:you (?:should|must) |i want you to |i would like you to )?(?:(always|never) )?((?:do not )?${VERB}\\b .+)$`,
        "i",
      ),
      example: "From now on, answer in French.",
      gives: "Answer in French.",
      make: ([, how, order]) => often(how, order),
    },
    {
      name: "I want you to",
      pattern: /^i (?:want|would like|expect|would prefer) you to (?:(always|never) )?((?:not )?(\p{L}+)\b .+)$/iu,
      example: "I want you to keep answers short.",
      gives: "Keep answers short.",
      make: ([, how, order]) =>
        how === "" && !isGeneral(order) ? undefined : often(how, order.replace(/^not /i, "do not ")),
    },
    {
      name: "do not",
      pattern: new RegExp(`^(?:please )?(?:do not|don't) (?:ever )?(${VERB}\\b .+)$`, "i"),
      example: "Don't push to main.",
      gives: "Do not push to main.",
      not: ["Don't touch the tests."],
      make: ([, order]) => prohibition(order),
    },
    {
      name: "you must not",
      pattern: new RegExp(
        `^(?:you (?:must|should|may) (?:(?:never|not)(?: ever)?)|you are not allowed to) (${VERB}\\b .+)$`,
        "i",
      ),
      example: "You must never commit secrets.",
      gives: "Do not commit secrets.",
      make: ([, order]) => prohibition(order),
    },
    {
      name: "you must always",
      pattern: new RegExp(`^you (?:must|should|have to|need to) always (${VERB}\\b .+)$`, "i"),
      example: "You should always ask before a release.",
      gives: "Always ask before a release.",
      make: ([, order]) => always(order),
    },
    {
      name: "make sure",
      pattern: new RegExp(
        `^(?:please )?(?:(?:always )?make sure|be sure|remember|do not forget|take care)(?: to| that you| you)(?: always)? (${VERB}\\b .+)$`,
        "i",
      ),
      example: "Make sure to run the linter before every commit.",
      gives: "Always run the linter before every commit.",
      not: ["Remember to buy milk."],
      make: ([, order]) => (isGeneral(order) ? always(order) : undefined),
    },
    {
      name: "stop",
      pattern:
        /^(?:please )?stop ((?:using|adding|apologi[sz]ing|asking|writing|putting|calling|suggesting|including|repeating|committing|creating|saying|sending|pushing|explaining|generating|being)\b ?.*)$/i,
      example: "Stop adding emojis to replies.",
      gives: "Stop adding emojis to replies.",
      make: ([, order]) => `stop ${order}`,
    },
    {
      name: "no",
      pattern:
        /^(?:please,? )?no (emojis?|emoticons|exclamation marks|em dashes|bullet points|apologies|filler|small talk|semicolons|default exports|trailing commas|abbreviations|jargon)\b(.*)$/i,
      example: "No emojis in commit messages.",
      gives: "Use no emojis in commit messages.",
      make: ([, what, more]) => `use no ${what}${more}`,
    },
    {
      name: "this instead of that",
      pattern:
        /^(?:please )?(?:prefer (.+) (?:over|to|instead of) (.+)|use (.+) (?:instead of|rather than|and not|over) (.+)|use ([^,]+), not (.+))$/i,
      example: "Use pnpm instead of npm.",
      gives: "Use pnpm instead of npm.",
      make: ([order]) => withoutPlease(order),
    },
    {
      name: "style",
      pattern:
        /^(?:please )?((?:keep|make) (?:(?:your|all|the) )?(?:answers?|replies|responses?|explanations?|commits?(?: messages)?|functions?|summaries|emails?|messages|comments?|pull requests?|prs?)\b .+|(?:answer|reply|respond|write|speak|talk)(?: to me)?(?: always| only)? in (?:\p{Lu}\p{Ll}+|bullet points|plain \p{L}+|short sentences|british english)\b.*)$/iu,
      example: "Keep your answers short.",
      gives: "Keep the answers short.",
      make: ([order]) => withoutPlease(order),
    },
    {
      name: "every",
      pattern: /^(?:every|each|all) [\p{L} -]{3,40} (?:must|should|needs? to|ha(?:s|ve) to|needs?) [^,]{4,100}$/iu,
      example: "Every commit must have a ticket number.",
      gives: "Every commit must have a ticket number.",
      make: ([order]) => order,
    },
  ],
};

const SHORTENED: Readonly<Record<string, string>> = { m: "is", ve: "has", d: "would", ll: "will" };

/** "I", how often, and the verb. */
const OF_ONESELF =
  /\bI ((?:(?:never|always|usually|often|sometimes|rarely|also|just|only|still|already|really|normally|generally|explicitly|not) )*)(\p{Ll}+(?:['’]t)?)(?![\p{L}'’])/gu;

/** The user says it and the agent reads it: "ask me" becomes "ask the user". */
function addressed(text: string): string {
  return text
    .replace(/\bmy\b/gi, "the user's")
    .replace(/\b(?:me|us)\b/g, "the user")
    .replace(/\bI['’](m|ve|d|ll)\b/g, (_all, short: string) => `the user ${SHORTENED[short]}`)
    .replace(OF_ONESELF, (_all, often: string, verb: string) => `the user ${often}${saidOfThem(verb)}`)
    .replace(/\b(?:I|we)\b/g, "the user")
    .replace(/\byour\b/gi, "the")
    .replace(/(?<![,\s])[,\s]+(?:please|ok|okay|thanks|thank you)$/i, "");
}

const capital = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
const tidy = (text: string) =>
  text
    .replace(/\s+/g, " ")
    .trim()
    .replace(/(?<![.!,;:\s])[.!,;:\s]+$/, "");

const SHORTEST = 3;
const LONGEST = 40;

/** The rule that a sentence gives to the agent, or `undefined`. */
export function instruction(told: string): { readonly row: string; readonly made: string } | undefined {
  const sentence = told
    .replace(/^(?:please )?(.+?),? (from now on|going forward)$/i, "$2, $1")
    .replace(/^(please )?never,? ever,? /i, "$1never ");
  const conditional = find(CONDITIONAL_ORDERS.rows, sentence, sentence);
  const order = conditional ?? find(ORDERS.rows, sentence, sentence);
  if (order === undefined || COMFORT.test(order.made) || NOW.test(order.made) || order.made.includes("?"))
    return undefined;
  // In "when you find a bug, report it" the condition names what "it" is.
  const alone = conditional === undefined ? order.made : order.made.replace(/\b(?:it|them)\b/gi, "");
  if (POINTING.test(alone)) return undefined;
  const said = capital(tidy(addressed(order.made)));
  const words = said.split(" ").length;
  if (words < SHORTEST || words > LONGEST) return undefined;
  const { kind } = conditional === undefined ? ORDERS : CONDITIONAL_ORDERS;
  return { row: `${kind}/${order.row}`, made: `${said}.` };
}
