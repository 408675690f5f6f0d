/**
 * Who owns the stores, and whether they answer. A running owner is asked over its socket; without one this process
 * holds the owner's lock while it looks, so that no store is ever open twice. The owner is asked with `requestOwner`: the client
 * (`daemon/line/client.ts`) would start an owner, or replace one of an older version.
 */

import { existsSync, readdirSync } from "node:fs";
import type { ButlerConfig } from "../../daemon/config/config.ts";
import type { Home } from "../../daemon/home.ts";
import { OwnerError } from "../../daemon/line/owner-error.ts";
import { requestOwner } from "../../daemon/line/request.ts";
import { type OwnerNote, readOwnerNote } from "../../daemon/owner/owner-file.ts";
import { findOwner } from "../../daemon/owner/start-owner.ts";
import { systemClock } from "../../engine/adapters/clock.ts";
import { openPgliteExclusive } from "../../engine/adapters/db/pglite.ts";
import type { Db } from "../../engine/adapters/db/port.ts";
import { openPostgres } from "../../engine/adapters/db/postgres.ts";
import { checkServer, hasDatabase, readFollowing } from "../../engine/adapters/db/postgres-admin.ts";
import { isMissingDatabase } from "../../engine/adapters/db/postgres-errors.ts";
import { checkRights, openDatabaseWarning, superuserWarning } from "../../engine/adapters/db/postgres-rights.ts";
import { parseTarget } from "../../engine/adapters/db/postgres-target.ts";
import { acquireLock, type Lock } from "../../engine/adapters/files/lock.ts";
import { errorCode, isMissing, reasonOf } from "../../engine/domain/errors.ts";
import { verifyReceipts } from "../../engine/memory/erase/receipts.ts";
import { asOwnerOf } from "../../engine/store/access/access.ts";
import { readAccess } from "../../engine/store/access/roles.ts";
import { factsByKey } from "../../engine/store/jobs/rekey.ts";
import { type Counted, countByScope, type Failing, readStats } from "../../engine/store/memories/stats.ts";
import type { OutcomeOf } from "../../engine/tools/typed-call.ts";
import { conditionFindings, conditionsOfOwner, conditionsOfStore } from "./condition-checks.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";
import { keyFindings } from "./key-check.ts";
import { receiptFindings, receiptsOfOwner } from "./receipt-check.ts";

const ANSWER_MS = 20_000;

/** Either an owner that answers, or the lock, with which the doctor may open the stores itself, or neither. */
export interface Ownership {
  readonly finding: Finding;
  readonly owner: OwnerNote | undefined;
  readonly lock: Lock | undefined;
}

export async function checkOwner(home: Home, version: string): Promise<Ownership> {
  try {
    const owner = await findOwner(home, ANSWER_MS);
    if (owner) return { finding: ownerFinding(owner, version), owner, lock: undefined };
    // Taking the lock would create folders of the home, and the doctor changes nothing.
    const lock = existsSync(home.run) ? await acquireLock(home.ownerLock) : { release: async () => undefined };
    if (lock) return { finding: ok("owner", "nobody: the next command starts one"), owner: undefined, lock };
    const pid = readOwnerNote(home)?.pid;
    const who = pid === undefined ? "a process" : `process ${pid}`;
    const found = `${who} holds the lock but does not answer: it is starting, stopping or stuck`;
    return {
      finding: warn("owner", found, "Try again in a moment; if it stays so, end that process."),
      owner: undefined,
      lock: undefined,
    };
  } catch (error) {
    const finding = fail("owner", reasonOf(error), `butler stop; if that does not help, read ${home.ownerLog}.`);
    return { finding, owner: undefined, lock: undefined };
  }
}

function ownerFinding(owner: OwnerNote, version: string): Finding {
  const how = owner.mode === "up" ? `butler up at ${owner.address}` : "started by a client";
  const found = `process ${owner.pid}, version ${owner.version}, since ${owner.started}, ${how}${owner.fixed ? ", on fixed time" : ""}`;
  if (owner.version === version) return ok("owner", found);
  return warn("owner", `${found}; this is ${version}`, "butler stop, and the next start is of one version.");
}

