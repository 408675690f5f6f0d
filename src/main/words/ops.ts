/** What `butler ops` says. */
import { HASHES, MONTHS_AHEAD } from "../../engine/domain/partitions.ts";
import type { Dividing, TablePlan } from "../../engine/memory/partitions/divide-store.ts";

export const NO_NEED =
  "The memories of this home are embedded: one person's store on one machine, where one table is quicker than many. There is nothing to divide, and no need to.";

export const DOING: Readonly<Record<Parameters<Dividing["tell"]>[1], string>> = {
  boundary: "sets a boundary ahead of all rows, and checks it",
  exchange: "makes the table the first part of a divided one",
  waiting: "is in use; tries again in a moment",
};

const count = (n: number): string => Math.round(n).toLocaleString("en");
const size = (bytes: number): string =>
  bytes >= 2 ** 30 ? `${(bytes / 2 ** 30).toFixed(1)} GB` : `${(bytes / 2 ** 20).toFixed(1)} MB`;
const day = (time: Date): string => time.toISOString().slice(0, 10);

const WOULD: Readonly<Record<TablePlan["table"], string>> = {
  memory_events: "by month; what is there stays one part",
  episodes: `by month, each month in ${HASHES} by tenant; what is there stays one part`,
};

export const plannedWords = (butler: string, tables: readonly TablePlan[]): string[] => [
  `${butler}:`,
  ...tables.flatMap((plan) => [
    `  ${plan.table}: about ${count(plan.rows)} rows, ${size(plan.bytes)}${standing(plan)}`,
    ...outlook(plan),
  ]),
];

function standing({ parted, parts }: TablePlan): string {
  if (!parted) return ", not divided";
  const last = parts.flatMap(({ to }) => to ?? []).toSorted((a, b) => b.getTime() - a.getTime())[0];
  return `, divided into ${parts.length} parts${last === undefined ? "" : `, ready until ${day(last)}`}`;
}

function outlook(plan: TablePlan): string[] {
  if (plan.parted) return [];
  const from = `${count(plan.pays_from.rows)} rows or ${size(plan.pays_from.bytes)}`;
  const begun =
    plan.begun === undefined
      ? []
      : ["    A division was begun and not finished: butler ops partition goes on with it."];
  if (!plan.pays) return [`    Dividing pays from about ${from} on: nothing to do.`, ...begun];
  return [
    `    Dividing pays (from about ${from} on): butler ops partition divides it ${WOULD[plan.table]}.`,
    `    Nothing is moved. The rows are read once to check their ids, while others read and write; then the table is locked for a moment.`,
    `    The job "partitions" keeps ${MONTHS_AHEAD} months ready from then on.`,
    ...begun,
  ];
}

export function dividedWords(butler: string, tables: readonly TablePlan[], divided: readonly string[]): string[] {
  if (divided.length > 0)
    return [`${butler}: ${divided.join(" and ")} divided.`, ...plannedWords(butler, tables).slice(1)];
  const some = tables.some(({ parted }) => parted);
  return [
    some
      ? `${butler}: nothing more to divide.`
      : `${butler}: nothing was divided, because it does not pay yet (butler ops plan); --anyway does it all the same.`,
  ];
}
