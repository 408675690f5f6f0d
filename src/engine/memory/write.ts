/** Every mutation goes through `write`: one transaction, its events last, and a repeat of the same key changes nothing. */

import { createHash } from "node:crypto";
import type { Sql } from "../adapters/db/port.ts";
import { conflict, MemoryError } from "../domain/errors.ts";
import type { NewEvent } from "../domain/event.ts";
import type { MemoryType } from "../domain/memory-types.ts";
import { appendEvents } from "../store/history/events.ts";
import { findAnswers, type KeyOwner, keepAnswers, type NewAnswer } from "../store/memories/idempotency.ts";
import { stopIfCancelled } from "./following.ts";
import type { Call } from "./memory.ts";
import type { Given } from "./read-model/given.ts";

export interface Happened {
  readonly type: string;
  readonly entity: { readonly type: MemoryType; readonly id: string };
  readonly scope: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

export interface Writing {
  readonly sql: Sql;
  /** Adds an event. Events are written at the end of the transaction, in the order in which they were added. `by` is the call that caused it, where several are carried out together. */
  tell(happened: Happened, by?: Call): void;
  /** Adds events that were made elsewhere. */
  record(...events: readonly NewEvent[]): void;
  /** Hands a new memory over to the read model, which then need not read it from the store. */
  give(given: readonly Given[]): void;
}

export interface Written<A> {
  readonly answer: A;
  /** True when the key had been used before and `answer` is the one given then. */
  readonly repeated: boolean;
}

/** Unique violation, serialization failure, deadlock: another writer was faster, so the transaction is tried again. */
const LOST_A_RACE = new Set(["23505", "40001", "40P01"]);
const ATTEMPTS = 5;

/** One of several calls that are carried out together. */
export interface Asked {
  readonly call: Call;
  readonly input: unknown;
}

export async function write<A extends object>(
  call: Call,
  tool: string,
  input: unknown,
  work: (writing: Writing) => Promise<A>,
): Promise<Written<A>> {
  const [written] = await writeTogether(tool, [{ call, input }], async (writing) => [await work(writing)]);
  if (written === undefined) throw new Error("a write ended without an answer");
  if (written instanceof Error) throw written;
  return written;
}

/**
 * The calls of one tenant and butler in one transaction. `work` carries out those whose keys are new, in their order. A call that
 * is cancelled, or whose key was used for something else, gets its error and does not touch the others.
 */
export async function writeTogether<A extends object, Q extends Asked>(
  tool: string,
  asked: readonly Q[],
  work: (writing: Writing, fresh: readonly Q[]) => Promise<readonly A[]>,
): Promise<readonly (Written<A> | MemoryError)[]> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await writeOnce(tool, asked, work);
    } catch (error) {
      if (attempt === ATTEMPTS || !lostRace(error)) throw error;
    }
  }
}

const keyTaken = new Error("another call kept an answer under this key first");

function lostRace(error: unknown): boolean {
  return error === keyTaken || (error instanceof Error && "code" in error && LOST_A_RACE.has(String(error.code)));
}

