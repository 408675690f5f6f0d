/** A path with its methods; every other method is refused by name. */
import type { Context, Hono } from "hono";
import { type DoorEnv, refuse } from "./guards.ts";

/** OPTIONS names the methods but grants no other origin anything: there are no CORS headers here. */
export function route<P extends string>(
  app: Hono<DoorEnv>,
  methods: Readonly<Record<string, (c: Context<DoorEnv, P>) => Promise<Response>>>,
  path: P,
): void {
  const allow = Object.keys(methods)
    .flatMap((name) => (name === "GET" ? ["GET", "HEAD"] : [name]))
    .join(", ");
  for (const [method, answer] of Object.entries(methods))
    app.on(method === "GET" ? ["GET", "HEAD"] : [method], path, answer);
  app.options(path, (c) => c.body(null, 204, { Allow: allow }));
  app.all(path, (c) => {
    c.header("Allow", allow);
    const message = `${c.req.method} is not possible here; allowed: ${allow}.`;
    return refuse(c, { code: "invalid_input", message, field: "method" }, 405);
  });
}
