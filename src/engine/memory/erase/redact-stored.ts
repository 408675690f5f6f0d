/**
 * Takes secrets out of what is stored already: out of memories, their history, kept answers and records of runs. Words and vectors of
 * what changed are made anew, and a receipt remains, as of an erasure.
 */
import type { Sql } from "../../adapters/db/port.ts";
import { hex } from "../../domain/erasure/receipt.ts";
import { conflict, forbidden } from "../../domain/errors.ts";
import { type FactWords, factText } from "../../domain/fact.ts";
import { insertReceipt, receiptsOf } from "../../store/erasure/receipts.ts";
import { scrub } from "../../store/erasure/scrub.ts";
import { dropVectors, filedOn, writeAnswer, writePayloads, writeTexts } from "../../store/erasure/stored-texts.ts";
import { appendEvents } from "../../store/history/events.ts";
import { dropLexical, putLexical } from "../../store/index/lexical.ts";
import { rebuildVectors } from "../keep/reembed.ts";
import type { Call } from "../memory.ts";
import { policyFor } from "../privacy.ts";
import { asOwner, wholeMemory } from "../tenancy.ts";
import { eventOf } from "../write.ts";
import { foldAway } from "./erase.ts";
import { type ChangedRow, findSecrets, type Secrets } from "./find-secrets.ts";
import { chained } from "./receipts.ts";

export interface RedactionAnswer {
  readonly receipt_id: string | null;
  readonly dry_run: boolean;
  readonly found: readonly { readonly kind: string; readonly where: string; readonly count: number }[];
  /** Rows that hold something, by table. */
  readonly rows: Readonly<Record<string, number>>;
  readonly memories: readonly { readonly type: string; readonly id: string }[];
  readonly left: readonly string[];
}

export async function redactStored(call: Call, dryRun: boolean): Promise<RedactionAnswer> {
  const { memory, caller, now } = call;
  if (!caller.admin) throw forbidden("only an admin may look through everything that is stored for secrets.");
  if (!memory.settings.privacy.redact)
    throw conflict("redaction is switched off for this butler; set privacy.redact = true in its butler.toml first.");
  // What was read lately is counted first, and nothing is written while the rows are looked at.
  if (!dryRun) await memory.afterwards.settled();
  const secrets = await findSecrets(memory.db, caller.tenant, policyFor(memory));
  const answer = shown(secrets);
  if (dryRun || Object.keys(answer.rows).length === 0)
    return { ...answer, receipt_id: null, dry_run: dryRun, left: [] };
  const db = asOwner(memory, "erasure");
  const { receipt_id, shelves } = await db.tx((sql) => writeIn(call, sql, secrets, answer.rows));
  for (const sk of shelves) await foldAway(call, db, sk);
  memory.knownNames.delete(caller.tenant);
  await rebuildVectors(wholeMemory(memory, "upkeep"), { now, stop: () => false });
  const { left } = await scrub(db);
  return { ...answer, receipt_id, dry_run: false, left };
}

function shown({ rows, events, answers, found }: Secrets): Pick<RedactionAnswer, "found" | "rows" | "memories"> {
  const counts: Record<string, number> = {};
  for (const { table } of rows) counts[table] = (counts[table] ?? 0) + 1;
  if (events.length > 0) counts.memory_events = events.length;
  if (answers.length > 0) counts.idempotency_keys = answers.length;
  return {
    found: [...found].flatMap(([where, kinds]) => [...kinds].map(([kind, count]) => ({ kind, where, count }))),
    rows: counts,
    memories: rows.flatMap(({ type, id }) => (type === undefined ? [] : [{ type, id }])),
  };
}

async function writeIn(call: Call, sql: Sql, secrets: Secrets, counts: Readonly<Record<string, number>>) {
  const { memory, caller, now } = call;
  const { tenant } = caller;
  const changed = secrets.rows.filter(({ type }) => type !== undefined);
  const ids = changed.map(({ id }) => id);
  const receipts = await receiptsOf(sql, tenant, true);
  const receipt = chained(
    {
      ...{ id: memory.ids.next(now), tenant_id: tenant, butler: caller.butler, kind: "redaction" },
      ...{ erased_at: now, actor: caller.actor, memories: ids, counts },
    },
    receipts.at(-1),
  );
  await insertReceipt(sql, receipt);
  for (const { table, id, set } of secrets.rows) await writeTexts(sql, tenant, table, id, set);
  for (const kept of secrets.answers) await writeAnswer(sql, tenant, kept);
  await writePayloads(sql, tenant, receipt.id, secrets.events);
  const shelves = await indexAnew(sql, changed);
  await appendEvents(sql, [
    ...changed.map((row) => redactedEvent(call, row, receipt.id)),
    eventOf(call, {
      type: "erasure.done",
      entity: { type: "erasure", id: receipt.id },
      scope: caller.butler,
      payload: { kind: "redaction", memories: ids.length, counts, hash: hex(receipt.hash) },
    }),
  ]);
  return { receipt_id: receipt.id, shelves };
}

const redactedEvent = (call: Call, { type, id, row, found }: ChangedRow, erasure: string) =>
  eventOf(call, {
    type: `${type}.redacted`,
    entity: { type: type ?? "episode", id },
    scope: String(row.scope ?? row.butler),
    payload: { redactions: found, erasure },
  });

/** Vectors are made after the transaction: the model needs milliseconds for each text, and no lock should be held meanwhile. */
async function indexAnew(sql: Sql, changed: readonly ChangedRow[]): Promise<number[]> {
  const rows = new Map(changed.map((one) => [one.id, one]));
  const filed = await filedOn(sql, [...rows.keys()]);
  await dropLexical(sql, [...rows.keys()]);
  await putLexical(
    sql,
    filed.map(({ id, sk }) => ({ memoryId: id, sk, text: textOf(rows.get(id)) })),
  );
  await dropVectors(sql, [...rows.keys()]);
  return [...new Set(filed.map(({ sk }) => sk))];
}

function textOf(changed: ChangedRow | undefined): string {
  if (changed?.type === "fact") return factText(changed.row as FactWords & typeof changed.row);
  return String(changed?.row.content ?? "");
}
