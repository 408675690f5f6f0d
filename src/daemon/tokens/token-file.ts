/** The file of a home's tokens: hashes and what each is for, never a token. Files of earlier versions are read as well. */
import { z } from "zod";
import { acquireLock } from "../../engine/adapters/files/lock.ts";
import { unavailable } from "../../engine/domain/errors.ts";
import { EVERY_SCOPE } from "../../engine/domain/scope.ts";
import { type Home, readIfThere, writePrivate } from "../home.ts";
import { pause } from "../pause.ts";

/** A reader looks, a writer stores too, an admin sees every scope of its tenant; the last may also look at other tenants. */
export const TOKEN_ROLES = ["reader", "writer", "admin", "cross-tenant"] as const;
export type TokenRole = (typeof TOKEN_ROLES)[number];

const identity = { name: z.string(), sha256: z.string(), butler: z.string(), tenant: z.string(), created: z.string() };

const Entry = z.strictObject({
  ...identity,
  role: z.enum(TOKEN_ROLES),
  /** The only scopes that it reads and writes; `*`, of a reader, is every scope of its tenant. */
  scopes: z.array(z.string()).optional(),
  /** ISO time from which on it is refused. */
  expires: z.string().optional(),
  rotated: z.string().optional(),
  /** The token before the last rotation, which works until then. */
  previous: z.strictObject({ sha256: z.string(), until: z.string() }).optional(),
});
export type TokenEntry = z.infer<typeof Entry>;

/** Of versions that knew no roles. */
const EarlierEntry = z
  .strictObject({ ...identity, admin: z.boolean(), reader: z.boolean().optional() })
  .transform(({ admin, reader = false, ...entry }): TokenEntry => {
    if (reader) return { ...entry, role: "reader", ...(admin ? { scopes: [EVERY_SCOPE] } : {}) };
    return { ...entry, role: admin ? "admin" : "writer" };
  });

const TokenFile = z.strictObject({ tokens: z.array(z.union([Entry, EarlierEntry])) });

export function readTokens(home: Home): TokenEntry[] {
  const text = readIfThere(home.tokensFile);
  if (text === undefined) return [];
  const parsed = TokenFile.safeParse(readJson(text));
  if (!parsed.success)
    throw unavailable(`${home.tokensFile} is damaged; move it away and create the tokens anew.`, parsed.error);
  return parsed.data.tokens;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Two commands that change the file at the same time must not lose one another's token. */
export async function changeTokens<T>(
  home: Home,
  change: (tokens: TokenEntry[]) => { tokens: TokenEntry[]; result: T },
): Promise<T> {
  const lock = await waitForLock(home.tokensLock);
  try {
    const before = readTokens(home);
    const { tokens, result } = change(before);
    if (tokens !== before) writePrivate(home.tokensFile, `${JSON.stringify({ tokens }, null, 2)}\n`);
    return result;
  } finally {
    await lock.release();
  }
}

async function waitForLock(path: string) {
  for (let attempt = 0; attempt < 200; attempt++) {
    const lock = await acquireLock(path);
    if (lock) return lock;
    await pause(25);
  }
  throw unavailable("Another command is changing the tokens and does not finish; try again.");
}
