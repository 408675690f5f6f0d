import { homeAt } from "../../daemon/home.ts";
import { keptHere, loadRoster } from "../../daemon/roster/roster.ts";
import type { ExitCode } from "../../doors/failures.ts";
import { systemClock } from "../../engine/adapters/clock.ts";
import { conflict, invalid, notFound } from "../../engine/domain/errors.ts";
import { divideStore, planDivision, type TablePlan } from "../../engine/memory/partitions/divide-store.ts";
import { isCurrent } from "../../engine/store/schema/migrate.ts";
import { type Context, readOptions } from "../program/command.ts";
import { DOING, dividedWords, NO_NEED, plannedWords } from "../words/ops.ts";
import { progressLine } from "../words/progress.ts";

export const usage = `butler ops plan [--butler <name>] [--json]
butler ops partition [--butler <name>] [--anyway] [--json]

For large memories on a PostgreSQL server. plan says how large the stream of events and the episodes are, from where on dividing them into
months pays, and what that would do; it changes nothing. partition divides those tables for which it pays, --anyway all: beside readers
and writers, without moving a row. Run it again after an interruption: it goes on. From then on the job "partitions" makes the months to come and takes
away empty ones. An embedded store has no need of it.`;

const OPTIONS = { butler: { type: "string" }, anyway: { type: "boolean" }, json: { type: "boolean" } } as const;

interface Told {
  readonly butler: string;
  readonly tables: readonly TablePlan[];
  readonly divided: readonly string[];
}

export async function run(args: readonly string[], { environment, say }: Context): Promise<ExitCode> {
  const [verb, ...rest] = args;
  if (verb !== "plan" && verb !== "partition")
    throw invalid("arguments", verb === undefined ? usage : `butler ops has no "${verb}": plan or partition.`);
  const { values } = readOptions(rest, OPTIONS);
  const { databaseUrl, directUrl } = environment;
  if (databaseUrl === undefined) {
    if (values.json) say(JSON.stringify({ store: "embedded", butlers: [], needed: false, why: NO_NEED }));
    else say(NO_NEED);
    return 0;
  }
  const names = keptHere(loadRoster(environment.roster, homeAt(environment.home).settingsFile)).map(({ name }) => name);
  const chosen = values.butler === undefined ? names : names.filter((name) => name === values.butler);
  if (chosen.length === 0)
    throw notFound(
      `There is no butler ${values.butler ?? ""} whose memory is kept here; known are ${names.join(", ")}.`,
    );
  const { hasDatabase } = await import("../wiring/server-stores.ts");
  const { openPostgres } = await import("../../engine/adapters/db/postgres.ts");
  const told: Told[] = [];
  for (const butler of chosen) {
    if (!(await hasDatabase(databaseUrl, butler))) continue;
    const applicationName = `butler ops ${process.pid}`;
    const db = await openPostgres({ url: databaseUrl, directUrl, database: `butler_${butler}`, applicationName });
    try {
      if (!(await isCurrent(db)))
        throw conflict(
          `The tables of ${butler} are of another version: start this version of butler once, then again.`,
        );
      told.push({ butler, ...(await (verb === "plan" ? look(db) : partition(db, butler, values.anyway === true))) });
    } finally {
      await db.close();
    }
  }
  if (values.json) say(JSON.stringify({ store: "server", butlers: told }));
  else for (const line of told.flatMap((one) => wordsOf(verb, one))) say(line);
  return 0;

  async function partition(db: Parameters<typeof planDivision>[0], butler: string, anyway: boolean) {
    const planned = await planDivision(db);
    const wanted = planned.filter((plan) => anyway || plan.pays).map(({ table }) => table);
    const now = environment.now === undefined ? systemClock.now() : new Date(environment.now);
    const bar = progressLine(`Dividing ${butler}`);
    const divided = await divideStore(db, wanted, {
      now,
      tell: (table, doing) => bar.show(wanted.indexOf(table), wanted.length, `${table}: ${DOING[doing]}`),
    });
    bar.done("done");
    return { tables: await planDivision(db), divided };
  }
}

const look = async (db: Parameters<typeof planDivision>[0]) => ({ tables: await planDivision(db), divided: [] });

const wordsOf = (verb: "plan" | "partition", { butler, tables, divided }: Told): string[] =>
  verb === "plan" ? plannedWords(butler, tables) : dividedWords(butler, tables, divided);
