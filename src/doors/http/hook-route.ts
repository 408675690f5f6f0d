/** `POST /hooks/:agent/:event`: an event of an agent's session, sent by its hook. */
import type { ServerResponse } from "node:http";
import type { Context } from "hono";
import type { Backend, ButlerInfo } from "../backend.ts";
import {
  type DoorEnv,
  headerText,
  mayUse,
  readJson,
  refuse,
  refusedButler,
  refusedTenant,
  turnAway,
} from "./guards.ts";

interface HookParts {
  readonly backend: Backend;
  readonly maxBodyBytes: number;
}

export async function answerHook(
  { backend, maxBodyBytes }: HookParts,
  c: Context<DoorEnv>,
  { agent, event }: { readonly agent: string; readonly event: string },
): Promise<Response> {
  const butlers = await backend.butlers();
  const butler = c.req.query("butler") ?? (butlers.length === 1 ? butlers[0]?.name : undefined);
  if (!backend.hook) return refuse(c, { code: "not_found", message: "This server has no hooks.", field: "path" });
  if (butler === undefined) return refuse(c, whichButler(butlers.filter((one) => mayUse(c.get("principal"), one))));
  const refused = refusedButler(c.get("principal"), butler, butlers) ?? refusedTenant(c);
  if (refused !== undefined) return turnAway(c, refused, { butler });
  const body = await readJson(c.req.raw, maxBodyBytes);
  if (!body.ok) return refuse(c, body.failure, body.status);
  const project = headerText(c, "x-butler-project") || undefined;
  const given = c.req.header("x-butler-given") || undefined;
  const seconds = c.req.query("gone");
  // A time that cannot be read is before everything else.
  const gone = seconds === undefined ? undefined : Number(seconds) * 1_000 || 0;
  const asked = { agent, event, butler, input: body.value, project, given, gone };
  const answered = await backend.hook(c.get("principal"), asked);
  if (!answered.ok) return turnAway(c, answered.error, { butler });
  if (answered.settled) await whenSent(c, answered.settled);
  return answered.answer === undefined ? c.body(null, 204) : c.json(answered.answer);
}

const whichButler = (butlers: readonly ButlerInfo[]) => ({
  code: "invalid_input" as const,
  message: `Whose hook is it? Add ?butler= with one of: ${butlers.map(({ name }) => name).join(", ")}.`,
  field: "butler",
});

/**
 * Reports whether the answer that is about to be written has left. A hook that was cut off by its own limit has closed its connection, which
 * is seen one turn of the event loop later at the latest, also when the loop was blocked for a while.
 */
async function whenSent(c: Context<DoorEnv>, settled: (delivered: boolean) => void): Promise<void> {
  const { outgoing } = (c.env ?? {}) as { readonly outgoing?: ServerResponse };
  // Without a connection the answer is handed to the caller itself.
  if (outgoing === undefined) return settled(true);
  await new Promise((done) => setImmediate(done));
  if (outgoing.destroyed || outgoing.closed) return settled(false);
  let reported = false;
  const once = (delivered: boolean) => {
    if (!reported) settled(delivered);
    reported = true;
  };
  outgoing.once("finish", () => once(true));
  outgoing.once("close", () => once(false));
}
