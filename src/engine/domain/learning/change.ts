/** What consolidation knows, and the changes that it can come to. */
import type { Claim, Fact, FactSlot } from "../fact.ts";
import { doubted } from "../lifecycle/doubt.ts";
import { isUntrusted } from "../lifecycle/quarantine.ts";
import type { Rule } from "../rule.ts";
import { GLOBAL_SCOPE, isForEveryButler, learnedScope } from "../scope.ts";
import { lexemes } from "../text/lexemes.ts";
import { isCutOut, type Learned } from "./sureness.ts";
import { atMost, bestTrust, isWeaker, leastTrust, type Trust } from "./trust.ts";

/** An episode of the batch, or one turn of it. */
export interface Witness {
  readonly label: string;
  readonly id: string;
  /** Its own words. */
  readonly text: string;
  readonly trust: Trust;
  /** Undefined and null: not known. */
  readonly session?: string | null;
  readonly occurred_at: Date;
}

export interface KnownFact
  extends Claim,
    Pick<Fact, "id" | "scope" | "confidence" | "trust" | "valid_to" | "waits_until"> {
  /** Under which the extractor saw it. */
  readonly label: string | undefined;
  /** When the latest of its witnesses spoke. */
  readonly observed_at: Date;
  /** Episodes that say so, and episodes that have been found to say otherwise. */
  readonly witnesses: ReadonlySet<string>;
  readonly disputers: ReadonlySet<string>;
}

export interface KnownRule extends Pick<Rule, "id" | "content" | "scope" | "confidence" | "trust"> {
  readonly label: string | undefined;
  readonly witnesses: ReadonlySet<string>;
}

export interface Known {
  readonly facts: readonly KnownFact[];
  readonly rules: readonly KnownRule[];
  /** Cosine between the n-th fact or rule of the answer and a known one; 0 when they were not compared. */
  likeness(kind: "fact" | "rule", nth: number, id: string): number;
}

export interface Batch {
  /** The scope of its episodes. */
  readonly butler: string;
  readonly witnesses: readonly Witness[];
  readonly now: Date;
  /** Who found the n-th fact or rule of the answer. */
  learned(kind: "fact" | "rule", nth: number): Learned;
  /** Of what is too unsure to be told. */
  readonly hintConfidence: number;
  /** What earlier runs have read in some of the same episodes: it has had its effect. */
  readonly readBefore?: readonly ReadBefore[];
}

/** The episodes of an earlier run, and what was read in them. */
export interface ReadBefore {
  readonly episodes: readonly string[];
  readonly facts: readonly Claim[];
  readonly rules: readonly Pick<Rule, "content">[];
}

export type FactDraft = Claim &
  FactSlot &
  Pick<Fact, "permanence" | "importance" | "confidence" | "tags" | "trust" | "valid_from" | "valid_to"> & {
    readonly learned: Learned;
  };

export type RuleDraft = Pick<Rule, "content" | "scope" | "tags" | "trust"> &
  Partial<Pick<Rule, "confidence">> & { readonly learned: Learned };

/** Ids of episodes, never empty. `nth` is its position in the answer, by which its vector is found. */
interface Cited {
  readonly episodes: readonly string[];
  readonly nth: number;
}

interface NewFact extends Cited {
  readonly fact: FactDraft;
  /** Episodes of the batch that say otherwise and are trusted less. */
  readonly disputers: readonly string[];
}

export type Change =
  | (NewFact & { readonly kind: "create_fact"; readonly contradicts: readonly Lowered[] })
  | (NewFact & { readonly kind: "supersede_fact"; readonly replaced: readonly string[] })
  | (Cited & Confirmed & { readonly kind: "confirm_fact" })
  | (Cited & { readonly kind: "contradict_fact"; readonly lowered: Lowered; readonly claim: string })
  | (Cited & { readonly kind: "create_rule"; readonly rule: RuleDraft; readonly contradicts: readonly Lowered[] })
  | (Cited & Confirmed & { readonly kind: "confirm_rule" });

/** `trust` is the highest of those who say so, `voices` that of each episode. */
type Confirmed = Pick<Fact, "id" | "trust"> & { readonly voices: readonly Trust[] };

export type Lowered = Pick<Fact, "id" | "confidence">;

