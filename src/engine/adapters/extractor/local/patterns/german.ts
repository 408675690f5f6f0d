/** The most frequent statements and orders in German. Predicates are the English ones, so that either language replaces the other. */
import { type Clause, type Draft, draft } from "../draft.ts";
import { keyOf, PROPER } from "../phrases.ts";
import type { Example, FactRow, RuleTable, Table } from "../table.ts";

interface Form extends Example {
  readonly name: string;
  readonly words: string;
  readonly fact: readonly [predicate: string, says: string, permanence: Draft["permanence"], importance: number];
  /** Several can hold at once, so the object is part of the predicate. */
  readonly many?: true;
  /** The predicate that is no longer true of the object. */
  readonly ends?: string;
}

const THING = String.raw`([\p{L}\p{N}][\p{L}\p{N}' -]{1,50}?)`;
const NAME = String.raw`(\p{Lu}[\p{L}'-]+(?: \p{Lu}[\p{L}'-]+){0,2})`;
const JOB = String.raw`((?:\p{Lu}[\p{L}-]*(?:in|er|or|ist|arzt|ärztin|mann|frau|loge|ent|ant|kraft|pfleger|schwester|kaufmann)))`;
const SURE = "(?:(?:sehr|wirklich|total|besonders|auch|echt|gerade|derzeit|zurzeit) )*";
const UNSURE =
  /\b(?:wenn|falls|würde|könnte|möchte|vielleicht|nicht|nie|es|das|dass|sie|ihn|dort|hier|weil|aber|heute|morgen|gestern|mehr|sagt|sagte)\b/iu;

const userIn = ({ person }: Clause) => (person.subject === "user" ? "Der Nutzer" : person.name);
export const withoutEnd = (text: string): string => text.replace(/(?<![.!,\s])[.!,\s]+$/, "");

const form = (one: Form): FactRow => ({
  ...one,
  pattern: new RegExp(`^${one.words}$`, "u"),
  make: ([, object], clause) => {
    if (UNSURE.test(object)) return undefined;
    const [predicate, says, permanence, importance] = one.fact;
    const key = keyOf(object);
    return [
      draft(clause, {
        predicate: one.many === true ? `${predicate}:${key}` : predicate,
        content: `${userIn(clause)} ${says} ${object}`,
        permanence,
        importance,
        confidence: 0.9,
        value: object,
        ends: one.ends === undefined ? [] : [`${one.ends}:${key}`],
      }),
    ];
  },
});

