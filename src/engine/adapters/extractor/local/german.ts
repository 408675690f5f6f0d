/** The most frequent statements and orders in German. Predicates are the English ones, so that either language replaces the other. */
import { type Clause, type Draft, draft } from "./draft.ts";
import { keyOf, PROPER } from "./phrases.ts";

interface Form {
  readonly shape: RegExp;
  readonly predicate: string;
  readonly says: string;
  readonly permanence: Draft["permanence"];
  readonly importance: number;
  readonly many?: true;
  /** The sense that this one ends. */
  readonly ends?: string;
}

const THING = String.raw`([\p{L}\p{N}][\p{L}\p{N}' -]{1,50}?)`;
const NAME = String.raw`(\p{Lu}[\p{L}'-]+(?: \p{Lu}[\p{L}'-]+){0,2})`;
const JOB = String.raw`((?:\p{Lu}[\p{L}-]*(?:in|er|or|ist|arzt|ärztin|mann|frau|loge|ent|ant|kraft|pfleger|schwester|kaufmann)))`;
const form = (
  pattern: string,
  predicate: string,
  says: string,
  permanence: Form["permanence"],
  importance: number,
) => ({
  shape: new RegExp(`^${pattern}$`, "u"),
  predicate,
  says,
  permanence,
  importance,
});
const SURE = "(?:(?:sehr|wirklich|total|besonders|auch|echt|gerade|derzeit|zurzeit) )*";

const FORMS: readonly Form[] = [
  form(`[Ii]ch heiße ${NAME}`, "name", "heißt", "permanent", 8),
  form(`[Mm]ein Name ist ${NAME}`, "name", "heißt", "permanent", 8),
  form(`[Ii]ch (?:wohne|lebe) ${SURE}in (${PROPER})`, "lives_in", "wohnt in", "stable", 8),
  form(`[Ii]ch komme ${SURE}aus (${PROPER})`, "comes_from", "kommt aus", "permanent", 7),
  form(`[Ii]ch wurde in (${PROPER}) geboren`, "born_in", "ist geboren in", "permanent", 8),
  form(`[Ii]ch bin (?:eine? )?${JOB}`, "occupation", "arbeitet als", "stable", 7),
  form(`[Ii]ch arbeite ${SURE}als ${THING}`, "occupation", "arbeitet als", "stable", 7),
  form(`[Ii]ch arbeite ${SURE}bei ${THING}`, "works_at", "arbeitet bei", "stable", 7),
  form("[Ii]ch bin (vegan|vegetarisch|Vegetarierin|Vegetarier|Veganerin|Veganer)", "diet", "ist", "stable", 8),
  {
    ...form(`[Ii]ch bin ${SURE}allergisch gegen ${THING}`, "allergic_to", "ist allergisch gegen", "permanent", 9),
    many: true,
  },
  {
    ...form(`[Ii]ch (?:mag|liebe) ${SURE}(?!kein|nicht|es |das |dich|euch|sie )${THING}`, "likes", "mag", "stable", 5),
    many: true,
    ends: "dislikes",
  },
  {
    ...form(`[Ii]ch (?:mag|esse) keine?n? ${THING}`, "dislikes", "mag nicht:", "stable", 6),
    many: true,
    ends: "likes",
  },
  {
    ...form(`[Ii]ch (?:hasse|verabscheue) ${SURE}(?!es |das |dich )${THING}`, "dislikes", "hasst", "stable", 5),
    many: true,
    ends: "likes",
  },
  { ...form(`[Ii]ch bevorzuge ${THING}`, "prefers", "bevorzugt", "stable", 5), many: true },
];
const FAVOURITE = new RegExp(`^[Mm]eine? Lieblings(\\p{Ll}+) (?:ist|sind) ${THING}$`, "u");
const UNSURE =
  /\b(?:wenn|falls|würde|könnte|möchte|vielleicht|nicht|nie|es|das|dass|sie|ihn|dort|hier|weil|aber|heute|morgen|gestern|mehr|sagt|sagte)\b/iu;

export function german(text: string, clause: Clause): Draft[] {
  if (!/^(?:ich|mein|meine)\b/iu.test(text)) return [];
  const who = clause.person.subject === "user" ? "Der Nutzer" : clause.person.name;
  const said = text.replace(/(?<![.!,\s])[.!,\s]+$/, "");
  const favourite = FAVOURITE.exec(said);
  if (favourite?.[1] !== undefined && favourite[2] !== undefined && !UNSURE.test(favourite[2]))
    return [
      draft(clause, {
        predicate: `favourite_${favourite[1]}`,
        content: `${who} nennt als Lieblings${favourite[1]}: ${favourite[2]}`,
        permanence: "stable",
        confidence: 0.9,
      }),
    ];
  for (const one of FORMS) {
    const object = one.shape.exec(said)?.[1];
    if (object === undefined || UNSURE.test(object)) continue;
    const key = keyOf(object);
    return [
      draft(clause, {
        predicate: one.many === true ? `${one.predicate}:${key}` : one.predicate,
        content: `${who} ${one.says} ${object}`,
        permanence: one.permanence,
        importance: one.importance,
        confidence: 0.9,
        value: object,
        ends: one.ends === undefined ? [] : [`${one.ends}:${key}`],
      }),
    ];
  }
  return [];
}

const POINTING = /\b(?:das|dies|diese[rsnm]?|es|ihn|hier|dort|heute|morgen|jetzt gleich|Sorgen)\b/iu;
const ORDER =
  /^(?:bitte )?(?:(?:immer|niemals|nie) (?:\p{L}+ ){1,20}\p{L}+|(?:antworte|schreib|schreibe|sprich|verwende|nutze|benutze|frag|frage) (?:mir |mich )?(?:bitte )?(?:immer|niemals|nie|nur|stets) .{3,120})$/iu;
const FROM_NOW = /^(?:ab jetzt|von nun an|in zukunft|künftig|ab sofort)[,:]? (?:bitte )?((?:\p{L}|[\d .'-]){6,140})$/iu;

/** A lasting order in German, as it was said. */
export function germanInstruction(text: string): string | undefined {
  const said = text.replace(/(?<![.!,\s])[.!,\s]+$/, "");
  const order = FROM_NOW.exec(said)?.[1] ?? (ORDER.test(said) ? said.replace(/^bitte /i, "") : undefined);
  if (
    order === undefined ||
    POINTING.test(order) ||
    !/(?:en|ern|eln|tu|sein|immer|nie|niemals|nur|stets)\b/iu.test(order)
  )
    return undefined;
  return `${order.charAt(0).toUpperCase()}${order.slice(1)}.`;
}
