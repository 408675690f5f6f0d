/** The block of memory that an agent is given: what is lasting first, then what fits the prompt, within the token budget. */

import { answerTurn, meanwhile } from "../../adapters/turns.ts";
import { factText } from "../../domain/fact.ts";
import { effectiveConfidence } from "../../domain/lifecycle/decay.ts";
import { MEMORY_TYPES, type MemoryType } from "../../domain/memory-types.ts";
import type { Line, Section } from "../../domain/ranking/budget.ts";
import { FITS } from "../../domain/ranking/fit.ts";
import { type Intent, routed } from "../../domain/ranking/intent.ts";
import { byRank, settledReference } from "../../domain/ranking/scoring.ts";
import { readableScopes } from "../../domain/scope.ts";
import { clip } from "../../domain/text/text.ts";
import type { Candidate } from "../../store/index/search.ts";
import { type Origin, taughtBy } from "../../store/memories/origins.ts";
import type { ProfileItem } from "../../store/memories/profile.ts";
import type { Call } from "../memory.ts";
import { type ContextThen, contextThen } from "../past/as-of.ts";
import { atThatTime } from "../past/past.ts";
import { indexOf } from "../read-model/index-for.ts";
import {
  blockOf,
  type ContextAnswer,
  type ContextInput,
  type ContextItem,
  candidateFact,
  firstOfEach,
  keyOfLine,
  profileLines,
  RULE_TRUST,
  readOf,
  retold,
  saidIn,
} from "./block.ts";
import { FoundLine } from "./found-line.ts";
import { measureReturned } from "./measure.ts";
import { opening } from "./opening.ts";
import { intentOf, type RankedResult, rankResults } from "./rank-results.ts";
import { reference } from "./reference.ts";
import { idlenessOf, keyOf, lineOf, tokensOf } from "./retell.ts";
import { lookOf, type Retrieved, type RetrieveQuery, retrieve } from "./retrieve.ts";
import { hasMostWords, toldOnce } from "./told-once.ts";

/** Candidates of each type and arm; what ranks below does not get into a block of a few thousand tokens. */
const PER_TYPE = 20;
const PROFILE_LIMIT = 40;
/** Of a longer prompt only the beginning is searched for: reading thousands of pasted words would hold up other calls. */
const PROMPT_CHARS = 20_000;

export async function context(call: Call, input: ContextInput): Promise<ContextAnswer> {
  if (input.opening === true) return opening(call, input);
  const { memory } = call;
  const budget = input.token_budget ?? memory.settings.retrieval.context_token_budget;
  const asked = input.as_of === undefined ? call : await atThatTime(call, input.as_of);
  const query = {
    ...contextQuery(call, input.trigger_prompt),
    exceptSession: input.except_session,
    ahead: (found: readonly Candidate[]) => makeLines(call, found),
  };
  const [{ lasting, profile, retrieval }, { intent }] = await Promise.all([
    input.as_of === undefined ? contextNow(call, query, input.lasting !== false) : contextAt(asked, query),
    meanwhile(() => intentOf(call, query.text)),
  ]);
  const origins = await originsIn(asked, [...lasting, ...retrieval.results.map(({ candidate }) => candidate)]);
  const said = alreadyKnown(input, origins, retrieval.results);
  await answerTurn();
  const ranked = rankForContext(asked, wanted(retrieval.results, said, input), intent);
  const shown = input.lasting === false ? [] : unsaid(profile, said);
  const sections = arrange(asked, shown, ranked, intent, origins);
  const block = blockOf(call, sections, budget);
  // Only what fits counts as referenced: not what filled up the list, nor what is always shown. Reading the past counts nothing.
  const fitting = new Set(retrieval.results.filter(({ fit }) => fit >= FITS).map(({ candidate }) => candidate.id));
  if (input.as_of === undefined) {
    const told = new Set(block.sections.flatMap(({ items }) => items.map(({ id }) => id)));
    measureReturned(
      call,
      "context",
      ranked.filter(({ id }) => told.has(id)),
    );
    reference(
      call,
      block.sections.flatMap((section) => section.items.filter(({ id }) => fitting.has(id))),
    );
  }
  return {
    ...block,
    ...(retrieval.degraded ? { degraded: retrieval.degraded } : {}),
    ...(input.as_of === undefined ? {} : { as_of: input.as_of.toISOString() }),
  };
}

/** What is made of a memory's text for a block is remembered: most of what the words of a prompt find is told. */
function makeLines(call: Call, found: readonly Candidate[]): void {
  for (const candidate of found) {
    if (isBeside({ candidate, fit: 0 })) continue;
    keyOf(candidate);
    tokensOf(call, candidate, lineOf(candidate, effectiveConfidence(candidate, call.now)));
  }
}

/** Where the facts and rules among these were learned. */
export async function originsIn(
  call: Call,
  found: readonly { readonly type: MemoryType; readonly id: string }[],
): Promise<Origin[]> {
  const learned = found.filter(({ type }) => type !== "episode").map(({ id }) => id);
  return learned.length === 0 ? [] : (await indexOf(call)).origins(learned, call.now);
}

