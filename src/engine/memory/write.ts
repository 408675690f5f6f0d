/** Every mutation goes through `write`: one transaction, its events last, and a repeat of the same key changes nothing. */

import { createHash } from "node:crypto";
import type { Sql } from "../adapters/db/port.ts";
import { conflict } from "../domain/errors.ts";
import type { NewEvent } from "../domain/event.ts";
import type { MemoryType } from "../domain/memory-types.ts";
import { appendEvents } from "../store/history/events.ts";
import { findAnswers, keepAnswers } from "../store/memories/idempotency.ts";
import { stopIfCancelled } from "./following.ts";
import type { Call } from "./memory.ts";

export interface Happened {
  readonly type: string;
  readonly entity: { readonly type: MemoryType; readonly id: string };
  readonly scope: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

export interface Writing {
  readonly sql: Sql;
  /** Adds an event. Events are written at the end of the transaction, in the order in which they were added. */
  tell(happened: Happened): void;
  /** Adds events that were made elsewhere. */
  record(...events: readonly NewEvent[]): void;
}

export interface Written<A> {
  readonly answer: A;
  /** True when the key had been used before and `answer` is the one given then. */
  readonly repeated: boolean;
}

/** Unique violation, serialization failure, deadlock: another writer was faster, so the transaction is tried again. */
const LOST_A_RACE = new Set(["23505", "40001", "40P01"]);
const ATTEMPTS = 5;

export async function write<A extends object>(
  call: Call,
  tool: string,
  input: unknown,
  work: (writing: Writing) => Promise<A>,
): Promise<Written<A>> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await writeOnce(call, tool, input, work);
    } catch (error) {
      if (attempt === ATTEMPTS || !lostRace(error)) throw error;
    }
  }
}

const keyTaken = new Error("another call kept an answer under this key first");

function lostRace(error: unknown): boolean {
  return error === keyTaken || (error instanceof Error && "code" in error && LOST_A_RACE.has(String(error.code)));
}

async function writeOnce<A extends object>(
  call: Call,
  tool: string,
  input: unknown,
  work: (writing: Writing) => Promise<A>,
): Promise<Written<A>> {
  const { memory, caller, now, idempotencyKey: key } = call;
  const owner = { tenant: caller.tenant, butler: caller.butler, tool };
  return memory.db.tx(async (sql) => {
    const hash = key === undefined ? undefined : inputHash(input);
    if (key !== undefined && hash !== undefined) {
      const kept = (await findAnswers(sql, owner, [key])).get(key);
      if (kept) return { answer: sameInput(kept.input_hash, hash, kept.answer) as A, repeated: true };
    }
    stopIfCancelled(call);
    const events: NewEvent[] = [];
    const answer = await work({
      sql,
      tell: (happened) => events.push(eventOf(call, happened)),
      record: (...made) => void events.push(...made),
    });
    if (key !== undefined && hash !== undefined) {
      const kept = { key, input_hash: hash, answer: answer as Record<string, unknown> };
      if (!(await keepAnswers(sql, owner, [kept], now))) throw keyTaken;
    }
    stopIfCancelled(call);
    await appendEvents(sql, events);
    return { answer, repeated: false };
  });
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
