/** How the agent is told to behave. Only lasting orders count: "fix this" is a task, "always run the tests" is a rule. */
import { thirdPerson, UNTOLD } from "./phrases.ts";

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
/** Comfort and small talk have the form of orders. */
const COMFORT =
  /\b(?:worry|give up|believe in|yourself|your dreams?|be (?:afraid|sorry|proud|happy|positive|strong|kind)|stay (?:positive|strong|safe)|keep (?:going|it up|pushing|shining|up)|forget (?:about|to (?:have|enjoy|smile))|mind|let .{0,80} down|take care|have fun|be yourself|hesitate|ever change)\b/i;
/** A rule has to stand alone, so it must not point to what is on the screen right now. */
const POINTING = /\b(?:this|that|these|those|it|them|they|here|there|he|she|him|above|below|following)\b|§|["“”]/i;
const NOW =
  /\b(?:right now|now|today|tonight|for now|this time|just this once|yet|again|later|tomorrow|first thing|quickly|asap|soon|please\?)\b/i;

const LASTING = new RegExp(`^(?:please )?(always|never) (${VERB}\\b .+)$`, "i");
const FROM_NOW = new RegExp(
  `^(?:from now on|going forward|in (?:the )?future|for future reference|as a (?:general )?rule)[,:]? (?:please )?(?:you (?:should|must) |i want you to |i would like you to )?(?:(always|never) )?((?:do not )?${VERB}\\b .+)$`,
  "i",
);
const NOT = new RegExp(`^(?:please )?(?:do not|don't) (?:ever )?(${VERB}\\b .+)$`, "i");
const MUST_NOT = new RegExp(
  `^(?:you (?:must|should|may) (?:(?:never|not)(?: ever)?)|you are not allowed to) (${VERB}\\b .+)$`,
  "i",
);
const MUST = new RegExp(`^you (?:must|should|have to|need to) always (${VERB}\\b .+)$`, "i");
const SURE = new RegExp(
  `^(?:please )?(?:(?:always )?make sure|be sure|remember|do not forget|take care)(?: to| that you| you)(?: always)? (${VERB}\\b .+)$`,
  "i",
);
const WANT = /^i (?:want|would like|expect|would prefer) you to (?:(always|never) )?((?:not )?(\p{L}+)\b .+)$/iu;
const STOP =
  /^(?:please )?stop ((?:using|adding|apologi[sz]ing|asking|writing|putting|calling|suggesting|including|repeating|committing|creating|saying|sending|pushing|explaining|generating|being)\b ?.*)$/i;
const WHEN = new RegExp(
  `^(?:when|whenever|every time|each time|if|unless|(?:before|after)(?= (?:\\p{L}+ing|you|each|every|any|an?)\\b))\\b (.{4,120}?), (?:then )?(?:please )?(?:(always|never|do not) )?(${VERB}\\b .+)$`,
  "iu",
);
const INSTEAD =
  /^(?:please )?(?:prefer (.+) (?:over|to|instead of) (.+)|use (.+) (?:instead of|rather than|and not|over) (.+)|use ([^,]+), not (.+))$/i;
const STYLE =
  /^(?:please )?((?:keep|make) (?:(?:your|all|the) )?(?:answers?|replies|responses?|explanations?|commits?(?: messages)?|functions?|summaries|emails?|messages|comments?|pull requests?|prs?)\b .+|(?:answer|reply|respond|write|speak|talk)(?: to me)?(?: always| only)? in (?:\p{Lu}\p{Ll}+|bullet points|plain \p{L}+|short sentences|british english)\b.*)$/iu;
/** "Every commit must have a ticket number." */
const EVERY = /^(?:every|each|all) [\p{L} -]{3,40} (?:must|should|needs? to|ha(?:s|ve) to|needs?) [^,]{4,100}$/iu;
const NO_MORE =
  /^(?:please,? )?no (emojis?|emoticons|exclamation marks|em dashes|bullet points|apologies|filler|small talk|semicolons|default exports|trailing commas|abbreviations|jargon)\b(.*)$/i;

/** Without such a word only these verbs are about manners; the others may be a task for once. */
const GENERAL =
  /\b(?:always|never|every|each|all|any|whenever|when|before|after|by default|without|unless|only|from now on)\b/i;
const MANNERS =
  /^(?:not )?(?:answer|reply|respond|speak|talk|call|keep|format|explain|write in|be|act|treat|address|avoid|prefer|cite|use|follow|escape|validate|double-check)\b/i;
const isGeneral = (order: string) => GENERAL.test(order) || MANNERS.test(order);
/** Told for this once. */
const ONCE = /\b(?:you(?: are|'re| have| get)? (?:done|finished|ready|finish|start)|lunch|dinner|breakfast|work)\b/i;

/** Said by the person served, read by the agent: "ask me" is "ask the user". */
function addressed(text: string): string {
  return text
    .replace(/\bmy\b/gi, "the user's")
    .replace(/\b(?:me|us)\b/g, "the user")
    .replace(/\bI am\b/g, "the user is")
    .replace(/\bI have\b/g, "the user has")
    .replace(
      /\bI (?!will|would|can|could|should|must|did|was)(\p{Ll}+)\b/gu,
      (_all, verb: string) => `the user ${thirdPerson(verb)}`,
    )
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

function orderIn(text: string): string | undefined {
  const lasting = LASTING.exec(text);
  if (lasting !== null) return `${lasting[1]?.toLowerCase()} ${lasting[2]}`;
  const on = FROM_NOW.exec(text);
  if (on !== null) return `${on[1] === undefined ? "" : `${on[1].toLowerCase()} `}${on[2]}`;
  const want = WANT.exec(text);
  if (want !== null && (want[1] !== undefined || isGeneral(want[2] ?? "")))
    return `${want[1] === undefined ? "" : `${want[1].toLowerCase()} `}${(want[2] ?? "").replace(/^not /i, "do not ")}`;
  const not = NOT.exec(text) ?? MUST_NOT.exec(text);
  if (not !== null && !/^forget\b/i.test(not[1] ?? "") && !UNTOLD.test((not[1] ?? "").replace(/^\S+ /, "")))
    return `do not ${not[1]}`;
  const sure = SURE.exec(text);
  const must = MUST.exec(text) ?? (sure !== null && isGeneral(sure[1] ?? "") ? sure : null);
  if (must !== null) return `always ${must[1]}`.replace(/^always always /, "always ");
  const stop = STOP.exec(text);
  if (stop !== null) return `stop ${stop[1]}`;
  const none = NO_MORE.exec(text);
  if (none !== null) return `use no ${none[1]}${none[2] ?? ""}`;
  return INSTEAD.test(text) || STYLE.test(text) || EVERY.test(text) ? text.replace(/^please /i, "") : undefined;
}

const SHORTEST = 3;
const LONGEST = 40;

/** The rule that a sentence gives to the agent, or `undefined`. */
export function instruction(told: string): string | undefined {
  const sentence = told
    .replace(/^(?:please )?(.+?),? (from now on|going forward)$/i, "$2, $1")
    .replace(/^(please )?never,? ever,? /i, "$1never ");
  const when = WHEN.exec(sentence);
  const text = when === null ? orderIn(sentence) : sentence;
  if (text === undefined || COMFORT.test(text) || NOW.test(text) || /\?/.test(text)) return undefined;
  if (when !== null && ONCE.test(when[1] ?? "")) return undefined;
  // In "when you find a bug, report it" the sentence itself says what it is.
  const alone = when === null ? text : text.replace(/\b(?:it|them)\b/gi, "");
  if (POINTING.test(alone) || (when !== null && /\b(?:i|we) (?:was|were|would|lived|had)\b/i.test(sentence)))
    return undefined;
  if (
    when !== null &&
    /^if\b/i.test(sentence) &&
    !/\b(?:always|never|do not|ask|tell|stop|use|run)\b/i.test(when[0].slice((when[1] ?? "").length))
  )
    return undefined;
  const said = capital(tidy(addressed(text)));
  const words = said.split(" ").length;
  return words >= SHORTEST && words <= LONGEST ? `${said}.` : undefined;
}

const REMEMBER =
  /^(?:please )?(?:remember|keep in mind|bear in mind|note|do not forget|for the record|make a note|know)(?:,)? that (.+)$/i;

/** "Remember that the demo is on Friday": a statement that was meant to be kept. */
export const rememberedIn = (sentence: string): string | undefined => REMEMBER.exec(sentence)?.[1];
