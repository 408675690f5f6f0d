/** `/api/session`: signing in with a one-time code or a token, who one is, and signing out. */
import type { Context } from "hono";
import { z } from "zod";
import { checkInput } from "../../../engine/tools/invalid-input.ts";
import { type Backend, type Principal, TENANT_OF_BUTLER } from "../../backend.ts";
import {
  type Authenticate,
  type DoorEnv,
  type FindSession,
  isPrincipal,
  mayUse,
  readJson,
  refuse,
  turnAway,
} from "../guards.ts";
import { cookieIn, giveCookie } from "./cookie.ts";
import type { PageSessions } from "./page-sessions.ts";

export interface SessionParts {
  readonly backend: Backend;
  readonly authenticate: Authenticate;
  readonly sessions: PageSessions;
  readonly maxBodyBytes: number;
}

export const SignIn = z
  .strictObject({
    code: z.string().min(1).max(200).optional().describe("Of butler open; it opens one session, within a minute."),
    token: z.string().min(1).max(4_096).optional(),
  })
  .refine(({ code, token }) => (code === undefined) !== (token === undefined), { error: "needs a code or a token" });

export const SessionAnswer = z.object({
  name: z.string().describe("As events name who did something."),
  role: z.enum(["admin", "reader"]).describe("A reader may look, and change nothing."),
  butlers: z.array(z.object({ name: z.string(), role: z.enum(["butler", "memory"]), description: z.string() })),
});

export const SignedOut = z.object({ signed_in: z.literal(false) });

/** Who may change something on the pages. The token of an agent may call its tools, but the pages are for people. */
export const roleOf = ({ admin, readOnly }: Principal): "admin" | "reader" =>
  admin && readOnly !== true ? "admin" : "reader";

export async function signIn(parts: SessionParts, c: Context<DoorEnv>): Promise<Response> {
  const body = await readJson(c.req.raw, parts.maxBodyBytes);
  if (!body.ok) return refuse(c, body.failure, body.status);
  const asked = checkInput(SignIn, body.value);
  if (!asked.ok) return refuse(c, { code: "invalid_input", message: asked.error.message });
  const value = await opened(parts, asked.value);
  const principal = value === undefined ? undefined : await parts.sessions.find(value);
  if (value === undefined || principal === undefined) {
    const message = "This code or token is not valid (a code works once, for a minute); butler open gives a new one.";
    return turnAway(c, { code: "unauthorized", message });
  }
  giveCookie(c, value);
  return c.json(await described(parts.backend, principal));
}

async function opened(
  { authenticate, sessions }: SessionParts,
  { code, token }: z.infer<typeof SignIn>,
): Promise<string | undefined> {
  if (code !== undefined) return sessions.redeem(code);
  if (token === undefined) return undefined;
  const who = async () => {
    const found = await authenticate(token);
    return isPrincipal(found) ? found : undefined;
  };
  return (await who()) === undefined ? undefined : sessions.open(who);
}

export async function whoAmI({ backend }: SessionParts, c: Context<DoorEnv>): Promise<Response> {
  return c.json(await described(backend, c.get("principal")));
}

export async function signOut({ sessions }: SessionParts, c: Context<DoorEnv>): Promise<Response> {
  const value = cookieIn(c);
  if (value !== undefined) sessions.close(value);
  giveCookie(c, "");
  return c.json({ signed_in: false });
}

async function described(backend: Backend, principal: Principal): Promise<z.infer<typeof SessionAnswer>> {
  const mine = (await backend.butlers()).filter((butler) => mayUse(principal, butler));
  return {
    name: principal.name,
    role: roleOf(principal),
    butlers: mine.map(({ name, role, description }) => ({ name, role, description })),
  };
}

/** Served on the local socket. */
export const CODE_PATH = "/api/session/code";

/**
 * Finds the session of a page's request. Cookies do not know ports: a page of another server on this machine sends ours too, so a request
 * that a browser says comes from elsewhere has no session.
 */
export const sessionOf =
  (sessions: PageSessions): FindSession =>
  async (c) => {
    const from = c.req.header("sec-fetch-site");
    const value = cookieIn(c);
    if (!c.req.path.startsWith("/api/") || value === undefined) return undefined;
    return from === undefined || from === "same-origin" || from === "none" ? sessions.find(value) : undefined;
  };

const CodeAsked = z.strictObject({ reader: z.boolean().optional() });

/** On the local socket alone: whoever can open it is the person whose memories these are. */
export async function offerCode({ sessions, maxBodyBytes }: SessionParts, c: Context<DoorEnv>): Promise<Response> {
  const body = await readJson(c.req.raw, maxBodyBytes);
  const asked = body.ok ? CodeAsked.safeParse(body.value) : undefined;
  if (asked?.success !== true) return refuse(c, { code: "invalid_input", message: "Only reader can be given." });
  const person = { name: "page", tenant: TENANT_OF_BUTLER, butler: "*", admin: true, voice: "user" } as const;
  return c.json({ code: sessions.offer(asked.data.reader === true ? { ...person, readOnly: true } : person) });
}
