/** Whom a clause is about, by the words that it starts with. */
import type { Clause, Person } from "../draft.ts";
import { KINSHIP } from "../subject.ts";
import type { Row } from "../table.ts";

export type Subject = Pick<Clause, "person" | "rest"> & Partial<Clause>;

/** A clause of a known speaker. */
export interface Spoken {
  readonly person: Person;
  readonly text: string;
}

const TELLING = /\b(?:said|says|told|tells|thinks|claims?|asked|according to|quote|reads|called me|heard)\b/i;
const NOBODY =
  /^(?:he|she|it|they|we|you|i|this|that|these|those|there|here|who|what|which|everyone|everybody|someone|somebody|nobody|noone|one|my|our|your|his|her|their|its|the|a|an|if|when|while|where|how|why|not|never|always|and|or|but|so|as|at|in|on|for|to|of|by|with|from|mine|yours|all|both|most|many|some|none|nothing|something|anything|everything|today|tomorrow|yesterday|god|life|love|work|nature|family|dance|art|music)\b/i;
/** "Won a raffle yesterday": the speaker is left out. An order or a list would not have these forms. */
export const SUBJECTLESS =
  /^(?:Started|Went|Took|Joined|Visited|Met|Finished|Bought|Lost|Got|Had|Signed|Moved|Passed|Won|Adopted|Ran|Made|Saw|Launched|Opened|Graduated|Attended|Hosted|Volunteered|Spent|Began|Been(?= \p{L}+ing))\b/u;
const NOT_SAID = /^(?:Got it|Got you|Lost in|Made by|Made of|Made in|Had to|Got to|Had I|Met with)\b/;
export const THIRD =
  /^((?:[Tt]he |[Tt]his )?[Uu]ser|\p{Lu}[\p{L}'-]+(?: \p{Lu}[\p{L}'-]+){0,2}) (?=(?:is|was|lives|works|has|speaks|studies|loves|likes|hates|dislikes|prefers|enjoys|moved|teaches|plays|uses|does not|no longer|wants|plans|joined|graduated|got|bought|adopted|started)\b)/u;

/** In the examples `gives` is the subject and the rest of the clause. */
export const OF_SPEAKER: readonly Row<Spoken, Subject>[] = [
  {
    name: "I or we",
    pattern: /^(i|we) /i,
    example: "I live in Porto",
    gives: "The user: live in Porto",
    make: ([whole, who], { person, text }) => ({
      person,
      rest: text.slice(whole.length),
      plural: who.toLowerCase() === "we",
    }),
  },
  {
    name: "relative",
    pattern: new RegExp(
      `^(?:my|our) (${KINSHIP})(?:,? (\\p{Lu}\\p{L}+),?)? (?=(?:just |recently |also |really )?(?:is|are|was|lives?|works?|has|have|speaks?|studies|loves?|likes?|enjoys?|hates?|prefers?|moved|teaches|plays|passed|died|got|had|graduated|gave birth|started|bought|retired|adopted)\\b)`,
      "iu",
    ),
    example: "My sister Mia lives in Porto",
    gives: "The user's sister Mia: lives in Porto",
    make: ([whole, kin, name], { person, text }) =>
      TELLING.test(text)
        ? undefined
        : { person, rest: text.slice(whole.length), first: false, relative: name === "" ? kin : `${kin} ${name}` },
  },
  {
    name: "together with somebody",
    pattern:
      /^(?:(?:my|our) ((?:[\p{L}-]+ ){0,2}[\p{L}-]+(?:, \p{Lu}\p{L}+)?) & i|me and (?:my|our) ((?:[\p{L}-]+ ){0,1}[\p{L}-]+)|(some friends(?: from \p{L}+)?) & i) /iu,
    example: "My wife & I bought a boat",
    gives: "The user and their wife: bought a boat",
    make: ([whole, whom, also, friends], { person, text }) => ({
      person,
      rest: text.slice(whole.length),
      plural: true,
      companions: friends === "" ? ` and their ${whom === "" ? also : whom}` : ` and ${friends.toLowerCase()}`,
    }),
  },
  {
    name: "something owned",
    pattern: /^(?:my|our) /i,
    example: "My editor is Helix",
    gives: "The user: my editor is Helix",
    make: (_said, { person, text }) => ({
      person,
      rest: text.charAt(0).toLowerCase() + text.slice(1),
      first: false,
    }),
  },
  {
    name: "speaker left out",
    pattern: SUBJECTLESS,
    example: "Won a raffle",
    gives: "The user: won a raffle",
    not: ["Got it from the shop"],
    make: (_said, { person, text }) =>
      NOT_SAID.test(text)
        ? undefined
        : {
            person,
            rest: text.replace(/^Been\b/, "have been").replace(/^\p{Lu}/u, (letter) => letter.toLowerCase()),
          },
  },
];

export const OF_OTHERS: readonly Row<string, Subject>[] = [
  {
    name: "somebody named",
    pattern: THIRD,
    example: "Grace works at the mill",
    gives: "Grace: works at the mill",
    also: [{ example: "The user lives in Porto", gives: "The user: lives in Porto" }],
    not: ["Everybody likes jazz"],
    make: ([whole, name], text) => {
      if ((NOBODY.test(text) && !/^the user\b/i.test(text)) || TELLING.test(text)) return undefined;
      const isUser = /^(?:the |this )?user$/i.test(name);
      const person = isUser ? { subject: "user", name: "The user" } : { subject: name, name };
      return { person, rest: text.slice(whole.length), first: false, other: !isUser };
    },
  },
];
