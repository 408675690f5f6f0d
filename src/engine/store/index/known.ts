/**
 * Candidates in two statements (gather.ts): what the second leaves out because the first has brought it. It leaves out nothing if anything was
 * committed between them, so that both together always are what one statement gives.
 */

/** How much the first has brought of a memory: its evidence; its row too; the turns around it too; and as many as around one of the best. */
export const KNOWN = { beside: 0, found: 1, met: 2, best: 3 } as const;

export interface Known {
  /** As the server names what the first statement has seen. */
  readonly snapshot: string;
  readonly ids: readonly string[];
  /** Of `KNOWN`. */
  readonly steps: readonly number[];
}

/** Which of the two a statement is; undefined: the only one. */
export type Part = "first" | Known | undefined;

/** Pieces of a statement. */
export interface PartSql {
  /** Expressions in front of the others. */
  readonly first: string;
  /** For what the words found. */
  readonly words: string;
  /** For what is met, `m`. */
  readonly met: string;
  isNew(id: string, step: "beside" | "found"): string;
  /** Further columns of the answer. */
  readonly columns: string;
}

const ONLY: PartSql = { first: "", words: "", met: "", isNew: () => "true", columns: "" };

/**
 * A snapshot is the list of all transactions that had not ended: two that are the same see the same. A replica does not list them, so it
 * is given everything by the second.
 */
const SNAPSHOT = "case when not pg_is_in_recovery() then pg_current_snapshot()::text end";

export function partSql(part: Part, best: number, param: (value: unknown) => string): PartSql {
  if (part === undefined) return ONLY;
  if (part === "first")
    return {
      ...ONLY,
      columns: `, ${SNAPSHOT} as snapshot, (select json_agg(id)::text from met where rank <= ${best}) as best`,
    };
  const same = "(select same from still)";
  const isKnown = (id: string, condition: string) =>
    `exists (select 1 from known n where n.id = ${id} and ${condition})`;
  return {
    first: `still as materialized (select coalesce(${SNAPSHOT} = ${param(part.snapshot)}, false) as same),
     known as materialized (select u.id, u.step
       from unnest(${param(part.ids)}::uuid[], ${param(part.steps)}::int4[]) as u (id, step) where ${same}),
     `,
    words: ` where not ${same}`,
    met: ` where not ${isKnown("m.id", `(n.step = ${KNOWN.best} or n.step = ${KNOWN.met} and m.rank > ${best})`)}`,
    isNew: (id, step) => `not ${isKnown(id, `n.step >= ${KNOWN[step]}`)}`,
    columns: `, ${same} as same`,
  };
}
