/** Ways to reach somebody. They are no secrets, and much of what an assistant should know: they are taken out only where the settings say so. */
import { type Finder, matches } from "./scan.ts";

export const PERSONAL_KINDS = ["email", "phone"] as const;
export type PersonalKind = (typeof PERSONAL_KINDS)[number];

const EMAIL =
  /(?<![\p{L}\p{N}._%+-])[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){0,6}\.\p{L}{2,24}(?![\p{L}\p{N}-])/gu;

/** Digits in groups, as people write them. */
const DIGITS = /(?<![\p{L}\p{N}.+/-])(?:\+|00)?\(?\d[\d ()/.-]{5,24}\d(?![\p{L}\p{N}]|[./-]\d)/gu;
/** Twelve numbers of which the first is a year, four with dots, amounts and hours are something else. */
const OTHER = /^\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|^\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}\b|^\d{1,3}(?:\.\d{1,3}){3}$|^\d+\.\d+$/;
const INTERNATIONAL = /^(?:\+|00)[1-9]/;
const GROUPED = /^\(?\d{2,5}\)?[ /.-]\d{3,}|^0\d{2,4}[ /-]?\d/;
const CALLED =
  /(?:phone|tel\.?|telefon\w*|mobile?|cell|handy|nummer|number|call|text|whatsapp|fax|reach|erreich\w*)[^\n]{0,24}$/i;

function isPhone(text: string, start: number, found: string): boolean {
  const digits = found.replace(/\D/g, "").length;
  if (digits < 7 || digits > 15 || OTHER.test(found)) return false;
  if (INTERNATIONAL.test(found)) return digits >= 8;
  return GROUPED.test(found)
    ? /^\(?0/.test(found) || CALLED.test(before(text, start)) || NORTH_AMERICAN.test(found)
    : CALLED.test(before(text, start));
}

const NORTH_AMERICAN = /^\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}$/;
const before = (text: string, start: number): string => text.slice(Math.max(0, start - 40), start);

export const personalFinders: Readonly<Record<PersonalKind, Finder>> = {
  *email({ text }) {
    if (!text.includes("@")) return;
    for (const { index, 0: found } of matches(EMAIL, text))
      yield { start: index, end: index + found.length, kind: "email" };
  },
  *phone({ text }) {
    for (const { index, 0: found } of matches(DIGITS, text))
      if (isPhone(text, index, found)) yield { start: index, end: index + found.length, kind: "phone" };
  },
};
