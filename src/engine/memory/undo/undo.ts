/** Undoes everything that came of one cause, in one transaction: all of it or nothing. An undo is a cause itself. */
import type { Sql } from "../../adapters/db/port.ts";
import { EVERY_SCOPE, readableScopes } from "../../domain/scope.ts";
import { type Planned, plan } from "../../domain/undo/plan.ts";
import { treeOf, type UndoTree } from "../../domain/undo/tree.ts";
import { type Cause, type Place, twinsOf } from "../../store/history/undo.ts";
import type { Call } from "../memory.ts";
import { write } from "../write.ts";
import { applyUndo } from "./apply.ts";
import { gather } from "./gather.ts";

export interface UndoAnswer extends UndoTree {
  /** `butler undo --request <this>` takes the undo back. Null where nothing was changed. */
  readonly undo_id: string | null;
  readonly dry_run: boolean;
  /** Memories that are taken back, hold again, or are changed in another way. */
  readonly counts: { readonly goes: number; readonly comes: number; readonly changes: number; readonly stays: number };
  /** Events of the cause itself. */
  readonly events: number;
}

export async function undo(call: Call, cause: Cause, dryRun: boolean, input: unknown): Promise<UndoAnswer> {
  const { memory, caller } = call;
  const place: Place = {
    tenant: caller.tenant,
    scopes: readableScopes(caller, caller.admin ? EVERY_SCOPE : undefined),
  };
  if (dryRun) {
    const { planned, ...told } = await decide(call, memory.db, place, cause, false);
    return answerOf(told, planned, null, true);
  }
  const id = call.request?.request_id ?? memory.ids.next(call.now);
  const undoing: Call = { ...call, request: call.request ?? { request_id: id } };
  const { answer } = await write(undoing, "undo", input, async (writing) => {
    const { planned, ...told } = await decide(call, writing.sql, place, cause, true);
    await applyUndo(undoing, writing, { id, cause: causeName(cause) }, planned);
    return answerOf(told, planned, planned.length === 0 ? null : id, false);
  });
  return answer;
}

const causeName = ({ kind, value }: Cause): string => `${kind} ${value instanceof Date ? value.toISOString() : value}`;

async function decide(call: Call, sql: Sql, place: Place, cause: Cause, hold: boolean) {
  const { chronicles, spread, caused } = await gather(sql, place, cause, hold);
  const twins = await twinsOf(
    sql,
    place.tenant,
    chronicles.filter(({ type }) => type !== "fact").map(({ id }) => id),
  );
  const { settings } = call.memory;
  const planned = plan({ chronicles, spread, twins, bars: settings.rules, now: call.now });
  return { planned, caused, ...treeOf(planned, spread, chronicles) };
}

function answerOf(
  { tree, stays, caused }: UndoTree & { readonly caused: number },
  planned: readonly Planned[],
  undo_id: string | null,
  dry_run: boolean,
): UndoAnswer {
  const count = (deed: Planned["deed"]) => planned.filter((one) => one.deed === deed).length;
  const counts = { goes: count("goes"), comes: count("comes"), changes: count("changes"), stays: stays.length };
  return { undo_id, dry_run, counts, events: caused, tree, stays };
}
