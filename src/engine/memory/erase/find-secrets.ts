/** Looks through everything that a tenant has stored with the redaction policy of the butler. */
import { createHash } from "node:crypto";
import type { Sql } from "../../adapters/db/port.ts";
import { nextTurn } from "../../adapters/turns.ts";
import type { MemoryType } from "../../domain/memory-types.ts";
import type { Policy } from "../../domain/redaction/policy.ts";
import { type Found, redactDeep } from "../../domain/redaction/redact.ts";
import { redactPayload, redactRow } from "../../domain/redaction/stored.ts";
import type { RowJson } from "../../domain/replay.ts";
import type { JsonValue } from "../../domain/text/text.ts";
import {
  type KeptAnswer,
  readAnswers,
  readTexts,
  ruleKeyTaken,
  type TextTable,
} from "../../store/erasure/stored-texts.ts";
import { readEvents } from "../../store/history/replay.ts";
import { FIRST_ID } from "../../store/jobs/sweep.ts";
import { byteaLiteral } from "../../store/memories/rows.ts";
import { ruleKey } from "../remember/store-rule.ts";

const PAGE = 200;

export interface ChangedRow {
  readonly table: TextTable;
  /** Undefined for what is no memory. */
  readonly type: MemoryType | undefined;
  readonly id: string;
  /** As it will be. */
  readonly row: RowJson;
  readonly set: RowJson;
  readonly found: readonly Found[];
}

export interface Secrets {
  readonly rows: readonly ChangedRow[];
  readonly events: readonly { readonly seq: string; readonly payload: RowJson }[];
  readonly answers: readonly KeptAnswer[];
  /** By place and kind. */
  readonly found: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

const TABLES = [
  ["episodes", "episode", "episode"],
  ["facts", "fact", "fact"],
  ["rules", "rule", "rule"],
  ["rule_applications", "mark", undefined],
  ["consolidation_runs", "run", undefined],
] as const;

export async function findSecrets(sql: Sql, tenant: string, policy: Policy): Promise<Secrets> {
  const found = new Map<string, Map<string, number>>();
  const note = (where: string, kinds: readonly Found[]) => {
    const tally = found.get(where) ?? new Map<string, number>();
    for (const { kind, count } of kinds) tally.set(kind, (tally.get(kind) ?? 0) + count);
    if (tally.size > 0) found.set(where, tally);
  };
  const rows: ChangedRow[] = [];
  const given = new Set<string>();
  for (const [table, kind, type] of TABLES)
    for (let after = FIRST_ID, page = await readTexts(sql, tenant, table, after, PAGE); page.length > 0; ) {
      for (const { id, row } of page) {
        const { set, found: kinds } = redactRow(kind, id, row, policy);
        if (kinds.length === 0) continue;
        note(table, kinds);
        const whole = { ...row, ...set };
        const more = await newKey(sql, tenant, type, whole, set, given);
        rows.push({ table, type, id, row: { ...whole, ...more }, set: { ...set, ...more }, found: kinds });
      }
      await nextTurn();
      after = page.at(-1)?.id ?? after;
      page = await readTexts(sql, tenant, table, after, PAGE);
    }
  const keys = new Map(rows.flatMap(({ id, set }) => ("content_key" in set ? [[id, set.content_key]] : [])));
  const events: { seq: string; payload: RowJson }[] = [];
  for (let page = await readEvents(sql, tenant, "0", PAGE); page.length > 0; ) {
    for (const event of page) {
      const key = keys.get(event.entity_id);
      const { payload, found: kinds } = redactPayload(event, policy, key === undefined ? {} : { content_key: key });
      if (payload === undefined) continue;
      note("memory_events", kinds);
      events.push({ seq: event.seq, payload });
    }
    await nextTurn();
    page = await readEvents(sql, tenant, page.at(-1)?.seq ?? "0", PAGE);
  }
  const answers: KeptAnswer[] = [];
  const first = { butler: "", tool: "", key: "" };
  for (let page = await readAnswers(sql, tenant, first, PAGE); page.length > 0; ) {
    for (const kept of page) {
      const { value, found: kinds } = redactDeep(kept.answer as JsonValue, policy);
      if (kinds.length === 0) continue;
      note("idempotency_keys", kinds);
      answers.push({ ...kept, answer: value as RowJson });
    }
    await nextTurn();
    page = await readAnswers(sql, tenant, page.at(-1) ?? first, PAGE);
  }
  return { rows, events, answers, found };
}

/** By the key of its words a memory is known again when it is told again; the old one is a digest of the secret. */
async function newKey(
  sql: Sql,
  tenant: string,
  type: MemoryType | undefined,
  row: RowJson,
  set: RowJson,
  given: Set<string>,
): Promise<RowJson> {
  if (!("content_key" in row) || !("content" in set || "original_content" in set || "speaker" in set)) return {};
  const id = String(row.id);
  const own = byteaLiteral(createHash("sha256").update(`redacted ${id}`).digest().subarray(0, 16));
  if (type !== "rule") return { content_key: own };
  const key = byteaLiteral(ruleKey(String(row.original_content ?? row.content)));
  // Rules that differed in the secret alone stay two: the first has the key of its words.
  const place = `${row.scope} ${key}`;
  const taken = given.has(place) || (await ruleKeyTaken(sql, tenant, { id, scope: String(row.scope), key }));
  given.add(place);
  return { content_key: taken ? own : key };
}