export interface StoreParts {
  readonly home: Home;
  readonly databaseUrl: string | undefined;
  readonly ownership: Ownership;
}

export async function checkStore(parts: StoreParts, butler: ButlerConfig): Promise<Finding[]> {
  const check = `store ${butler.name}`;
  if (!butler.memory.enabled) return [ok(check, "no memory in its butler.toml")];
  if (butler.memory.service !== undefined) return [ok(check, `kept by ${butler.memory.service}`)];
  try {
    if (parts.ownership.owner)
      return [...(await askOwner(parts.home, check, butler.name)), ...keyFindings(butler, undefined)];
    if (parts.databaseUrl !== undefined) return await lookAtDatabase(parts.databaseUrl, check, butler);
    if (!parts.ownership.lock)
      return [warn(check, "not looked at: another process holds the lock", "See the owner above.")];
    return await lookAtFolder(parts.home.store(butler.name), check, butler);
  } catch (error) {
    return [fail(check, reasonOf(error), "The sentence says what to do; nothing was changed.")];
  }
}

async function askOwner(home: Home, check: string, butler: string): Promise<Finding[]> {
  const body = { butler, request: { tool: "memory_stats", input: { scope: "*" } } };
  const question = { socket: home.socket, method: "POST", path: "/owner/call", timeoutMs: ANSWER_MS, body } as const;
  const outcome = await requestOwner(question).then(
    ({ json }) => json as OutcomeOf<"memory_stats">,
    (error: unknown) => {
      if (error instanceof OwnerError && error.code === "stopping") return undefined;
      throw error;
    },
  );
  if (!outcome) return [warn(check, "the owner is stopping", "Try again in a moment.")];
  const conditions = conditionFindings(butler, await conditionsOfOwner(home, butler, ANSWER_MS));
  if (!outcome.ok)
    return [fail(check, outcome.error.message, `The owner's log may say more: ${home.ownerLog}.`), ...conditions];
  const { episodes, facts, rules, consolidation } = outcome.answer;
  const counts = counted(episodes.total, facts.total, rules.total);
  const receipts = await receiptsOfOwner(home, butler, ANSWER_MS);
  return [learning(check, `the owner answers: ${counts}`, consolidation.failing), ...conditions, ...receipts];
}

async function lookAtFolder(dir: string, check: string, butler: ButlerConfig): Promise<Finding[]> {
  const names = filesIn(dir);
  const keys = () => keyFindings(butler, undefined);
  if (names.length === 0) return [ok(check, "not there yet; the first use makes it"), ...keys()];
  if (names.includes("butler-unfinished"))
    return [ok(check, "its making was interrupted; the next use makes it anew"), ...keys()];
  const db = await openPgliteExclusive({ dir });
  return lookInside(db, check, butler, `${dir} opens`);
}

async function lookAtDatabase(url: string, check: string, butler: ButlerConfig): Promise<Finding[]> {
  try {
    const db = await openPostgres({ url, database: `butler_${butler.name}`, max: 1 });
    return await lookInside(db, check, butler, `database butler_${butler.name}`);
  } catch (error) {
    if (!isMissingDatabase(error)) throw error;
    const found = `database butler_${butler.name} is not there yet; the first use makes it`;
    return [ok(check, found), ...keyFindings(butler, undefined)];
  }
}

