/** The JSON routes of butlers: which there are, whether they are ready, and their tools. */
import type { Context } from "hono";
import type { Tool } from "../../engine/tools/define.ts";
import type { Backend, Principal } from "../backend.ts";
import { unknownTool } from "../failures.ts";
import { callExtras, type DoorEnv, mayUse, readJson, refuse, refusedButler, turnAway } from "./guards.ts";

interface ButlerParts {
  readonly backend: Backend;
  readonly tools: readonly Tool[];
  readonly local?: Principal;
  readonly maxBodyBytes: number;
}

export async function readiness({ backend }: ButlerParts, c: Context<DoorEnv>): Promise<Response> {
  const health = await backend.health();
  const { butler } = c.get("principal");
  const mine = health.butlers.filter(({ name }) => butler === "*" || butler === name);
  return c.json({ ...health, butlers: mine }, health.ok ? 200 : 503);
}

export async function listButlers({ backend }: ButlerParts, c: Context<DoorEnv>): Promise<Response> {
  const mine = (await backend.butlers()).filter((butler) => mayUse(c.get("principal"), butler));
  return c.json({ butlers: mine.map((butler) => ({ ...butler, mcp: mcpPath(butler.name) })) });
}

const mcpPath = (butler: string): string => `/butlers/${encodeURIComponent(butler)}/mcp`;

export async function callTool(
  { backend, tools, local, maxBodyBytes }: ButlerParts,
  c: Context<DoorEnv>,
  { name, tool }: { readonly name: string; readonly tool: string },
): Promise<Response> {
  const refused = refusedButler(c.get("principal"), name, await backend.butlers());
  if (refused !== undefined) return turnAway(c, refused, { butler: name });
  if (!tools.some((known) => known.name === tool)) return refuse(c, unknownTool(tool));
  const extras = callExtras(c, local !== undefined);
  if ("code" in extras) return refuse(c, extras);
  const body = await readJson(c.req.raw, maxBodyBytes);
  if (!body.ok) return refuse(c, body.failure, body.status);
  const request = { tool, input: body.value, ...extras };
  const outcome = await backend.invoke(c.get("principal"), name, request, { signal: c.req.raw.signal });
  return outcome.ok ? c.json(outcome.answer) : refuse(c, outcome.error);
}
