import { homeAt, prepareHome } from "../../daemon/home.ts";
import { takeOwnership } from "../../daemon/owner/take-ownership.ts";
import { keptHere, loadRoster } from "../../daemon/roster/roster.ts";
import type { ExitCode } from "../../doors/failures.ts";
import { openPglite } from "../../engine/adapters/db/pglite.ts";
import type { Db } from "../../engine/adapters/db/port.ts";
import type { Log } from "../../engine/adapters/log.ts";
import { invalid, notFound } from "../../engine/domain/errors.ts";
import {
  type Moved,
  type MovePlan,
  type MoveProgress,
  moveStore,
  planMove,
} from "../../engine/memory/move/move-store.ts";
import { stderrLog } from "../logger.ts";
import { type Context, readOptions } from "../program/command.ts";
import { holdsStore, openPlace, type Place, placeNamed, refuseSame } from "../wiring/migration-ends.ts";
import { type ButlerMoved, movedWords, plannedWords } from "../words/migrate.ts";
import { progressLine } from "../words/progress.ts";

export const usage = `butler migrate --to <database url | folder> [--butler <name>] [--dry-run] [--skip-replay] [--json]

Moves memories from the embedded store to a PostgreSQL server, back, or from one server to another: every row is copied, compared with
the one that it was copied from, and rebuilt from the audit stream. A folder is a home (BUTLER_HOME), which may be the present one. All butlers of the roster are moved
unless one is named. The memory that is moved is only read; it stays where it is, and nothing is written over: a place that holds other
memories is refused. Run it again after an interruption: it goes on where it stopped. An owner in the background is stopped first, and calls
wait or fail meanwhile. --dry-run says what would be moved. --skip-replay leaves the audit stream out of the verification.`;

const OPTIONS = {
  to: { type: "string" },
  butler: { type: "string" },
  "dry-run": { type: "boolean" },
  "skip-replay": { type: "boolean" },
  json: { type: "boolean" },
} as const;

interface Move {
  readonly from: Place;
  readonly to: Place;
  readonly log: Log;
}

export async function run(args: readonly string[], { environment, say }: Context): Promise<ExitCode> {
  const { values } = readOptions(args, OPTIONS);
  if (values.to === undefined)
    throw invalid(
      "to",
      "Where to? Name a database URL (postgres://user:password@host:5432/database) or a folder with --to.",
    );
  const home = homeAt(environment.home);
  const from: Place = { url: environment.databaseUrl, home };
  const to = placeNamed(values.to, home);
  refuseSame(from, to);
  const move: Move = { from, to, log: stderrLog(environment.logLevel ?? "error") };
  prepareHome(home);
  const names = keptHere(loadRoster(environment.roster, home.settingsFile)).map(({ name }) => name);
  const chosen = values.butler === undefined ? names : names.filter((name) => name === values.butler);
  if (chosen.length === 0)
    throw notFound(
      `There is no butler ${values.butler ?? ""} whose memory is kept here; known are ${names.join(", ")}.`,
    );
  // Held until the end, so that no owner of this home opens what is being moved.
  const lock = await takeOwnership(home);
  try {
    if (to.url === undefined) prepareHome(to.home);
    const moved: ButlerMoved[] = [];
    for (const butler of chosen)
      moved.push({
        butler,
        ...(values["dry-run"] ? await plan(move, butler) : await moveOne(move, butler, values["skip-replay"] === true)),
      });
    const answer = {
      to: to.url === undefined ? "folder" : "server",
      dry_run: values["dry-run"] === true,
      butlers: moved,
    };
    if (values.json) say(JSON.stringify(answer));
    else for (const line of values["dry-run"] ? plannedWords(moved) : movedWords(moved, from, to)) say(line);
    return 0;
  } finally {
    await lock.release();
  }
}

const NOTHING: MovePlan = { start: "nothing", rows: {} };

/** Makes nothing: a target that is not there yet is not opened. */
async function plan({ from, to, log }: Move, butler: string): Promise<MovePlan> {
  if (!(await holdsStore(from, butler))) return NOTHING;
  return withDb(openPlace(from, butler, log), async (source) =>
    (await holdsStore(to, butler))
      ? withDb(openPlace(to, butler, log), (target) => planMove(source, target))
      : planMove(source, undefined),
  );
}

async function moveOne({ from, to, log }: Move, butler: string, skipReplay: boolean): Promise<Moved> {
  if (!(await holdsStore(from, butler))) return { ...NOTHING, copied: 0, compared: 0, replayed: undefined };
  const bar = progressLine(`Moving ${butler}`);
  const tell: MoveProgress = ({ what, done, total }) => bar.show(done, total, what);
  const scratch = skipReplay ? undefined : () => openPglite({ dir: undefined });
  const moved = await withDb(openPlace(from, butler, log), (source) =>
    withDb(openPlace(to, butler, log), (target) => moveStore({ source, target, scratch, tell })),
  );
  bar.done("done");
  return moved;
}

async function withDb<T>(opening: Promise<Db>, work: (db: Db) => Promise<T>): Promise<T> {
  const db = await opening;
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}
