/** Answers the requests of agents' stdio connections in the owner's process. */
import type { McpLines } from "../../daemon/owner/owner-routes.ts";
import { pause } from "../../daemon/pause.ts";
import type { Backend } from "../../doors/backend.ts";
import type { Log } from "../../engine/adapters/log.ts";
import type { Meter } from "../../engine/adapters/meter.ts";
import { tools } from "../../engine/tools/index.ts";
import { version } from "../version.ts";
import type { LocalCallers } from "./local-callers.ts";

/** The protocol's library takes 80 ms to load. */
const load = () => import("../../doors/mcp/stdio/owner-side.ts");

/** An agent that begins asks its hook first; the library is loaded after that answer, and before the first call of a tool. */
const QUIET_MS = 250;

export function mcpLines(backend: Backend, callers: LocalCallers, log: Log, meter?: Meter): McpLines {
  return {
    expect: () => void pause(QUIET_MS).then(load),
    async answer({ butler, toolset, hooks, session, project, now, key, era, message }, tell, signal) {
      const { answerRequest } = await load();
      const extras = {
        session,
        idempotencyKey: key,
        ...(project === undefined ? {} : { project }),
        ...(now === undefined ? {} : { now }),
      };
      return answerRequest(
        {
          ...{ tools, toolset, hooks, butler, version, log, meter },
          call: (request, following) =>
            backend.invoke(callers.local(butler, true), butler, { ...extras, ...request }, following),
        },
        { message, era },
        tell,
        signal,
      );
    },
  };
}
