/** Checks around the stores: Node, the home and its modes, tokens, spool, disk and roster. Nothing is repaired. */

import { accessSync, constants, existsSync, statSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { readDaemonSettings } from "../../daemon/config/daemon-config.ts";
import { type Home, ownPaths } from "../../daemon/home.ts";
import { loadRoster, type Roster } from "../../daemon/roster/roster.ts";
import { listTokens, type TokenInfo } from "../../daemon/tokens/tokens.ts";
import { openPaths } from "../../engine/adapters/files/private-files.ts";
import { isMissing, messageOf, reasonOf } from "../../engine/domain/errors.ts";
import { failedFolder } from "../../hosts/hooks/spool/files.ts";
import { spoolState } from "../../hosts/hooks/spool/state.ts";
import { openingsKept } from "../../hosts/openings/openings-state.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

const NODE_AT_LEAST = [20, 19] as const;

export function checkNode(version = process.versions.node): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const enough = major > NODE_AT_LEAST[0] || (major === NODE_AT_LEAST[0] && minor >= NODE_AT_LEAST[1]);
  if (enough) return ok("node", `Node ${version}`);
  return fail("node", `Node ${version}`, `Install Node ${NODE_AT_LEAST.join(".")} or newer.`);
}

export function checkHome(home: Home): Finding[] {
  const nearest = nearestFolder(home.root);
  try {
    accessSync(nearest, constants.W_OK | constants.X_OK);
    if (nearest !== home.root && existsSync(home.root)) throw new Error("it is not a folder");
  } catch (error) {
    const remedy = "Set BUTLER_HOME to a folder of yours, or give yourself write permission.";
    return [fail("home", `${home.root} cannot be written: ${reasonOf(error)}`, remedy)];
  }
  if (nearest !== home.root) return [ok("home", `${home.root} is not there yet; the first use makes it`)];
  const own = ownPaths(home);
  const open = [...(isOpenToOthers(home.root) ? [home.root] : []), ...own.flatMap((path) => [...openPaths(path)])];
  const [first] = open;
  if (first === undefined) return [ok("home", `${home.root}, writable, for you alone`)];
  const more = open.length === 1 ? "" : ` and ${open.length - 1} more`;
  const remedy = `chmod 700 ${home.root}; chmod -R go= ${own.filter((path) => existsSync(path)).join(" ")}`;
  return [warn("home", `others have rights on ${first}${more}`, remedy)];
}

