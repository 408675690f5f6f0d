/**
 * The fact or rule that an episode states in so many words, or nothing. Patterns cannot understand a text, so they take
 * only what cannot be mistaken: one sentence that is an order ("Always …", "Never …"), or a plain statement about
 * somebody named. A wrong fact would outlive the episode it came from.
 */
import { sentencesOf } from "../text/summary.ts";

export type Distilled =
  | { readonly type: "rule"; readonly content: string }
  | { readonly type: "fact"; readonly subject: string; readonly predicate: string; readonly content: string };

const LONGEST = 240;

/** "Never mind", "Always a pleasure" and "Never seen it" are no orders: the second word must be a verb that commands. */
const ORDERS =
  `add answer apologise ask avoid be book bring buy call check cite clean close commit confirm cook copy create
  delete deploy do escape explain follow force format give greet include install keep label leave lock log make mention merge
  offer open order pack pay pin plan prefer print push put quote read record release remind remove reply report reserve
  restart return review round run save say schedule send set share show sign speak start stop store suggest take tell test
  touch translate trust turn update use validate verify wait wash wear write`.split(/\s+/);
const ORDER = new RegExp(`^(?:always|never)\\s+(?:${ORDERS.join("|")})\\s+\\S`, "i");

const NAME = String.raw`(?:The user|User|\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+){0,2})`;
const THING = String.raw`([\p{L}\p{N}][\p{L}\p{N}'’ .&-]{0,59}?)`;
const shape = (middle: string) => new RegExp(`^(${NAME})${middle} ${THING}[.!]?$`, "u");
const ONE_VALUE: readonly { shape: RegExp; predicate: string }[] = [
  { shape: shape(" lives in"), predicate: "lives in" },
  { shape: shape(" works (?:at|for)"), predicate: "works at" },
  { shape: shape("['’]s birthday is(?: on)?"), predicate: "birthday" },
];
/** These can hold of several things at once, so the thing is part of the predicate. */
const MANY_VALUES: readonly { shape: RegExp; predicate: string }[] = [
  { shape: shape(" is allergic to"), predicate: "allergic to" },
  { shape: shape(" (?:likes|loves)"), predicate: "likes" },
  { shape: shape(" (?:dislikes|hates)"), predicate: "dislikes" },
];

const NOBODY =
  /^(?:he|she|it|they|we|you|i|this|that|these|those|there|who|what|everyone|everybody|someone|nobody|one)\b/i;
/** A doubt, a condition, a list, a turn of thought or a moment: what follows is more than one plain lasting statement. */
const NOT_PLAIN =
  /[?,;:"“”]|\b(?:not|no longer|never|maybe|perhaps|might|probably|if|when|while|until|unless|but|and|or|because|today|tonight|tomorrow|yesterday|now|currently|anymore|used to|this|that|to|his|her|their|its|my|your|our|how|it|him|them)\b/i;

export function distil(text: string): Distilled | undefined {
  const [only, ...more] = sentencesOf(text.trim());
  if (only === undefined || more.length > 0 || only.length > LONGEST) return undefined;
  if (ORDER.test(only) && !/\?\s*$/.test(only)) return { type: "rule", content: only };
  return factIn(only);
}

function factIn(sentence: string): Distilled | undefined {
  if (NOBODY.test(sentence)) return undefined;
  for (const many of [false, true])
    for (const { shape, predicate } of many ? MANY_VALUES : ONE_VALUE) {
      const [, name, thing] = shape.exec(sentence) ?? [];
      if (name === undefined || thing === undefined || NOT_PLAIN.test(thing)) continue;
      const subject = /^(?:the )?user$/i.test(name) ? "user" : name;
      return many
        ? { type: "fact", subject, predicate: `${predicate}:${thing.toLowerCase()}`, content: sentence }
        : { type: "fact", subject, predicate, content: thing };
    }
  return undefined;
}
