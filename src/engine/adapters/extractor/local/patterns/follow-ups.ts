/** Sentences that are understood only with what the same person said before. */
import type { Clause, Draft } from "../draft.ts";
import { keyOf, phrase } from "../phrases.ts";
import { PETS } from "../subject.ts";
import type { Row } from "../table.ts";
import { relation } from "./family.ts";

const startsWithCapital = (text: string) => /^\p{Lu}/u.test(text);

/** The last statement with another value, under the key that the new value has. */
function withValue(last: Draft, said: string): Draft | undefined {
  const value = phrase(said.replace(/,? not [\s\S]*$/i, ""), { strict: true, words: 5 });
  if (last.value === null || value === undefined || startsWithCapital(value) !== startsWithCapital(last.value))
    return undefined;
  if (last.content.split(last.value).length !== 2 || value.split(" ").length > last.value.split(" ").length + 2)
    return undefined;
  const old = keyOf(last.value);
  const keyed = last.predicate.endsWith(`:${old}`);
  return {
    ...last,
    predicate: keyed ? `${last.predicate.slice(0, -old.length)}${keyOf(value)}` : last.predicate,
    content: last.content.replace(last.value, () => value),
    ends: keyed ? [...last.ends, last.predicate] : last.ends,
    value,
    reverses: true,
    needsPrevious: true,
  };
}

/** Sentences that replace the value of the last statement. */
export const CORRECTIONS: { readonly kind: string; readonly rows: readonly Row<Draft, Draft>[] } = {
  kind: "corrections",
  rows: [
    {
      name: "actually it is",
      pattern:
        /^(?:(?:no|oh|oops|wait|sorry|actually|correction|hmm)[,:.!]? )+(?:(?:i (?:mean|meant)(?: to say)?|it's|it is|that's|make that|that should be|should be) )(.+)$/i,
      example: "I live in Porto. Actually, it's Lisbon.",
      gives: "lives_in = The user lives in Lisbon.",
      not: ["Actually, it's Lisbon."],
      make: ([, said], last) => withValue(last, said),
    },
    {
      name: "I meant",
      pattern: /^i (?:meant|mean)(?: to say)? (.+)$/i,
      example: "I love green tea. I meant black tea.",
      gives: "likes:black tea = The user loves black tea.",
      make: ([, said], last) => withValue(last, said),
    },
  ],
};

/** A sentence, as a clause without a subject, and the statement before it. */
export interface FollowUp {
  readonly clause: Clause;
  readonly last: Draft;
}

const NAMELESS = new RegExp(
  `\\b(?:got|adopted|have|has|bought|rescued) (?:an? )?(?:[\\p{L}-]+ ){0,2}(${PETS}|pup)\\b`,
  "iu",
);

/** Sentences that add to the last statement. */
export const ADDITIONS: { readonly kind: string; readonly rows: readonly Row<FollowUp, Draft>[] } = {
  kind: "additions",
  rows: [
    {
      name: "name of a pet",
      pattern: /^(?:her|his|its|their) name(?:'s| is) (\p{Lu}\p{Ll}+)\b/iu,
      example: "I have a parrot. His name is Biscuit.",
      gives: "parrot:Biscuit = The user's parrot is called Biscuit.",
      not: ["His name is Biscuit."],
      make: ([, name], { clause, last }) => {
        const pet = NAMELESS.exec(last.content)?.[1];
        return pet === undefined ? undefined : { ...relation(clause, pet, name), needsPrevious: true };
      },
    },
  ],
};
