/** Erases memories for good: their rows, words and vectors, their text in the stream and wherever else it was kept. A receipt remains. */
import type { Db, Sql } from "../../adapters/db/port.ts";
import { type ErasureKind, hex } from "../../domain/erasure/receipt.ts";
import { conflict, forbidden, notFound } from "../../domain/errors.ts";
import { EVERY_SCOPE, readableScopes } from "../../domain/scope.ts";
import { countGoing, detachFacts, eraseRows, type Going, linksGoing, shelvesOf } from "../../store/erasure/erase.ts";
import { insertReceipt, receiptsOf } from "../../store/erasure/receipts.ts";
import { scrub } from "../../store/erasure/scrub.ts";
import {
  type Erased,
  learnedFromAlone,
  lockMemories,
  marksOfSession,
  memoriesById,
  memoriesBySession,
  sessionsAround,
} from "../../store/erasure/select.ts";
import { appendEvents } from "../../store/history/events.ts";
import { foldShelf } from "../../store/index/fold.ts";
import { dropLexical } from "../../store/index/lexical.ts";
import { loseRuns, runsUnderWay } from "../../store/jobs/consolidation.ts";
import type { Call } from "../memory.ts";
import { asOwner } from "../tenancy.ts";
import { eventOf } from "../write.ts";
import { memoriesAbout } from "./about.ts";
import { chained } from "./receipts.ts";

export interface Target {
  readonly kind: Exclude<ErasureKind, "redaction">;
  readonly value: string;
}

export interface EraseAnswer {
  readonly receipt_id: string | null;
  readonly dry_run: boolean;
  readonly memories: readonly Erased[];
  readonly counts: Readonly<Record<string, number>>;
  /** Sessions whose words may stand in other files of the home. */
  readonly sessions: readonly string[];
  /** What only somebody else can erase. */
  readonly left: readonly string[];
}

export async function erase(call: Call, target: Target, dryRun: boolean): Promise<EraseAnswer> {
  const { memory, caller } = call;
  if (!caller.admin) throw forbidden("only an admin may erase memories for good; forget them instead.");
  const db = asOwner(memory, "erasure");
  if (dryRun) {
    const { memories, going, sessions } = await selectFor(call, memory.db, target);
    return { receipt_id: null, dry_run: true, memories, counts: await countGoing(db, going), sessions, left: [] };
  }
  // What was read lately is counted first: the count would otherwise come back after the rows are gone.
  await memory.afterwards.settled();
  const { shelves, ...done } = await eraseSelected(call, db, target);
  for (const sk of shelves) await foldAway(call, db, sk);
  memory.knownNames.delete(caller.tenant);
  const { left } = await scrub(db);
  return { ...done, dry_run: false, left };
}

/** So often memories are selected anew because others have come meanwhile that were learned from them. */
const ROUNDS = 10;

/**
 * Which rows go is read with the rights of the tenant; the owner of the tables is told their ids. Once those are locked it looks again, only
 * to see whether something was learned from them in between: then they are selected anew. A run that begins meanwhile finds them gone when it
 * stores what it has learned.
 */
async function eraseSelected(call: Call, db: Db, target: Target) {
  for (let round = 0; round < ROUNDS; round++) {
    const selected = await selectFor(call, call.memory.db, target);
    const runs = await runsUnderWay(call.memory.db, call.caller.tenant);
    const done = await db.tx(async (sql) => {
      await loseRuns(sql, call.caller.tenant, runs, call.now);
      await lockMemories(sql, call.caller.tenant, selected.going.ids);
      const seen = new Set(selected.going.ids);
      const { going } = await selectFor(call, sql, target);
      return going.ids.every((id) => seen.has(id)) ? eraseIn(call, sql, target.kind, selected) : undefined;
    });
    if (done !== undefined) return done;
  }
  throw conflict("memories of this kind are being stored right now; nothing was erased, try again.");
}

async function eraseIn(call: Call, sql: Sql, kind: Target["kind"], { memories, going, sessions }: Selected) {
  const { memory, caller, now } = call;
  const receipts = await receiptsOf(sql, caller.tenant, true);
  const counts = await countGoing(sql, going);
  const shelves = await shelvesOf(sql, going.ids);
  const receipt = chained(
    {
      ...{ id: memory.ids.next(now), tenant_id: caller.tenant, butler: caller.butler, kind },
      ...{ erased_at: now, actor: caller.actor, memories: going.ids, counts },
    },
    receipts.at(-1),
  );
  await insertReceipt(sql, receipt);
  const unlinked = await linksGoing(sql, caller.tenant, going.ids);
  const detached = await detachFacts(sql, caller.tenant, going.ids);
  await dropLexical(sql, going.ids);
  await eraseRows(sql, receipt.id, going);
  await appendEvents(sql, [
    ...detached.map(({ id, scope, validity }) =>
      eventOf(call, {
        type: "fact.detached",
        entity: { type: "fact", id },
        scope,
        payload: { set: { supersedes_id: null }, from: validity, erasure: receipt.id },
      }),
    ),
    eventOf(call, {
      type: "erasure.done",
      entity: { type: "erasure", id: receipt.id },
      scope: caller.butler,
      payload: { kind, memories: going.ids.length, counts, hash: hex(receipt.hash), unlinked },
    }),
  ]);
  return { receipt_id: receipt.id, memories, counts, sessions, shelves };
}

type Selected = Awaited<ReturnType<typeof selectFor>>;

/** The memories of the target, and what was derived from them alone. */
async function selectFor(call: Call, sql: Sql, { kind, value }: Target) {
  const { caller } = call;
  const place = { tenant: caller.tenant, scopes: readableScopes(caller, EVERY_SCOPE) };
  const first =
    kind === "id"
      ? await memoriesById(sql, place, value)
      : kind === "session"
        ? await memoriesBySession(sql, place, value)
        : await memoriesAbout(sql, place, value);
  if (first.length === 0) throw notFound(`there is nothing to erase: no memory of ${kind} ${value}.`);
  const all = new Map(first.map((one) => [one.id, one]));
  for (let fresh = first; fresh.length > 0; ) {
    fresh = (await learnedFromAlone(sql, caller.tenant, [...all.keys()])).filter(({ id }) => !all.has(id));
    for (const one of fresh) all.set(one.id, one);
  }
  const ids = [...all.keys()].toSorted();
  const marks = kind === "session" ? await marksOfSession(sql, caller.tenant, value) : [];
  const going: Going = { tenant: caller.tenant, ids, marks };
  return { memories: [...all.values()], going, sessions: await sessionsAround(sql, caller.tenant, ids) };
}

/** Postings of what is gone stay in their blocks until they are folded away. */
export async function foldAway({ memory }: Call, db: Db, sk: number): Promise<void> {
  for (;;) {
    const { folded, removed } = await foldShelf(db, sk);
    if (folded + removed === 0) break;
  }
  memory.unfolded.delete(sk);
}
