/** Statements that were meant to be kept. */
import { draft } from "../draft.ts";
import { keyOf, phrase } from "../phrases.ts";
import type { Table } from "../table.ts";

const REMEMBER =
  /^(?:please )?(?:remember|keep in mind|bear in mind|note|do not forget|for the record|make a note|know)(?:,)? that (.+)$/i;

/** "Remember that the demo is on Friday": a statement that was meant to be kept. */
export const rememberedIn = (sentence: string): string | undefined => REMEMBER.exec(sentence)?.[1];

/** "Remember that …" is worth keeping even when no other table knows what it is about. */
export const NOTES: Table = {
  kind: "notes",
  applies: (clause) => !clause.betweenPeople,
  text: ({ rest }) => phrase(rest, { words: 25 }) ?? "",
  rows: [
    {
      name: "statement",
      pattern: /^.* (?:is|are|was|were|has|have|needs?|must|runs?|lives?|uses?|starts?|ends?|expires?) .*$/i,
      example: "Remember that the garage code is under the third flower pot.",
      gives: "note:garage code is under the third flower pot = The garage code is under the third flower pot.",
      not: ["Remember that feeling."],
      make: ([statement], clause) => [
        draft(clause, {
          predicate: `note:${keyOf(statement)}`,
          content: statement.replace(/^their\b/i, `${clause.person.name}'s`),
          permanence: "standard",
          importance: 6,
          confidence: 0.85,
        }),
      ],
    },
  ],
};
