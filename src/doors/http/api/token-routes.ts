/** Tokens of a butler, for whoever runs the home: which there are, a new one (shown once), and the end of one. */
import { z } from "zod";
import { checkInput } from "../../../engine/tools/invalid-input.ts";
import type { Outcome } from "../../../engine/tools/outcome.ts";
import { roleOf } from "../access/session-routes.ts";
import { type ApiRoute, type Asked, MEMORY, refusal } from "./define.ts";

const Token = z.object({
  name: z.string(),
  butler: z.string().describe("* for every butler."),
  role: z.enum(["reader", "writer", "admin", "cross-tenant"]),
  admin: z.boolean(),
  reader: z.boolean().describe("May look and change nothing."),
  scopes: z.array(z.string()).nullable().describe("The only scopes that it reads and writes; null: those of its role."),
  created: z.string(),
  expires: z.string().nullable(),
  last_used: z.string().nullable().describe("The day of its last use."),
});
const Tokens = z.object({ tokens: z.array(Token).describe("Of this butler, and those for every butler.") });
const NewToken = z.strictObject({
  name: z.string().min(1).max(64),
  role: z.enum(["reader", "writer", "admin"]).optional().describe("writer if left out."),
  reader: z.boolean().optional().describe("Short for the role reader."),
  scopes: z.array(z.string().min(1).max(265)).min(1).max(50).optional(),
  expires_in_days: z.number().int().min(1).max(3_650).optional(),
});
const Rotation = z.strictObject({
  grace_minutes: z
    .number()
    .int()
    .min(0)
    .max(10_080)
    .optional()
    .describe("How long the old one still works; 0 if left out."),
});
const Created = Token.extend({ token: z.string().describe("Shown once: only its hash is kept.") });
const Revoked = z.object({ revoked: z.string() });
const none = z.strictObject({});

const noHome = refusal("unavailable", "This server keeps memories only; its tokens are made where it runs.");
const readers = refusal("forbidden", "You may look but not change anything; sign in as an admin for that.", "role");

async function list({ backend, principal, params }: Asked): Promise<Outcome> {
  return (await backend.home?.tokens.list(principal, params.name ?? "")) ?? noHome;
}

async function create({ backend, principal, params, given }: Asked): Promise<Outcome> {
  if (roleOf(principal) !== "admin") return readers;
  const asked = checkInput(NewToken, given);
  if (!asked.ok) return refusal("invalid_input", asked.error.message, asked.error.field);
  const { name, role, reader = false, scopes, expires_in_days: expiresInDays } = asked.value;
  const wanted = { name, role: role ?? (reader ? ("reader" as const) : ("writer" as const)), scopes, expiresInDays };
  return (await backend.home?.tokens.create(principal, params.name ?? "", wanted)) ?? noHome;
}

async function rotate({ backend, principal, params, given }: Asked): Promise<Outcome> {
  if (roleOf(principal) !== "admin") return readers;
  const asked = checkInput(Rotation, given);
  if (!asked.ok) return refusal("invalid_input", asked.error.message, asked.error.field);
  const graceMs = (asked.value.grace_minutes ?? 0) * 60_000;
  return (await backend.home?.tokens.rotate(principal, params.name ?? "", params.token ?? "", graceMs)) ?? noHome;
}

async function revoke({ backend, principal, params }: Asked): Promise<Outcome> {
  if (roleOf(principal) !== "admin") return readers;
  return (await backend.home?.tokens.revoke(principal, params.name ?? "", params.token ?? "")) ?? noHome;
}

const path = `${MEMORY}/tokens`;

export const tokenRoutes: readonly ApiRoute[] = [
  {
    id: "Tokens",
    method: "GET",
    path,
    summary: "The tokens of a butler, without their secrets",
    input: none,
    answer: Tokens,
    run: list,
  },
  {
    id: "CreateToken",
    method: "POST",
    path,
    summary: "Makes a token for this butler; it is shown once",
    input: NewToken,
    answer: Created,
    run: create,
  },
  {
    id: "RotateToken",
    method: "POST",
    path: `${path}/:token/rotate`,
    summary: "A new token in the place of this one; it is shown once",
    input: Rotation,
    answer: Created,
    run: rotate,
  },
  {
    id: "RevokeToken",
    method: "POST",
    path: `${path}/:token/revoke`,
    summary: "Ends a token: it is refused from that moment on",
    input: none,
    answer: Revoked,
    run: revoke,
  },
];

export type ApiTokens = z.infer<typeof Tokens>;
export type ApiNewToken = z.infer<typeof Created>;
