import { homeAt } from "../../daemon/home.ts";
import { askReplay } from "../../daemon/line/replay.ts";
import type { ExitCode } from "../../doors/failures.ts";
import { invalid, MemoryError } from "../../engine/domain/errors.ts";
import type { Difference, ReplayReport } from "../../engine/memory/past/replay.ts";
import { ownerClient } from "../owner/owner-client.ts";
import { chooseButler } from "../program/choose-butler.ts";
import { type Context, readOptions } from "../program/command.ts";
import { progressLine } from "../words/progress.ts";

export const usage = `butler replay --verify [--butler <name>] [--json]

Rebuilds every row of a butler's memory from its audit stream, in an empty store in memory, and compares the two row by
row and column by column. Nothing is changed, and the memory can be used meanwhile. Exit code 0 when all is the same,
4 when something differs: then a row was changed without an event, or an event does not say all that it changed. Where
retention has made one event of older ones, replay begins with that, and compares it with the hash in its checkpoint.`;

const options = { verify: { type: "boolean" }, butler: { type: "string" }, json: { type: "boolean" } } as const;

export async function run(args: readonly string[], { environment, say }: Context): Promise<ExitCode> {
  const { values } = readOptions(args, options);
  if (!values.verify) throw invalid("verify", "Say --verify: a replay is made to be compared, it changes nothing.");
  const client = ownerClient(environment);
  try {
    const butler = await chooseButler(client, values.butler);
    // Makes sure that there is an owner to ask.
    await client.health();
    const bar = progressLine(`Replay of ${butler}`);
    const outcome = await askReplay(homeAt(environment.home).socket, butler, ({ what, done, total }) => {
      if (process.stderr.isTTY) bar.show(done, total, `${what} (${count(done)})`);
    });
    if (!outcome.ok) throw new MemoryError(outcome.error.code, outcome.error.message);
    const report = outcome.answer as unknown as ReplayReport;
    bar.done(report.equal ? "done" : "differences found");
    if (values.json) say(JSON.stringify({ butler, ...report }));
    else for (const line of words(report)) say(line);
    return report.equal ? 0 : 4;
  } finally {
    client.close();
  }
}

const count = (n: number): string => n.toLocaleString("en");
const sum = (counts: Readonly<Record<string, number>>): number => Object.values(counts).reduce((a, b) => a + b, 0);

function words(report: ReplayReport): string[] {
  const done = `Replayed ${count(report.events)} events and compared ${count(sum(report.rows))} rows`;
  const erasures =
    report.receipts.receipts === 0 ? "" : ` ${count(report.receipts.receipts)} receipts of erasures are whole.`;
  const folds =
    report.checkpoints.checkpoints === 0 ? "" : ` Checkpoints: ${count(report.checkpoints.checkpoints)}, all whole.`;
  if (report.equal) return [`${done}: every row is the same.${erasures}${folds}`];
  const tables = Object.entries(report.differing).map(([table, n]) => `${count(n)} in ${table}`);
  const rows = sum(report.differing);
  const hidden = rows - new Set(report.differences.map(({ table, id }) => `${table} ${id}`)).size;
  return [
    `${done}: ${rows === 0 ? "the rows agree, but the stream, its checkpoints or the receipts of erasures have holes" : `${count(rows)} rows differ (${tables.join(", ")})`}.`,
    ...report.differences.map(line),
    ...(hidden > 0 ? [`… and ${count(hidden)} more rows.`] : []),
    ...report.orphans,
    ...report.receipts.faults.map((fault) => `  receipts of erasures: ${fault}`),
    ...report.checkpoints.faults.map((fault) => `  checkpoints: ${fault}`),
    ...(report.cutShort ? ["Too many differences: the rest was not looked at."] : []),
  ];
}

function line({ table, id, column, stored, replayed }: Difference): string {
  if (column === "*") return `  ${table} ${id}: stored ${stored}, replayed ${replayed}`;
  return `  ${table} ${id} ${column}: stored ${brief(stored)}, replayed ${brief(replayed)}`;
}

const brief = (value: unknown): string => {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
};