/** What the session was told already, the episodes that say no more than that, and what it has said itself. */
function alreadyKnown(
  { except = [], except_session: session }: ContextInput,
  origins: readonly Origin[],
  found: readonly Retrieved[],
): ReadonlySet<string> {
  const told = new Set(except);
  const candidates = new Map(found.map(({ candidate }) => [candidate.id, candidate]));
  const textOf = (id: string) => wordsOf(candidates.get(id));
  const sources = origins.filter(({ id, episode }) => told.has(id) && hasMostWords(textOf(id), textOf(episode)));
  const own = session === undefined ? [] : taughtBy(session, origins);
  return new Set([...told, ...sources.map(({ episode }) => episode), ...own]);
}

function wordsOf(c: Candidate | undefined): string {
  if (c === undefined) return "";
  return c.type === "fact" ? factText(candidateFact(c)) : retold(readOf(c));
}

function wanted(
  found: readonly Retrieved[],
  said: ReadonlySet<string>,
  { min_fit: floor = 0 }: ContextInput,
): readonly Retrieved[] {
  return found.filter((one) => !said.has(one.candidate.id) && one.fit >= floor && !isBeside(one));
}

/** What teaches nothing ("good morning", "run the tests again") is told only to a prompt that asks for nothing else. */
const ASKED_FOR = 0.75;

export function isBeside({ candidate, fit }: Pick<Retrieved, "candidate" | "fit">): boolean {
  if (candidate.type !== "episode") return false;
  const idle = idlenessOf(candidate);
  return idle === "empty" || (fit < ASKED_FOR && idle === "idle");
}

function unsaid(lines: readonly Line<ContextItem>[], said: ReadonlySet<string>): readonly Line<ContextItem>[] {
  return lines.filter(({ item }) => !said.has(item.id));
}

export function contextQuery({ memory: { settings }, caller }: Call, prompt: string): RetrieveQuery {
  const scopes = readableScopes(caller, undefined);
  return {
    text: clip(prompt, PROMPT_CHARS),
    mode: "hybrid",
    types: MEMORY_TYPES,
    scopes,
    // Two values of one key in a block would leave the choice to the model.
    ladder: scopes,
    minConfidence: settings.facts.retrieval_confidence_threshold,
    trustedOnly: true,
    wanted: PER_TYPE,
    perType: true,
  };
}

interface Found extends ContextThen {
  readonly profile: readonly Line<ContextItem>[];
}

async function contextNow(call: Call, query: RetrieveQuery, withLasting: boolean): Promise<Found> {
  const [{ lasting, profile }, retrieval] = await Promise.all([
    withLasting ? meanwhile(() => lastingLines(call, query)) : { lasting: [], profile: [] },
    retrieve(call, query),
  ]);
  return { lasting, profile, retrieval };
}

async function lastingLines(call: Call, query: RetrieveQuery): Promise<Pick<Found, "lasting" | "profile">> {
  const lasting = await readLasting(call, query);
  const profile = profileLines(call, lasting);
  const { tokenizer } = call.memory;
  return {
    lasting,
    profile: profile.map(({ line, item, key }) => ({ line, item, key, tokens: tokenizer.count(line) })),
  };
}

async function contextAt(call: Call, query: RetrieveQuery): Promise<Found> {
  const found = await contextThen(call, query, PROFILE_LIMIT);
  return { ...found, profile: profileLines(call, found.lasting) };
}

export const readLasting = async (call: Call, { scopes }: RetrieveQuery): Promise<ProfileItem[]> =>
  (await indexOf(call)).profile(lookOf(call, scopes), PROFILE_LIMIT);

export function rankForContext(call: Call, found: readonly Retrieved[], intent: Intent): RankedResult[] {
  const since = (c: Candidate) => settledReference(c, call.now);
  return rankResults(call, found, { rank: "composite", intent, since });
}

export function arrange(
  call: Call,
  profile: readonly Line<ContextItem>[],
  ranked: readonly RankedResult[],
  intent: Intent,
  origins: readonly Origin[],
): Section<ContextItem>[] {
  const { retrieval } = call.memory.settings;
  const { quotas } = routed(retrieval.score_weights, retrieval.quotas, intent);
  const of = (type: MemoryType) =>
    firstOfEach(
      ranked.filter(({ candidate }) => candidate.type === type),
      ({ candidate }) => keyOf(candidate),
    );
  const line = (entry: RankedResult) => new FoundLine(call, entry);
  const rules = of("rule").toSorted((a, b) => trustOf(b.candidate) - trustOf(a.candidate) || byRank(a, b));
  const sections = [
    { name: "profile", heading: "# Always\n", quota: quotas.profile, items: firstOfEach(profile, keyOfLine) },
    {
      name: "facts",
      heading: "# Facts\n",
      quota: quotas.facts,
      items: of("fact").map(line),
    },
    {
      name: "rules",
      heading: "# Rules\n",
      quota: quotas.rules,
      items: rules.map(line),
    },
    {
      name: "episodes",
      heading: "# Earlier\n",
      quota: quotas.episodes,
      items: of("episode").map(line),
    },
  ];
  return toldOnce(sections, origins, (learned, episode) => hasMostWords(learned, saidIn(episode)));
}

const trustOf = (c: Candidate): number => (c.maturity === null ? 0 : RULE_TRUST[c.maturity]);
