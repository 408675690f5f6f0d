/**
 * Who is signed in on the pages. A code opens one session, once, within a minute; a session is known by the value of its cookie, of which
 * only a hash is kept. Everything is in the memory of the owner: when it ends, everybody is signed out.
 */
import { createHash, randomBytes } from "node:crypto";
import type { Principal } from "../../backend.ts";

export const SESSION_MS = 12 * 60 * 60_000;
const CODE_MS = 60_000;
/** Codes and sessions that are kept; the oldest go first. */
const MOST = 1_000;

/** Asked at every request: a session that was opened with a token ends with that token. */
export type WhoIsIt = () => Promise<Principal | undefined>;

interface Kept {
  readonly who: WhoIsIt;
  /** On the clock of `performance.now()`. */
  readonly until: number;
}

export interface PageSessions {
  /** A code that opens one session of this principal. */
  offer(principal: Principal): string;
  /** The value of the cookie; undefined when the code was used, is too old or was never given. */
  redeem(code: string): string | undefined;
  open(who: WhoIsIt): string;
  find(value: string): Promise<Principal | undefined>;
  close(value: string): void;
}

export function pageSessions(now: () => number = () => performance.now()): PageSessions {
  const codes = new Map<string, Kept>();
  const sessions = new Map<string, Kept>();

  function keep(kept: Map<string, Kept>, who: WhoIsIt, ms: number): string {
    const value = randomBytes(32).toString("base64url");
    for (const [key, { until }] of kept) if (until <= now() || kept.size >= MOST) kept.delete(key);
    kept.set(hashOf(value), { who, until: now() + ms });
    return value;
  }

  function known(kept: Map<string, Kept>, value: string): Kept | undefined {
    const found = kept.get(hashOf(value));
    return found !== undefined && found.until > now() ? found : undefined;
  }

  const open = (who: WhoIsIt) => keep(sessions, who, SESSION_MS);
  return {
    offer: (principal) => keep(codes, async () => principal, CODE_MS),
    redeem(code) {
      const found = known(codes, code);
      codes.delete(hashOf(code));
      return found && open(found.who);
    },
    open,
    find: async (value) => known(sessions, value)?.who(),
    close: (value) => void sessions.delete(hashOf(value)),
  };
}

const hashOf = (value: string): string => createHash("sha256").update(value).digest("hex");
