/**
 * Brings what is stored in line with the keys and the settings: facts of an older key are encrypted with the present one, and facts
 * whose predicate has been added to `encrypt_predicates` for the first time, with their words, vectors and events. Run by hand.
 */
import { isLive } from "../../domain/lifecycle/lifecycle.ts";
import { eachSealed, isSealed, partsOfSealed, sealClaims } from "../../domain/sealed.ts";
import { normaliseKey } from "../../domain/text/text.ts";
import { scrub } from "../../store/erasure/scrub.ts";
import { tenantsWithEvents } from "../../store/history/replay.ts";
import { ownEvents } from "../../store/history/retention.ts";
import { holdMemories } from "../../store/history/undo.ts";
import { foldShelf } from "../../store/index/fold.ts";
import { dropLexical } from "../../store/index/lexical.ts";
import { dropVectors } from "../../store/index/vectors.ts";
import { answersOfRuns, misSealed, type SealedRow, setAnswerOfRun, setContents } from "../../store/jobs/rekey.ts";
import { FIRST_ID } from "../../store/jobs/sweep.ts";
import { vectorsOf } from "../embed.ts";
import type { Memory } from "../memory.ts";
import { indexMemories, visibleUntil } from "../remember/index-memory.ts";
import { fold, holdCheckpoints } from "../retention/checkpoints.ts";
import { indexedFact } from "../sealing.ts";
import { asOwner } from "../tenancy.ts";
import { defineJob, type JobContext } from "./job.ts";
import { type JobTally, newTally } from "./job-call.ts";

const BATCH = 50;

export const rekey = defineJob({
  name: "rekey",
  about:
    "Encrypts with the present key what an older one has encrypted, and facts of predicates that were added since.",
  cron: undefined,
  async run(context) {
    const tally = newTally();
    const { vault } = context.memory;
    if (vault === undefined) return tally.report(true, "there is no key of encryption; see [modules.memory.privacy].");
    const shelves = new Set<number>();
    for (const tenant of await tenantsWithEvents(context.memory.db)) {
      const seal = (text: string) => vault.seal(text, tenant);
      const anew = (text: string): string => {
        if (partsOfSealed(text)?.keyId === vault.current) return text;
        const plain = vault.open(text, tenant);
        return plain === undefined ? text : seal(plain);
      };
      if (!(await sealFacts(context, tally, { tenant, seal, anew }, shelves))) return tally.report(false);
      if (!context.dryRun) await sealRuns(context, { tenant, seal, anew });
    }
    if (shelves.size > 0) await removePlain(context.memory, shelves);
    return tally.report(true);
  },
});

interface Sealer {
  readonly tenant: string;
  readonly seal: (text: string) => string;
  /** A text that is encrypted, with the present key; as it is when its key is not at hand. */
  readonly anew: (text: string) => string;
}

async function sealFacts(context: JobContext, tally: JobTally, sealer: Sealer, shelves: Set<number>): Promise<boolean> {
  const { memory, dryRun } = context;
  const predicates = memory.settings.privacy.encrypt_predicates.map(normaliseKey);
  const query = { tenant: sealer.tenant, current: memory.vault?.current ?? "", predicates };
  for (let after = FIRST_ID; ; ) {
    if (context.interrupted()) return false;
    const rows = await misSealed(memory.db, query, after, BATCH);
    const wanted = rows.filter(({ content }) => !isSealed(content) || sealer.anew(content) !== content);
    const lost = rows.length - wanted.length;
    tally.remark("without_their_key", lost);
    if (lost > 0) tally.problem("some facts are encrypted with a key that is not at hand; they stay as they are.");
    if (dryRun) {
      tally.count("encrypted", wanted.filter(({ content }) => !isSealed(content)).length);
      tally.count("encrypted_anew", wanted.filter(({ content }) => isSealed(content)).length);
    } else if (wanted.length > 0) await sealBatch(context, tally, sealer, wanted, shelves);
    const last = rows.at(-1);
    if (last === undefined || rows.length < BATCH) return true;
    after = last.id;
  }
}