export const GERMAN: Table = {
  kind: "german",
  applies: ({ rest }) => /^(?:ich|mein|meine)\b/iu.test(rest),
  text: ({ rest }) => withoutEnd(rest),
  rows: [
    {
      name: "Lieblings",
      pattern: new RegExp(`^[Mm]eine? Lieblings(\\p{Ll}+) (?:ist|sind) ${THING}$`, "u"),
      example: "Meine Lieblingsfarbe ist Grün.",
      gives: "favourite_farbe = Der Nutzer nennt als Lieblingsfarbe: Grün.",
      make: ([, kind, what], clause) => {
        if (UNSURE.test(what)) return undefined;
        return [
          draft(clause, {
            predicate: `favourite_${kind}`,
            content: `${userIn(clause)} nennt als Lieblings${kind}: ${what}`,
            permanence: "stable",
            confidence: 0.9,
          }),
        ];
      },
    },
    form({
      name: "heiße",
      words: `[Ii]ch heiße ${NAME}`,
      fact: ["name", "heißt", "permanent", 8],
      example: "Ich heiße Ottilie.",
      gives: "name = Der Nutzer heißt Ottilie.",
    }),
    form({
      name: "mein Name",
      words: `[Mm]ein Name ist ${NAME}`,
      fact: ["name", "heißt", "permanent", 8],
      example: "Mein Name ist Jorid.",
      gives: "name = Der Nutzer heißt Jorid.",
    }),
    form({
      name: "wohne",
      words: `[Ii]ch (?:wohne|lebe) ${SURE}in (${PROPER})`,
      fact: ["lives_in", "wohnt in", "stable", 8],
      example: "Ich wohne in Graz.",
      gives: "lives_in = Der Nutzer wohnt in Graz.",
    }),
    form({
      name: "komme aus",
      words: `[Ii]ch komme ${SURE}aus (${PROPER})`,
      fact: ["comes_from", "kommt aus", "permanent", 7],
      example: "Ich komme aus Linz.",
      gives: "comes_from = Der Nutzer kommt aus Linz.",
    }),
    form({
      name: "geboren",
      words: `[Ii]ch wurde in (${PROPER}) geboren`,
      fact: ["born_in", "ist geboren in", "permanent", 8],
      example: "Ich wurde in Jena geboren.",
      gives: "born_in = Der Nutzer ist geboren in Jena.",
    }),
    form({
      name: "bin von Beruf",
      words: `[Ii]ch bin (?:eine? )?${JOB}`,
      fact: ["occupation", "arbeitet als", "stable", 7],
      example: "Ich bin Lehrerin.",
      gives: "occupation = Der Nutzer arbeitet als Lehrerin.",
    }),
    form({
      name: "arbeite als",
      words: `[Ii]ch arbeite ${SURE}als ${THING}`,
      fact: ["occupation", "arbeitet als", "stable", 7],
      example: "Ich arbeite als Hebamme.",
      gives: "occupation = Der Nutzer arbeitet als Hebamme.",
    }),
    form({
      name: "arbeite bei",
      words: `[Ii]ch arbeite ${SURE}bei ${THING}`,
      fact: ["works_at", "arbeitet bei", "stable", 7],
      example: "Ich arbeite bei der Post.",
      gives: "works_at = Der Nutzer arbeitet bei der Post.",
    }),
    form({
      name: "esse vegan",
      words: "[Ii]ch bin (vegan|vegetarisch|Vegetarierin|Vegetarier|Veganerin|Veganer)",
      fact: ["diet", "ist", "stable", 8],
      example: "Ich bin vegan.",
      gives: "diet = Der Nutzer ist vegan.",
    }),
    form({
      name: "allergisch",
      words: `[Ii]ch bin ${SURE}allergisch gegen ${THING}`,
      fact: ["allergic_to", "ist allergisch gegen", "permanent", 9],
      many: true,
      example: "Ich bin allergisch gegen Erdnüsse.",
      gives: "allergic_to:erdnüsse = Der Nutzer ist allergisch gegen Erdnüsse.",
    }),
    form({
      name: "mag",
      words: `[Ii]ch (?:mag|liebe) ${SURE}(?!kein|nicht|es |das |dich|euch|sie )${THING}`,
      fact: ["likes", "mag", "stable", 5],
      many: true,
      ends: "dislikes",
      example: "Ich mag grünen Tee.",
      gives: "likes:grünen tee = Der Nutzer mag grünen Tee.",
    }),
    form({
      name: "mag kein",
      words: `[Ii]ch (?:mag|esse) keine?n? ${THING}`,
      fact: ["dislikes", "mag nicht:", "stable", 6],
      many: true,
      ends: "likes",
      example: "Ich mag keine Oliven.",
      gives: "dislikes:oliven = Der Nutzer mag nicht: Oliven.",
    }),
    form({
      name: "hasse",
      words: `[Ii]ch (?:hasse|verabscheue) ${SURE}(?!es |das |dich )${THING}`,
      fact: ["dislikes", "hasst", "stable", 5],
      many: true,
      ends: "likes",
      example: "Ich hasse Lakritz.",
      gives: "dislikes:lakritz = Der Nutzer hasst Lakritz.",
    }),
    form({
      name: "bevorzuge",
      words: `[Ii]ch bevorzuge ${THING}`,
      fact: ["prefers", "bevorzugt", "stable", 5],
      many: true,
      example: "Ich bevorzuge kurze Antworten.",
      gives: "prefers:kurze antworten = Der Nutzer bevorzugt kurze Antworten.",
    }),
  ],
};

const POINTING = /\b(?:das|dies|diese[rsnm]?|es|ihn|hier|dort|heute|morgen|jetzt gleich|Sorgen)\b/iu;
const LASTING = /(?:en|ern|eln|tu|sein|immer|nie|niemals|nur|stets)\b/iu;

function lasting(order: string): string | undefined {
  if (POINTING.test(order) || !LASTING.test(order)) return undefined;
  return `${order.charAt(0).toUpperCase()}${order.slice(1)}.`;
}

/** Lasting orders in German, as they were said. */
export const GERMAN_ORDERS: RuleTable = {
  kind: "german orders",
  rows: [
    {
      name: "ab jetzt",
      pattern: /^(?:ab jetzt|von nun an|in zukunft|künftig|ab sofort)[,:]? (?:bitte )?((?:\p{L}|[\d .'-]){6,140})$/iu,
      example: "Ab jetzt bitte kurze Sätze schreiben.",
      gives: "Kurze Sätze schreiben.",
      make: ([, order]) => lasting(order),
    },
    {
      name: "immer",
      pattern:
        /^(?:bitte )?(?:(?:immer|niemals|nie) (?:\p{L}+ ){1,20}\p{L}+|(?:antworte|schreib|schreibe|sprich|verwende|nutze|benutze|frag|frage) (?:mir |mich )?(?:bitte )?(?:immer|niemals|nie|nur|stets) .{3,120})$/iu,
      example: "Antworte mir immer auf Deutsch.",
      gives: "Antworte mir immer auf Deutsch.",
      not: ["Mach dir nie Sorgen."],
      make: ([order]) => lasting(order.replace(/^bitte /i, "")),
    },
  ],
};
