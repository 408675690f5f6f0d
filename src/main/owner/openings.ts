/** The openings that an owner keeps ready, or none where they could tell what is not true any more. */
import type { Home } from "../../daemon/home.ts";
import type { Owner } from "../../daemon/owner/owner.ts";
import { keptHere } from "../../daemon/roster/roster.ts";
import type { Clock } from "../../engine/adapters/clock.ts";
import type { Log } from "../../engine/adapters/log.ts";
import { typedCall } from "../../engine/tools/typed-call.ts";
import { openingOf } from "../../hosts/hooks/session-context.ts";
import { keepOpenings, type Openings, removeAllOpenings } from "../../hosts/openings/keep-openings.ts";
import type { Environment } from "../environment.ts";
import type { LocalCallers } from "./local-callers.ts";

interface Parts {
  readonly environment: Environment;
  readonly home: Home;
  readonly log: Log;
}

/** One text for all agents: what fits into an answer of Codex fits into those of the others. */
const MOST_CHARS = 9_000;

/**
 * Undefined on a database server, where others may write and forget without this owner; on a fixed clock, whose day never ends; and on
 * Windows, where a shell knows folders by other names than this program.
 */
export function openingsFor(
  { environment, home, log }: Parts,
  owner: Owner,
  callers: LocalCallers,
  clock: Clock,
): Openings | undefined {
  if (environment.databaseUrl !== undefined || clock.fixed || process.platform === "win32") {
    removeAllOpenings(home);
    return undefined;
  }
  return keepOpenings({
    home,
    clock,
    log,
    roster: environment.roster,
    butlers: () => keptHere(owner.roster()),
    compose: (butler, project) => {
      const by = callers.transcript(butler);
      const call = typedCall((request) =>
        owner.invoke(by, butler, project === undefined ? request : { ...request, project }),
      );
      return openingOf(call, MOST_CHARS);
    },
  });
}
