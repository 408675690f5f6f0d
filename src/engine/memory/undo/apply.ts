/** Writes what an undo has decided: rows, links, marks and the indexes of search, with an event for each memory. */
import type { Sql } from "../../adapters/db/port.ts";
import { isLive } from "../../domain/lifecycle/lifecycle.ts";
import { seenUntil } from "../../domain/lifecycle/tiers.ts";
import type { Link } from "../../domain/link.ts";
import type { Planned } from "../../domain/undo/plan.ts";
import { recountMarks, removeLinks, setColumns } from "../../store/history/undo.ts";
import { dropLexical } from "../../store/index/lexical.ts";
import { dropVectors, setVisibility } from "../../store/index/vectors.ts";
import { findEpisode } from "../../store/memories/episodes.ts";
import { findFact } from "../../store/memories/facts.ts";
import { insertLinks } from "../../store/memories/links.ts";
import { findRule } from "../../store/memories/rules.ts";
import { vectorsOf } from "../embed.ts";
import type { Call } from "../memory.ts";
import { hideFromSearch, indexMemories, reindex, shelfOf, visibleUntil } from "../remember/index-memory.ts";
import { indexedFact } from "../sealing.ts";
import type { Writing } from "../write.ts";

export interface Undoing {
  readonly id: string;
  readonly cause: string;
}

/** Memories that give up a place come before those that take it. */
export async function applyUndo(call: Call, writing: Writing, undoing: Undoing, planned: readonly Planned[]) {
  const order = planned.toSorted((a, b) => Number(a.deed === "comes") - Number(b.deed === "comes"));
  for (const one of order) {
    const { chronicle, set, deed, recounted, links, unlinked, undone, blockedBy } = one;
    const { type, id, scope, row } = chronicle;
    await setColumns(writing.sql, type, id, set);
    await recountMarks(writing.sql, recounted);
    await removeLinks(writing.sql, call.caller.tenant, unlinked);
    await insertLinks(writing.sql, links as unknown as readonly Link[]);
    if (deed === "goes") await hideFromSearch(writing.sql, [id], call.now);
    else if (Object.keys(set).length > 0) await showAgain(call, writing.sql, one);
    writing.tell({
      type: `${type}.undone`,
      entity: { type, id },
      scope,
      payload: {
        ...{ set, from: row?.validity, undone, undo: undoing.id, cause: undoing.cause },
        ...(links.length === 0 ? {} : { links }),
        ...(unlinked.length === 0 ? {} : { unlinked }),
        ...(recounted.length === 0 ? {} : { recounted }),
        ...(blockedBy === undefined ? {} : { blocked_by: blockedBy }),
      },
    });
  }
}

async function showAgain(call: Call, sql: Sql, { chronicle, deed, set }: Planned): Promise<void> {
  const { type, id, scope } = chronicle;
  const indexed = await indexedText(call, sql, type, id);
  if (indexed === undefined) return;
  const { text, until } = indexed;
  const sk = await shelfOf(call, scope, type, sql);
  // A rule that was a warning has its first text again, and needs the vector of that.
  if (set.content !== undefined) {
    const vector = await vectorsOf(call.memory, text);
    await dropLexical(sql, [id]);
    await dropVectors(sql, id);
    await indexMemories(sql, call.memory, [{ id, sk, text, vector, visibleUntil: until }]);
  } else if (deed === "comes") await reindex(sql, { id, sk, text, visibleUntil: until });
  else await setVisibility(sql, id, until);
}

/** Undefined of what is out of sight. */
async function indexedText({ memory, caller }: Call, sql: Sql, type: Planned["chronicle"]["type"], id: string) {
  if (type === "episode") {
    const row = await findEpisode(sql, caller.tenant, id);
    return row?.validity === "active" ? { text: row.content, until: seenUntil(row.expires_at) } : undefined;
  }
  if (type === "fact") {
    const row = await findFact(sql, caller.tenant, id);
    if (row === undefined || !isLive(row.validity)) return undefined;
    return { text: indexedFact(memory, row), until: visibleUntil(memory, row, row.valid_to) };
  }
  const row = await findRule(sql, caller.tenant, id);
  return row !== undefined && isLive(row.validity)
    ? { text: row.content, until: visibleUntil(memory, row) }
    : undefined;
}
