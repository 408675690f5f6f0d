/** What the pages are told of a home besides its memories: sessions of agents, settings, jobs, and that something changed. */
import { statSync } from "node:fs";
import { butlerValues, type Presets } from "../../daemon/config/values.ts";
import type { Home } from "../../daemon/home.ts";
import type { Owner } from "../../daemon/owner/owner.ts";
import { rosterEntries, tenantOf } from "../../daemon/roster/roster.ts";
import { type HomeReads, inTenant, type Principal, type SeenSession } from "../../doors/backend.ts";
import type { Clock } from "../../engine/adapters/clock.ts";
import { jobs } from "../../engine/memory/keep/jobs.ts";
import type { Outcome } from "../../engine/tools/outcome.ts";
import { readRecords, type SessionRecord } from "../../hosts/sessions/read-sessions.ts";
import { sessionLogFile } from "../../hosts/sessions/session-log.ts";
import { sessionIdOf } from "../../hosts/transcripts/episodes.ts";
import type { Environment } from "../environment.ts";
import { homeTokens } from "./home-tokens.ts";

export interface HomeReadParts {
  readonly environment: Environment;
  readonly home: Home;
  readonly owner: Pick<Owner, "roster" | "jobs" | "standing">;
  readonly clock: Clock;
  readonly follow: HomeReads["follow"];
}

export function homeReads({ environment, home, owner, clock, follow }: HomeReadParts): HomeReads {
  const records = recordsOf(home, clock);
  /** A home has one tenant for each butler; a shared memory may serve tokens of others, who are told nothing of this home. */
  const refused = (principal: Principal, butler: string): Extract<Outcome, { ok: false }> | undefined => {
    const tenant = tenantOf(owner.roster(), butler);
    // Sessions, settings and jobs are of the whole butler: who is bound to scopes is not shown them.
    const own = (principal.admin || principal.butler === butler) && principal.scopes === undefined;
    if (own && inTenant(principal, tenant).tenant === tenant) return undefined;
    return { ok: false, error: { code: "forbidden", message: "This is for those who run the butler.", field: "role" } };
  };
  return {
    sessions: async (principal, butler) =>
      refused(principal, butler) ?? {
        ok: true,
        answer: { sessions: records().flatMap((record) => (record.session.butler === butler ? [seen(record)] : [])) },
      },
    settings: async (principal, butler) => {
      const config = owner.roster().find(({ name }) => name === butler);
      const no = refused(principal, butler);
      if (no !== undefined || config === undefined) return no ?? { ok: true, answer: { values: [] } };
      const entry = rosterEntries(environment.roster, home.settingsFile).find(({ name }) => name === butler);
      const written = entry?.checked.ok ? entry.checked.written : undefined;
      const here = config.memory.enabled && config.memory.service === undefined;
      return { ok: true, answer: { values: butlerValues(config, written, here ? PRESETS : {}) } };
    },
    jobs: async (principal, butler, request) => refused(principal, butler) ?? owner.jobs({ ...request, butler }),
    standing: async (principal, butler) => {
      const standing = refused(principal, butler) ?? (await owner.standing(butler));
      if (standing === undefined)
        return { ok: false, error: { code: "not_found", message: `There is no butler "${butler}".` } };
      return "ok" in standing ? standing : { ok: true, answer: standing };
    },
    tokens: homeTokens(home, owner, clock),
    follow,
  };
}

const PRESETS: Presets = Object.fromEntries(jobs.map(({ name, cron }) => [name, cron]));

/** The log has up to 10 MB, and is read again only when it has changed. */
function recordsOf(home: Home, clock: Clock): () => readonly SessionRecord[] {
  let stamp = "";
  let records: readonly SessionRecord[] = [];
  return () => {
    const at = statSync(sessionLogFile(home), { throwIfNoEntry: false });
    const now = at === undefined ? "none" : `${at.mtimeMs}/${at.size}/${at.ino}`;
    if (now !== stamp) {
      records = readRecords(home, clock.now());
      stamp = now;
    }
    return records;
  };
}

function seen({ session, told }: SessionRecord): SeenSession {
  const { butler: _, exit_code: __, tools: ___, ...rest } = session;
  return { ...rest, session_id: sessionIdOf(session.id), told };
}

/** Who follows a butler's memory. */
export function followers(): { follow: HomeReads["follow"]; changed(butler: string): void } {
  const waiting = new Map<string, Set<() => void>>();
  return {
    follow(butler, changed) {
      const own = waiting.get(butler) ?? new Set();
      waiting.set(butler, own.add(changed));
      return () => void own.delete(changed);
    },
    changed(butler) {
      for (const tell of waiting.get(butler) ?? []) tell();
    },
  };
}
