/**
 * What is learned from a batch of episodes, as an extractor answers it, or an agent that consolidates by itself. Episodes and
 * memories are cited by the labels that they were shown under (`e3`, `f12`, `r1`): what was not shown cannot be cited.
 */
import { z } from "zod";
import { PERMANENCE } from "../lifecycle/decay.ts";
import { hasNul, isBlank, isWellFormed } from "../text/text.ts";

/** More than this is not distilled: such an answer is refused as a whole. */
export const MOST = { facts: 60, rules: 20, confirmations: 100 } as const;

const words = (chars: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(chars)
    .refine((text) => !hasNul(text) && isWellFormed(text) && !isBlank(text), {
      error: "has no words, or characters that cannot be stored",
    });
const label = (letters: string) => z.string().regex(new RegExp(`^[${letters}][1-9]\\d{0,3}$`));
const episodes = z.array(label("e")).min(1).max(100).describe("labels of the episodes that say so");
const scope = z.enum(["global", "own"]).describe("own, unless it was said that every butler is to know it");
const day = z
  .string()
  .regex(/^(?!0000)\d{4}-\d{2}-\d{2}$/)
  .refine((text) => !Number.isNaN(Date.parse(text)));

export const LearnedFact = z.strictObject({
  subject: words(200).describe('the person served is "user" unless named'),
  predicate: words(200).describe(
    "such as lives_in; one that can hold several values carries its object: likes:green tea",
  ),
  content: words(2000).describe("one sentence that can be understood alone"),
  permanence: z.enum(PERMANENCE),
  importance: z.number().min(0).max(10).default(5),
  confidence: z.number().min(0).max(1).default(0.8),
  scope: scope.default("own"),
  tags: z.array(words(60)).max(10).default([]),
  valid_from: day.nullable().default(null),
  valid_to: day.nullable().default(null),
  episodes,
  supersedes: label("f").nullable().default(null).describe("the known fact that is no longer true because of this one"),
  contradicts: label("f").nullable().default(null).describe("a known fact that cannot be true beside this one"),
});
export type LearnedFact = z.infer<typeof LearnedFact>;

export const LearnedRule = z.strictObject({
  content: words(2000).describe("how to behave, as an instruction"),
  scope: scope.default("own"),
  tags: z.array(words(60)).max(10).default([]),
  episodes,
});
export type LearnedRule = z.infer<typeof LearnedRule>;

export const Confirmation = z.strictObject({
  id: label("fr").describe("a known fact or rule that these episodes show to be still true"),
  episodes,
});
export type Confirmation = z.infer<typeof Confirmation>;

/** Nothing to learn is a valid answer: three empty lists. */
export const Answer = z.strictObject({
  facts: z.array(LearnedFact).max(MOST.facts).default([]),
  rules: z.array(LearnedRule).max(MOST.rules).default([]),
  confirmations: z.array(Confirmation).max(MOST.confirmations).default([]),
});
export type Answer = z.infer<typeof Answer>;

export const NOTHING_LEARNED: Answer = { facts: [], rules: [], confirmations: [] };
