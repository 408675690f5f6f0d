/** As whom local processes call: whoever can reach the socket of a home owns what is in it. */
import { type Roster, tenantOf } from "../../daemon/roster/roster.ts";
import { type Principal, TENANT_OF_BUTLER } from "../../doors/backend.ts";
import type { Trust } from "../../engine/domain/learning/trust.ts";

export interface LocalCallers {
  /** The person; or, with `agent`, an agent that is kept to its butler. */
  local(butler: string, agent?: boolean, voice?: Trust): Principal;
  /** An agent's program that writes down its own sessions on this machine: the person's words in it are theirs. */
  transcript(butler: string): Principal;
  /** A request on the socket that names no butler yet. */
  readonly unnamed: Principal;
}

const PERSON = { name: "local", butler: "*", admin: true } as const;

export function localCallers(roster: () => Roster): LocalCallers {
  const local: LocalCallers["local"] = (butler, agent = false, voice = agent ? "agent" : "user") => {
    const tenant = tenantOf(roster(), butler);
    return agent ? { name: "agent", tenant, butler, admin: false, voice } : { ...PERSON, tenant, voice };
  };
  return {
    local,
    transcript: (butler) => local(butler, true, "user"),
    unnamed: { ...PERSON, tenant: TENANT_OF_BUTLER, voice: "agent" },
  };
}