async function lookInside(store: Db, check: string, butler: ButlerConfig, where: string): Promise<Finding[]> {
  try {
    const db = asOwnerOf(store, (await readAccess(store)).roles, "health");
    const asked = { tenant: butler.tenant, scopes: undefined, now: systemClock.now() };
    const found = await readStats(db, asked);
    const all = await countByScope(db, asked);
    const sum = (of: (one: Counted) => boolean) => all.reduce((n, one) => (of(one) ? n + one.n : n), 0);
    const counts = counted(
      sum(({ what }) => what === "tier"),
      sum(({ what, name }) => what === "state" && ["active", "fading"].includes(name)),
      sum(({ what }) => what === "maturity"),
    );
    const conditions = await conditionsOfStore(db, butler.memory.extractor.daily_budget_usd, systemClock.now());
    const receipts = receiptFindings(butler.name, await verifyReceipts(db));
    const first = learning(check, `${where}: ${counts}`, found.failing);
    const keys = keyFindings(butler, await factsByKey(db));
    return [first, ...conditionFindings(butler.name, conditions), ...receipts, ...keys];
  } catch (error) {
    // Undefined table or column: made by another version, or never finished.
    if (!["42P01", "42703"].includes(errorCode(error) ?? "")) throw error;
    return [warn(check, `${where}, but its tables are of another version`, "The next start brings them up to date.")];
  } finally {
    await store.close();
  }
}

/** A store that answers gets a warning when consolidation fails in it. */
function learning(check: string, found: string, failing: Failing | null): Finding {
  if (failing === null) return ok(check, found);
  const words = `${found}; nothing was learned since ${failing.since} (${failing.provider}): ${failing.reason}`;
  return warn(
    check,
    words,
    "Correct [modules.memory.extractor] or wait for the provider; then butler job run consolidate.",
  );
}

export async function checkDatabaseServer(url: string): Promise<Finding> {
  try {
    const db = await openPostgres({ url, max: 1 });
    try {
      const { server, pgvector } = await checkServer(db);
      const found = `PostgreSQL ${server} with pgvector ${pgvector}`;
      const unwise = await superuserWarning(db);
      return unwise === undefined ? ok("server", found) : warn("server", found, unwise);
    } finally {
      await db.close();
    }
  } catch (error) {
    return fail(
      "server",
      reasonOf(error),
      "Correct BUTLER_DATABASE_URL or the server; without the variable stores are embedded.",
    );
  }
}

/** A replica that is to be read from: whether it answers, and whether it follows the primary. */
export async function checkReplica(url: string): Promise<Finding> {
  const check = "replica";
  try {
    const { server } = parseTarget(url);
    const db = await openPostgres({ url, max: 1 });
    try {
      const { follows, streams } = await readFollowing(db);
      if (!follows)
        return warn(
          check,
          `${server} is no replica`,
          "Correct BUTLER_READ_URL: nothing is read from a server that follows none.",
        );
      if (!streams)
        return warn(
          check,
          `${server} follows, but no primary sends to it`,
          "Look at the replica's log and primary_conninfo.",
        );
      return ok(check, `${server} follows the primary`);
    } finally {
      await db.close();
    }
  } catch (error) {
    return warn(check, reasonOf(error), "Correct BUTLER_READ_URL or the replica; until then the primary answers.");
  }
}

/** The rights on a butler's own database; undefined when there is none, or the butler keeps no memory here. */
export async function checkDatabaseRights(url: string, butler: ButlerConfig): Promise<Finding | undefined> {
  if (!butler.memory.enabled || butler.memory.service !== undefined) return undefined;
  const check = `rights ${butler.name}`;
  try {
    if (!(await hasDatabase(url, butler.name))) return undefined;
    const db = await openPostgres({ url, database: `butler_${butler.name}`, max: 1 });
    try {
      await checkRights(db);
      const unwise = await openDatabaseWarning(db);
      const found = `database butler_${butler.name}`;
      return unwise === undefined ? ok(check, `${found}, for its owner alone`) : warn(check, found, unwise);
    } finally {
      await db.close();
    }
  } catch (error) {
    return fail(check, reasonOf(error), "The sentence says what to do; nothing was changed.");
  }
}

const counted = (episodes = 0, facts = 0, rules = 0) => `${episodes} episodes, ${facts} facts, ${rules} rules`;

function filesIn(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