/** One text is encrypted once: the row and the events that hold it stay equal. */
async function sealBatch(
  { memory, now }: JobContext,
  tally: JobTally,
  { tenant, seal, anew }: Sealer,
  rows: readonly SealedRow[],
  shelves: Set<number>,
): Promise<void> {
  const plain = rows.filter(({ content }) => !isSealed(content));
  const vectors = new Map(
    await Promise.all(plain.map(async (row) => [row.id, await vectorsOf(memory, indexedFact(memory, row))] as const)),
  );
  const places = new Map<string, number>();
  for (const { id, scope } of plain) {
    const shelf = (await memory.shelves.of(tenant, [scope])).find(({ type }) => type === "fact");
    if (shelf) places.set(id, shelf.sk);
  }
  await memory.db.tx(async (sql) => {
    const before = await holdCheckpoints(sql, tenant);
    const ids = rows.map(({ id }) => id);
    await holdMemories(sql, tenant, ids);
    const made = new Map<string, string>();
    const once = (text: string): string => {
      const known = made.get(text) ?? (isSealed(text) ? anew(text) : seal(text));
      made.set(text, known);
      return known;
    };
    await setContents(sql, new Map(rows.map(({ id, content }) => [id, once(content)])));
    const events = await ownEvents(sql, tenant, ids);
    const id = memory.ids.next(now);
    const secret = new Set(plain.map((row) => row.id));
    const kept = new Map<string, Record<string, unknown>>();
    for (const event of events) {
      const whole = eachSealed(event.payload, once) as Record<string, unknown>;
      const payload = secret.has(event.entity_id) ? (hideIn(whole, once) as Record<string, unknown>) : whole;
      if (payload !== event.payload) kept.set(event.id, { ...payload, resealed: id });
    }
    const [through, until] = [events.at(-1)?.seq ?? "0", events.at(-1)?.occurred_at ?? now];
    await fold(sql, { id, tenant, kind: "keys", through, until, now }, before, kept, []);
    await dropLexical(sql, [...secret]);
    for (const row of plain) {
      await dropVectors(sql, row.id);
      const sk = places.get(row.id);
      if (sk === undefined) continue;
      shelves.add(sk);
      if (!isLive(row.validity)) continue;
      const until = visibleUntil(memory, row, row.valid_to);
      const text = indexedFact(memory, row);
      await indexMemories(sql, memory, [{ id: row.id, sk, text, vector: vectors.get(row.id), visibleUntil: until }]);
    }
  });
  tally.count("encrypted", plain.length);
  tally.count("encrypted_anew", rows.length - plain.length);
}

/** The content of the row and the claims against it, wherever they stand in a payload. */
function hideIn(payload: Readonly<Record<string, unknown>>, seal: (text: string) => string): unknown {
  const { row, claim } = payload;
  const content = (row as { content?: unknown } | undefined)?.content;
  return {
    ...payload,
    ...(typeof content === "string" && !isSealed(content)
      ? { row: { ...(row as object), content: seal(content) } }
      : {}),
    ...(typeof claim === "string" && !isSealed(claim) ? { claim: seal(claim) } : {}),
  };
}

async function sealRuns({ memory }: JobContext, { tenant, seal, anew }: Sealer): Promise<void> {
  const { encrypt_predicates } = memory.settings.privacy;
  for (let after = FIRST_ID; ; ) {
    const page = await answersOfRuns(memory.db, tenant, after, BATCH);
    for (const { id, answer } of page) {
      const sealed = sealClaims(eachSealed(answer, anew), encrypt_predicates, seal);
      if (JSON.stringify(sealed) !== JSON.stringify(answer)) await setAnswerOfRun(memory.db, id, sealed);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < BATCH) return;
    after = last.id;
  }
}

/** Words in posting blocks, dead rows and the log of the database hold what was plain until now. */
async function removePlain(memory: Memory, shelves: ReadonlySet<number>): Promise<void> {
  const db = asOwner(memory, "erasure");
  for (const sk of shelves)
    for (;;) {
      const { folded, removed } = await foldShelf(db, sk);
      if (folded + removed === 0) break;
    }
  await scrub(db);
}
