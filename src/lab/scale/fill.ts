/**
 * A store of any size in minutes. Texts are those of the other benchmarks and their words go through the real index; but only
 * some texts go through the model. The vectors of all others are mixtures: the normalised sum of two or three real ones and
 * a little noise, with token bits of the first two.
 */

import type { Embedding } from "../../engine/adapters/embedder/port.ts";
import { factText } from "../../engine/domain/fact.ts";
import { DECAY_PER_DAY, RULE_DECAY_PER_DAY } from "../../engine/domain/lifecycle/decay.ts";
import { expiryOf, seenUntil } from "../../engine/domain/lifecycle/tiers.ts";
import type { MemoryType } from "../../engine/domain/memory-types.ts";
import { normaliseKey } from "../../engine/domain/text/text.ts";
import { embedText } from "../../engine/memory/embed.ts";
import type { Memory } from "../../engine/memory/memory.ts";
import type { VersionedEmbedder } from "../../engine/memory/recall/versions.ts";
import { visibleUntil } from "../../engine/memory/remember/index-memory.ts";
import { tierPolicy } from "../../engine/memory/settings.ts";
import { asOwner } from "../../engine/memory/tenancy.ts";
import { foldShelf } from "../../engine/store/index/fold.ts";
import { putLexical } from "../../engine/store/index/lexical.ts";
import type { Progress } from "../build.ts";
import { turnOf } from "../hooks/sessions.ts";
import { distinct, episodeText, factOf, type Pick, picker, ruleText } from "../sentences.ts";
import {
  type Born,
  bulkEpisodes,
  bulkFacts,
  bulkRules,
  dropSamples,
  type Mixture,
  putMixtures,
  putSamples,
} from "../sql/sizes.ts";

const TENANT = "default";
const BATCH = 5_000;
const NOISES = 997;
/** Length of the noise that is added to vectors of length 1. */
const NOISE_LENGTH = 0.15;
const QUIET = 0.7;
/** Facts that every context block begins with. */
const PROFILE = 30;
const SEED = 20_260_501;

/** A memory that is about to be stored: the row for its table and the text for the index. */
interface Drafted<Row> {
  readonly row: Row & { readonly id: string };
  readonly scope: string;
  readonly text: string;
  /** Not found by a search: it was superseded, has expired or was forgotten. */
  readonly hidden?: boolean;
}

export interface Kind<Row> {
  readonly type: MemoryType;
  readonly count: number;
  readonly scopes: readonly string[];
  /** When the memory with this number was made; now if left out. */
  at?(index: number): Date;
  draft(p: Pick, index: number, id: string): Drafted<Row>;
  put(rows: readonly Row[]): Promise<void>;
  readonly visibleUntil: Date | undefined;
}

/** Embeds `samples` texts, at most as many as there are memories. */
export const fillScale = (memory: Memory, n: number, samples: number, progress: Progress): Promise<void> =>
  fillKinds(memory, kindsOf(memory, n), samples, progress);

export async function fillKinds(
  memory: Memory,
  kinds: readonly Kind<unknown>[],
  samples: number,
  progress: Progress,
): Promise<void> {
  const { serving } = memory.versions;
  if (serving === undefined) throw new Error("a store of vectors needs a model");
  const n = kinds.reduce((sum, { count }) => sum + count, 0);
  const share = Math.min(1, samples / n);
  const real = kinds.map(({ count }) => Math.min(count, Math.max(1, Math.round(count * share))));
  await embedSamples(memory, serving, kinds, real, progress);
  let done = 0;
  let firstSample = 0;
  for (const [index, kind] of kinds.entries()) {
    const sampled = { from: firstSample, count: real[index] ?? 0 };
    await fillKind(memory, serving, kind, sampled, (count) => progress(done + count, n, `${kind.type}s`));
    done += kind.count;
    firstSample += sampled.count;
  }
  await dropSamples(asOwner(memory, "lab"));
}

const textSeed = (type: MemoryType) => SEED + type.length * 31;

async function embedSamples(
  memory: Memory,
  side: VersionedEmbedder,
  kinds: readonly Kind<unknown>[],
  real: readonly number[],
  progress: Progress,
): Promise<void> {
  const made: Embedding[] = [];
  const total = real.reduce((sum, count) => sum + count, 0);
  for (const [at, kind] of kinds.entries()) {
    const p = picker(textSeed(kind.type));
    for (let index = 0; index < (real[at] ?? 0); index++) {
      made.push(await embedText(side, kind.draft(p, index, "").text, "write"));
      progress(made.length, total, "embedding samples");
    }
  }
  const rows = made.map(({ vector, tokens }) => ({ vector, pieces: tokens.pieces, bits: tokens.bits }));
  const noise = noises(picker(SEED + 1), side.embedder.version.dimensions);
  await putSamples(asOwner(memory, "lab"), rows, (vector) => vector.map((x) => x * QUIET), noise);
}

export function noises(p: Pick, dimensions: number): Float32Array[] {
  return Array.from({ length: NOISES }, () => {
    // The sum of three uniform numbers is near enough to a normal distribution.
    const raw = Float32Array.from({ length: dimensions }, () => p.number(1e6) + p.number(1e6) + p.number(1e6) - 1.5e6);
    const length = Math.sqrt(raw.reduce((sum, x) => sum + x * x, 0));
    return raw.map((x) => (x / length) * NOISE_LENGTH);
  });
}

