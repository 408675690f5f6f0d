/** What an erasure takes, for people. */
import type { TracesGone } from "../../hosts/traces/erase-traces.ts";

export interface EraseShown {
  readonly receipt_id: string | null;
  readonly dry_run: boolean;
  readonly memories: readonly { readonly type: string; readonly id: string }[];
  readonly counts: Readonly<Record<string, number>>;
  readonly sessions: readonly string[];
  readonly left: readonly string[];
}

export function goingLines({ memories, counts }: EraseShown): string[] {
  const of = (type: string) => memories.filter((one) => one.type === type).length;
  const kinds = ["episode", "fact", "rule"].flatMap((type) => (of(type) === 0 ? [] : [plural(of(type), type)]));
  const rows = Object.entries(counts).map(([table, n]) => `${n} in ${table}`);
  return [`${kinds.join(", ")}: rows to be deleted or blanked: ${rows.join(", ")}.`];
}

export function erasedLines({ receipt_id, left }: EraseShown, gone: TracesGone): string[] {
  const files = [
    [gone.spool, "exchange that waited"],
    [gone.session_log, "beginning of a session"],
    [gone.owner_log, "line of the log"],
  ] as const;
  const told = files.flatMap(([n, noun]) => (n === 0 ? [] : [plural(n, noun)]));
  return [
    `Erased. The receipt is ${receipt_id}; it holds no words. butler replay --verify checks that receipts are whole.`,
    ...(told.length === 0 ? [] : [`Also erased from the home: ${told.join(", ")}.`]),
    ...left,
    "Transcripts that agents keep in their own folders, and backups that you have made, are not touched.",
  ];
}

const plural = (n: number, noun: string): string => {
  const [head = noun, ...rest] = noun.split(" ");
  return n === 1 ? `1 ${noun}` : `${n} ${[`${head}s`, ...rest].join(" ")}`;
};