async function writeOnce<A extends object, Q extends Asked>(
  tool: string,
  asked: readonly Q[],
  work: (writing: Writing, fresh: readonly Q[]) => Promise<readonly A[]>,
): Promise<readonly (Written<A> | MemoryError)[]> {
  const [first] = asked;
  if (first === undefined) return [];
  const { memory, caller } = first.call;
  const owner = { tenant: caller.tenant, butler: caller.butler, tool };
  const given: Given[] = [];
  try {
    return await memory.db.tx(async (sql) => {
      const known = await answeredBefore<A>(sql, owner, asked);
      const fresh = asked.filter((one) => !known.has(one));
      const [carriedOut] = fresh;
      if (carriedOut === undefined) return asked.map((one) => answerOf(known, one));
      const events: NewEvent[] = [];
      const answers = await work(
        {
          sql,
          tell: (happened, by = carriedOut.call) => events.push(eventOf(by, happened)),
          record: (...made) => void events.push(...made),
          give: (made) => void given.push(...made),
        },
        fresh,
      );
      for (const [at, one] of fresh.entries()) known.set(one, { answer: answers[at] as A, repeated: false });
      const kept = fresh.flatMap(({ call: { idempotencyKey: key, now }, input }, at): NewAnswer[] => {
        const answer = answers[at] as Record<string, unknown>;
        return key === undefined ? [] : [{ key, input_hash: inputHash(input), answer, created_at: now }];
      });
      // Of several, one that is cancelled so late is stored with the others.
      if (fresh.length === 1) stopIfCancelled(carriedOut.call);
      const [isKept] = await Promise.all([keepAnswers(sql, owner, kept), appendEvents(sql, events)]);
      if (!isKept) throw keyTaken;
      memory.readModel.expect(given);
      return asked.map((one) => answerOf(known, one));
    });
  } finally {
    memory.readModel.unexpect(given);
  }
}

type Known<A> = Map<Asked, Written<A> | MemoryError>;

/** The calls that are not carried out: their keys were used before, or nobody waits for them any more. */
async function answeredBefore<A>(sql: Sql, owner: KeyOwner, asked: readonly Asked[]): Promise<Known<A>> {
  const known: Known<A> = new Map();
  const keys = asked.flatMap(({ call }) => call.idempotencyKey ?? []);
  const before = await findAnswers(sql, owner, keys);
  for (const one of asked) {
    const { idempotencyKey: key } = one.call;
    const kept = key === undefined ? undefined : before.get(key);
    try {
      if (kept) {
        const answer = sameInput(kept.input_hash, inputHash(one.input), kept.answer) as A;
        known.set(one, { answer, repeated: true });
      } else stopIfCancelled(one.call);
    } catch (error) {
      if (!(error instanceof MemoryError)) throw error;
      known.set(one, error);
    }
  }
  return known;
}

function answerOf<A>(known: Known<A>, one: Asked): Written<A> | MemoryError {
  const written = known.get(one);
  if (written === undefined) throw new Error("a call was carried out without an answer");
  return written;
}

export function sameInput<A>(kept: Uint8Array, given: Uint8Array, answer: A): A {
  if (Buffer.compare(kept, given) !== 0)
    throw conflict("this idempotency_key was used before with another input; use a new key for a new call.");
  return answer;
}

/** Hash of what was asked for: without request ids and the key itself, and without the butler, which owns the key. */
export function inputHash(input: unknown): Uint8Array {
  const { request_context: _, idempotency_key: __, butler: ___, ...rest } = input as Record<string, unknown>;
  return createHash("sha256").update(canonical(rest)).digest();
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value instanceof Date) return JSON.stringify(value);
  if (value !== null && typeof value === "object") {
    const entries = Object.entries(value).filter(([, v]) => v !== undefined);
    entries.sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${entries.map(([k, v]) => `${JSON.stringify(k)}:${canonical(v)}`).join(",")}}`;
  }
  return JSON.stringify(value) ?? "null";
}

export function eventOf(
  call: Call,
  happened: Omit<Happened, "entity"> & { entity: { type: NewEvent["entity_type"]; id: string } },
): NewEvent {
  const { memory, caller, now, request } = call;
  return {
    id: memory.ids.next(now),
    tenant_id: caller.tenant,
    butler: caller.butler,
    scope: happened.scope,
    event_type: happened.type,
    entity_type: happened.entity.type,
    entity_id: happened.entity.id,
    occurred_at: now,
    actor: caller.actor,
    session_id: caller.session ?? null,
    request_id: request?.request_id ?? null,
    subrequest_id: request?.subrequest_id ?? null,
    segment_id: request?.segment_id ?? null,
    payload: happened.payload,
  };
}