async function fillKind<Row>(
  memory: Memory,
  side: VersionedEmbedder,
  kind: Kind<Row>,
  sampled: { readonly from: number; readonly count: number },
  progress: (count: number) => void,
): Promise<void> {
  const { ids, clock } = memory;
  const db = asOwner(memory, "lab");
  const words = picker(textSeed(kind.type));
  const mixing = picker(SEED + 2 + kind.type.length);
  const shelves = new Map<string, number>();
  for (const scope of kind.scopes)
    for (const shelf of await memory.shelves.of(TENANT, [scope]))
      if (shelf.type === kind.type) shelves.set(scope, shelf.sk);
  for (let at = 0; at < kind.count; at += BATCH) {
    const size = Math.min(BATCH, kind.count - at);
    const drafts = Array.from({ length: size }, (_, i) => ({
      ...kind.draft(words, at + i, ids.next(kind.at?.(at + i) ?? clock.now())),
      mixture: mixtureOf(mixing, at + i, sampled),
    }));
    const all = drafts.map(({ row, scope, text, mixture, hidden = false }) => ({
      ...mixture,
      id: row.id,
      memoryId: row.id,
      sk: shelves.get(scope) ?? 0,
      text,
      hidden,
    }));
    await kind.put(drafts.map(({ row }) => row));
    const [filed, gone] = [all.filter(({ hidden }) => !hidden), all.filter(({ hidden }) => hidden)];
    await putLexical(db, filed);
    const bytes = side.embedder.version.dimensions / 8;
    await putMixtures(db, side.version, bytes, kind.visibleUntil, filed);
    // The words of a memory that goes are removed, its vector stays.
    if (gone.length > 0) await putMixtures(db, side.version, bytes, clock.now(), gone);
    for (const sk of shelves.values()) await foldShelf(db, sk, BATCH);
    progress(at + size);
  }
}

/** The first memories have the vectors of their own texts. */
export function mixtureOf(
  p: Pick,
  index: number,
  { from, count }: { readonly from: number; readonly count: number },
): Omit<Mixture, "id" | "sk"> {
  const any = () => from + p.number(count);
  const mixed = { first: any(), second: any(), third: p.chance(0.5) ? any() : null, noise: p.number(NOISES) };
  return index < count ? { first: from + index, second: null, third: null, noise: 0 } : mixed;
}

function kindsOf(memory: Memory, n: number): Kind<unknown>[] {
  const now = memory.clock.now();
  const born: Born = { tenant: TENANT, butler: memory.butler, now };
  const scopes = ["global", memory.butler];
  const scope = (p: Pick) => (p.chance(0.4) ? "global" : memory.butler);
  const rules = Math.round(n * 0.05);
  const facts = Math.round(n * 0.15);
  const expiresAt = expiryOf(tierPolicy(memory.settings, "eden"), now);
  const fading = (confidence: number, decay_rate: number) => ({ confidence, decay_rate, last_confirmed_at: now });
  const standard = fading(1, DECAY_PER_DAY.standard);
  const candidate = fading(0.5, RULE_DECAY_PER_DAY);
  const keys = factKeys(facts);
  return [
    kindOf({
      type: "episode",
      scopes,
      count: n - facts - rules,
      draft: (p, index, id) => {
        const content = episodeText(p);
        const row = { id, speaker: null, ...turnOf(index), content, importance: p.number(10) };
        return { row, scope: memory.butler, text: content };
      },
      put: (rows) => bulkEpisodes(asOwner(memory, "lab"), born, expiresAt, rows),
      visibleUntil: seenUntil(expiresAt),
    }),
    kindOf({
      type: "fact",
      scopes,
      count: keys.length,
      draft: (p, index, id) => {
        const { subject, predicate, content } = keys[index] ?? factOf(p);
        const lasting = index < PROFILE;
        const row = {
          id,
          scope: scope(p),
          subject: normaliseKey(subject),
          predicate: normaliseKey(predicate),
          subject_text: subject,
          predicate_text: predicate,
          content,
          importance: lasting ? 8 : p.number(7),
          permanence: lasting ? "stable" : "standard",
          confidence: 1,
          decay_rate: lasting ? DECAY_PER_DAY.stable : DECAY_PER_DAY.standard,
        };
        return { row, scope: row.scope, text: factText(row) };
      },
      put: (rows) => bulkFacts(asOwner(memory, "lab"), born, rows),
      visibleUntil: visibleUntil(memory, standard),
    }),
    kindOf({
      type: "rule",
      scopes,
      count: rules,
      draft: (p, _, id) => {
        const row = { id, scope: scope(p), content: ruleText(p), confidence: 0.5, decay_rate: RULE_DECAY_PER_DAY };
        return { row, scope: row.scope, text: row.content };
      },
      put: (rows) => bulkRules(asOwner(memory, "lab"), born, rows),
      visibleUntil: visibleUntil(memory, candidate),
    }),
  ];
}

/** Lets kinds with different row types share a list: each kind is only given rows that it drafted itself. */
export const kindOf = <Row>(kind: Kind<Row>): Kind<unknown> => kind as Kind<unknown>;

/** One live fact for each subject and predicate. */
function factKeys(count: number) {
  const p = picker(SEED + 3);
  return distinct(
    count,
    () => factOf(p),
    ({ subject, predicate }) => `${normaliseKey(subject)}\n${normaliseKey(predicate)}`,
  );
}