/** The folder itself, or the closest one above it that exists. */
function nearestFolder(path: string): string {
  try {
    if (statSync(path).isDirectory()) return path;
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  return dirname(path) === path ? path : nearestFolder(dirname(path));
}

function isOpenToOthers(path: string): boolean {
  try {
    return process.platform !== "win32" && (statSync(path).mode & 0o077) !== 0;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** An owner does not start with a faulty one. */
export function checkDaemonToml(home: Home): Finding {
  if (!existsSync(home.daemonFile)) return ok("daemon.toml", "none; every limit has its default");
  try {
    const { oauth } = readDaemonSettings(home);
    return ok(
      "daemon.toml",
      oauth === undefined ? "limits; no issuer of tokens" : `tokens of ${oauth.issuer} are taken`,
    );
  } catch (error) {
    return fail("daemon.toml", messageOf(error), `Correct ${home.daemonFile}, or move it away.`);
  }
}

/** Time enough to rotate a token before the program that holds it is refused. */
const EXPIRES_SOON_MS = 14 * 86_400_000;

export function checkTokens(home: Home, now: Date): Finding {
  const open = [home.tokenFile, home.tokensFile].filter(isOpenToOthers);
  if (open.length > 0) {
    const remedy = `chmod 600 ${open.join(" ")}, and revoke what others may have read: butler token revoke <name>.`;
    return fail("tokens", `others may read ${open.join(", ")}`, remedy);
  }
  try {
    const tokens = listTokens(home);
    if (tokens.length === 0) return ok("tokens", "none yet; the first start makes one");
    return tokensEnding(tokens, now) ?? ok("tokens", `${tokens.length} in ${home.tokensFile}, for you alone`);
  } catch (error) {
    return fail("tokens", reasonOf(error), `Move ${home.tokensFile} away and create the tokens anew.`);
  }
}

function tokensEnding(tokens: readonly TokenInfo[], now: Date): Finding | undefined {
  const before = (at: Date) => tokens.filter(({ expires }) => expires !== undefined && expires <= at.toISOString());
  const over = before(now);
  const soon = before(new Date(now.getTime() + EXPIRES_SOON_MS)).filter((token) => !over.includes(token));
  if (over.length + soon.length === 0) return undefined;
  const told = [
    ...over.map(({ name, expires }) => `"${name}" expired on ${expires?.slice(0, 10)}`),
    ...soon.map(({ name, expires }) => `"${name}" expires on ${expires?.slice(0, 10)}`),
  ];
  const remedy = "butler token rotate <name> --expires 90d gives a new one, butler token revoke <name> ends it.";
  return warn("tokens", told.join(", "), remedy);
}

export function checkSpool(home: Home): Finding {
  const { waiting, troubled, failed } = spoolState(home);
  const waits = `${waiting} ${waiting === 1 ? "exchange waits" : "exchanges wait"} to be stored`;
  const problems = [...troubled, ...failed];
  if (problems.length === 0) return ok("spool", waiting === 0 ? "nothing waits to be stored" : waits);
  const reasons = [...new Set(problems.map(({ butler, code }) => `${butler ?? "nobody knows whose"}: ${code}`))].sort();
  const found = [
    ...(failed.length === 0
      ? []
      : [`${failed.length} exchanges could not be stored and are put aside in ${failedFolder(home)}`]),
    ...(troubled.length === 0 ? [] : [`${troubled.length} are tried again and again`]),
    `(${reasons.slice(0, 5).join("; ")})`,
  ].join(", ");
  return warn("spool", found, "butler spool shows them; when the cause is gone, butler spool retry has them stored.");
}

/** Files of another owner's day are not told any more, and the next session has them written anew. */
export function checkOpenings(home: Home, now: Date): Finding {
  const kept = openingsKept(home).filter(({ projects }) => projects > 0);
  if (kept.length === 0) return ok("openings", "none ready; the first session of a project has one kept");
  const found = kept.map(({ butler, projects, oldest }) => {
    const hours = Math.floor((now.getTime() - (oldest ?? now).getTime()) / 3_600_000);
    const age = hours < 1 ? "within the last hour" : `${hours} ${hours === 1 ? "hour" : "hours"} ago at the earliest`;
    return `${projects} ${projects === 1 ? "project" : "projects"} of ${butler}, made ${age}`;
  });
  return ok("openings", `ready for ${found.join("; ")}`);
}

const GIGABYTE = 1e9;

export async function checkDisk(home: Home): Promise<Finding> {
  const { bavail, bsize } = await statfs(nearestFolder(home.root));
  const free = (bavail * bsize) / GIGABYTE;
  const found = `${free.toFixed(1)} GB free where ${home.root} lies`;
  // A store of 10,000 memories takes about 0.2 GB with its log of changes, and PostgreSQL stops when it cannot write.
  if (free < 0.2) return fail("disk", found, "Free some space: a store that cannot write stops.");
  return free < 1 ? warn("disk", found, "Free some space before it runs out.") : ok("disk", found);
}

export function checkRoster(
  folder: string | undefined,
  settingsFile: string,
): { finding: Finding; roster: Roster | undefined } {
  try {
    const roster = loadRoster(folder, settingsFile);
    const names = roster.map(({ name }) => name).join(", ");
    return {
      finding: ok("roster", folder === undefined ? `none: one butler, ${names}` : `${folder}: ${names}`),
      roster,
    };
  } catch (error) {
    const message = messageOf(error);
    return {
      finding: fail("roster", message, "Correct the file, or point BUTLER_ROSTER to another folder."),
      roster: undefined,
    };
  }
}
