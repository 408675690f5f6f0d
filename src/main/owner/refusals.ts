/** Where an owner's process writes down who was turned away. */
import { type RefusalBook, refusalBook } from "../../daemon/audit/refusal-book.ts";
import type { Home } from "../../daemon/home.ts";
import type { Owner } from "../../daemon/owner/owner.ts";
import { keptHere } from "../../daemon/roster/roster.ts";
import { TENANT_OF_BUTLER } from "../../doors/backend.ts";
import type { Clock } from "../../engine/adapters/clock.ts";
import type { Log } from "../../engine/adapters/log.ts";
import type { Meter } from "../../engine/adapters/meter.ts";

interface RefusalParts {
  readonly home: Home;
  readonly log: Log;
  readonly clock: Clock;
  readonly meter: Meter | undefined;
  /** Asked for later: the owner itself has its refusals written down here. */
  owner(): Pick<Owner, "roster" | "tellRefused">;
}

export const refusalsOf = ({ home, log, clock, meter, owner }: RefusalParts): RefusalBook =>
  refusalBook({
    home,
    log,
    meter,
    now: () => clock.now(),
    tenantOf: (tenant, butler) => {
      const config = keptHere(owner().roster()).find(({ name }) => name === butler);
      return config && (tenant === TENANT_OF_BUTLER ? config.tenant : tenant);
    },
    tell: (butler, refused) => owner().tellRefused(butler, refused),
  });
