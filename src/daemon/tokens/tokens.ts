/** Tokens for HTTP. Only hashes are kept; the one token in clear text is that of the person who owns the home, in `token` (0600). */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { statSync } from "node:fs";
import { z } from "zod";
import { type Principal, TENANT_OF_BUTLER } from "../../doors/backend.ts";
import { acquireLock } from "../../engine/adapters/files/lock.ts";
import { conflict, invalid, isMissing, notFound, unavailable } from "../../engine/domain/errors.ts";
import { BUTLER_NAME } from "../config/config.ts";
import { type Home, readIfThere, writePrivate } from "../home.ts";
import { pause } from "../pause.ts";

const TokenEntry = z.strictObject({
  name: z.string(),
  sha256: z.string(),
  butler: z.string(),
  tenant: z.string(),
  admin: z.boolean(),
  /** May look and change nothing; absent in files of earlier versions. */
  reader: z.boolean().optional(),
  created: z.string(),
});
const TokenFile = z.strictObject({ tokens: z.array(TokenEntry) });

type TokenEntry = z.infer<typeof TokenEntry>;
export type TokenInfo = Omit<TokenEntry, "sha256">;

export interface TokenRequest {
  readonly name: string;
  readonly butler: string;
  readonly tenant: string;
  readonly admin: boolean;
  readonly reader?: boolean;
}

/** The name of the token in the file `token`. It may do everything: who can read that file can read the data too. */
export const HOME_TOKEN = "home";

const TOKEN_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export async function createToken(
  home: Home,
  asked: TokenRequest,
  now: Date,
): Promise<{ token: string; entry: TokenInfo }> {
  if (!TOKEN_NAME.test(asked.name))
    throw invalid("name", "A token's name has letters, digits, '.', '_' or '-', at most 64.");
  if (asked.butler !== "*" && !BUTLER_NAME.test(asked.butler))
    throw invalid("butler", `"${asked.butler}" is not a butler's name, nor "*".`);
  if (asked.tenant === "" || asked.tenant.length > 64)
    throw invalid("tenant", "A tenant's name has between 1 and 64 characters.");
  const token = freshToken();
  return changeTokens(home, (tokens) => {
    if (tokens.some((entry) => entry.name === asked.name)) {
      throw conflict(`A token named "${asked.name}" exists; revoke it first or choose another name.`);
    }
    const entry = { ...asked, created: now.toISOString() };
    return { tokens: [...tokens, { ...entry, sha256: hash(token) }], result: { token, entry } };
  });
}

export function listTokens(home: Home): TokenInfo[] {
  return readTokens(home).map(({ sha256: _, ...entry }) => entry);
}

export async function revokeToken(home: Home, name: string): Promise<void> {
  await changeTokens(home, (tokens) => {
    const kept = tokens.filter((entry) => entry.name !== name);
    if (kept.length === tokens.length)
      throw notFound(`There is no token named "${name}"; "butler token list" shows them.`);
    return { tokens: kept, result: undefined };
  });
}

/** Makes the token of the home on the first start, and again when its file was removed. */
export async function ensureHomeToken(home: Home, now: Date): Promise<string> {
  return changeTokens(home, (tokens) => {
    const known = readIfThere(home.tokenFile)?.trim();
    const kept = known && tokens.find((entry) => sameHash(entry.sha256, hash(known)));
    if (kept && kept.tenant === TENANT_OF_BUTLER) return { tokens, result: known };
    // Earlier versions wrote one tenant for all butlers. The token itself stays the same: programs have it in their settings.
    const token = kept ? known : freshToken();
    if (!kept) writePrivate(home.tokenFile, `${token}\n`);
    const entry = {
      name: HOME_TOKEN,
      butler: "*",
      tenant: TENANT_OF_BUTLER,
      admin: true,
      created: now.toISOString(),
      sha256: hash(token),
    };
    return { tokens: [...tokens.filter((other) => other.name !== HOME_TOKEN), entry], result: token };
  });
}

/** Looks at the file's time at every call, so that a revoked token is out at once and without a signal. */
export function tokenChecker(home: Home): (token: string) => Principal | undefined {
  let seen = "";
  let tokens: readonly TokenEntry[] = [];
  return (token) => {
    const stamp = stampOf(home.tokensFile);
    if (stamp !== seen) {
      tokens = readTokens(home);
      seen = stamp;
    }
    const digest = hash(token);
    const entry = tokens.find((candidate) => sameHash(candidate.sha256, digest));
    if (entry === undefined) return undefined;
    const { name, tenant, butler, admin, reader = false } = entry;
    // A token is held by a program: what comes with one never counts as the word of a person.
    return { name, tenant, butler, admin, voice: "agent", ...(reader ? { readOnly: true } : {}) };
  };
}

function stampOf(file: string): string {
  try {
    const { mtimeMs, ino, size } = statSync(file);
    return `${mtimeMs}/${ino}/${size}`;
  } catch (error) {
    if (isMissing(error)) return "none";
    throw error;
  }
}

function readTokens(home: Home): TokenEntry[] {
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
async function changeTokens<T>(
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

const freshToken = () => `bm_${randomBytes(32).toString("base64url")}`;
const hash = (token: string) => createHash("sha256").update(token).digest("hex");

function sameHash(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}
