/** The cookie of a page's session. */
import type { Context } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import { SESSION_MS } from "./page-sessions.ts";

const NAME = "butler_session";

export const cookieIn = (c: Context): string | undefined => getCookie(c, NAME) || undefined;

/** An empty value ends it. */
export function giveCookie(c: Context, value: string): void {
  setCookie(c, NAME, value, {
    httpOnly: true,
    sameSite: "Strict",
    path: "/",
    maxAge: value === "" ? 0 : SESSION_MS / 1_000,
    secure: new URL(c.req.url).protocol === "https:",
  });
}