export const DROPPED = [
  "ephemeral",
  "unchanged",
  "repeated",
  "echo",
  "outdated",
  "over",
  "nameless",
  "unknown_episode",
  "unknown_memory",
  "tool_rule",
  "unsure",
] as const;
export type DropReason = (typeof DROPPED)[number];

export interface Dropped {
  readonly kind: "fact" | "rule" | "confirmation";
  readonly nth: number;
  readonly reason: DropReason;
}

export interface Decision {
  readonly changes: readonly Change[];
  readonly dropped: readonly Dropped[];
}

/** From this cosine on, sentences that agree say the same thing. */
export const ALIKE = 0.88;

export const lower = (known: KnownFact | KnownRule, by: Trust): Lowered => ({
  id: known.id,
  confidence: doubted(known.confidence, isWeaker(by, known.trust)),
});
/**
 * Where something that was learned belongs. An extractor may think that everybody should know it; it becomes global when those
 * who are cited have said so.
 */
export function scopeOf(
  learned: "global" | "own",
  aboutPerson: boolean,
  batch: Batch,
  witnesses: readonly Witness[],
): string {
  const saidSo = witnesses.some(({ trust, text }) => !isWeaker(trust, "agent") && isForEveryButler(text));
  return learned === "global" && saidSo ? GLOBAL_SCOPE : learnedScope(batch.butler, aboutPerson);
}

/** Of one moment, the one that was stored last: the ids of episodes are in that order. */
export const inOrder = (a: Witness, b: Witness): number =>
  a.occurred_at.getTime() - b.occurred_at.getTime() || (a.id < b.id ? -1 : Number(a.id > b.id));
export const lastOf = (witnesses: readonly Witness[]): Witness | undefined => witnesses.toSorted(inOrder).at(-1);
/** Several turns of one exchange are one episode. */
export const idsOf = (witnesses: readonly Witness[]): string[] => [...new Set(witnesses.map(({ id }) => id))];

/** Of several who are trusted differently, those count in whose words most of the claim stands. */
const BORNE = 0.6;
/** Less is enough when there is no choice between them: "i moved to graz" says that the user lives in Graz. */
const HELD = 0.5;

function shareIn(words: ReadonlySet<string>, { text }: Witness): number {
  const said = new Set(lexemes(text));
  return [...words].filter((word) => said.has(word)).length / words.size;
}

/**
 * Who speaks for a claim. Who asks "which town is on file?" is cited together with the tool that answers, but did not say it: of
 * several who are cited, those count in whose own words the claim stands. When it stands in nobody's, the least of them counts.
 */
export function voiceOf(claim: string, witnesses: readonly Witness[]): Trust {
  const trusts = witnesses.map(({ trust }) => trust);
  if (new Set(trusts).size < 2) return bestTrust(trusts);
  const words = new Set(lexemes(claim));
  const bearing = witnesses.filter((witness) => shareIn(words, witness) >= BORNE);
  return bearing.length > 0 ? bestTrust(ownWords(bearing).map(({ trust }) => trust)) : leastTrust(trusts);
}

/** Without agents who say what a tool said in their session: they have read it there. */
function ownWords(bearing: readonly Witness[]): readonly Witness[] {
  const tools = bearing.filter(({ trust }) => isUntrusted(trust));
  const hasRead = ({ id, session }: Witness) => tools.some((tool) => tool.id === id || tool.session === session);
  return bearing.filter((witness) => witness.trust !== "agent" || !hasRead(witness));
}

/**
 * Whose word a claim is. What no cited text holds has been concluded or invented by a model, which is trusted as an agent at most,
 * whomever it cites. What the local extractor finds is cut out of the text, so it is not looked for there again.
 */
export function trustOf(claim: string, witnesses: readonly Witness[], foundBy?: Pick<Learned, "by">): Trust {
  const voice = voiceOf(claim, witnesses);
  if (foundBy !== undefined && isCutOut(foundBy)) return voice;
  const words = new Set(lexemes(claim).filter((word) => word !== "user"));
  const isHeld = words.size === 0 || witnesses.some((witness) => shareIn(words, witness) >= HELD);
  return isHeld ? voice : atMost(voice, "agent");
}
