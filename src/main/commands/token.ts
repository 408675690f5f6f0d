import { type Home, homeAt, prepareHome } from "../../daemon/home.ts";
import { loadRoster, tenantOf } from "../../daemon/roster/roster.ts";
import { readLastUses } from "../../daemon/tokens/last-use.ts";
import { TOKEN_ROLES, type TokenRole } from "../../daemon/tokens/token-file.ts";
import { createToken, listTokens, revokeToken, rotateToken, type TokenRequest } from "../../daemon/tokens/tokens.ts";
import { TENANT_OF_BUTLER } from "../../doors/backend.ts";
import type { ExitCode } from "../../doors/failures.ts";
import { systemClock } from "../../engine/adapters/clock.ts";
import { invalid } from "../../engine/domain/errors.ts";
import { EVERY_SCOPE } from "../../engine/domain/scope.ts";
import { type Context, type Read, readOptions } from "../program/command.ts";
import { readExpiry, readSpan } from "../program/read-span.ts";
import { tokenLine } from "../words/tokens.ts";

export const usage = `butler token create --name <name> [--role reader|writer|admin|cross-tenant] [--butler <name>|*] [--scope <scope>]...
                    [--tenant <tenant>] [--expires <90d>] [--json]
butler token list [--json]
butler token rotate <name> [--grace <1h>] [--expires <90d>] [--json]
butler token revoke <name> [--json]

Whoever calls over HTTP needs a token. A token for one butler (the default is every butler, "*") cannot call another one.
Roles: a reader may look and change nothing (for Prometheus, say), a writer (the default) reads and stores, an admin sees every
scope of its tenant, and a cross-tenant admin may also look at another tenant that it names in X-Butler-Tenant; each such look
is an event in that tenant's stream. --admin and --reader are short for the role.
With --scope (global, <butler> or <butler>/<project>, as often as needed) a token reads and writes these scopes and no others.
Without --tenant it is the butler's own, as its butler.toml says. --expires takes a time such as 12h, 90d or a day, 2027-01-31.
A token is shown once, when it is created or rotated: only its hash is kept. After a rotation the old one works for the time
of --grace, which is none if left out. A revoked token is refused from that moment on, also by an owner that is running.`;

const options = {
  name: { type: "string" },
  butler: { type: "string" },
  tenant: { type: "string" },
  role: { type: "string" },
  scope: { type: "string", multiple: true },
  expires: { type: "string" },
  grace: { type: "string" },
  admin: { type: "boolean" },
  reader: { type: "boolean" },
  json: { type: "boolean" },
} as const;
type Flags = Read<typeof options>["values"];

const VERBS = ["create", "list", "rotate", "revoke"];

export async function run(args: readonly string[], { environment, say }: Context): Promise<ExitCode> {
  const { values, positionals } = readOptions(args, options, true);
  const [verb, named, ...more] = positionals;
  if (more.length > 0) throw invalid("arguments", `"${more.join(" ")}" is too much.`);
  if (verb === undefined || !VERBS.includes(verb))
    throw invalid("arguments", "butler token create, list, rotate or revoke?");
  const home = homeAt(environment.home);
  const now = systemClock.now();
  if (verb === "list") {
    list(home, now, values.json ?? false, say);
    return 0;
  }
  const name = values.name ?? named;
  if (name === undefined) throw invalid("name", `Which token? butler token ${verb} --name <name>.`);
  prepareHome(home);
  if (verb === "revoke") {
    await revokeToken(home, name);
    say(values.json ? JSON.stringify({ revoked: name }) : `The token "${name}" is revoked.`);
    return 0;
  }
  const expires = readExpiry(values.expires, now);
  const graceMs = values.grace === undefined ? 0 : readSpan(values.grace, "grace");
  const { token, entry } =
    verb === "rotate"
      ? await rotateToken(home, name, { now, graceMs, expires })
      : await createToken(home, requestOf(name, values, expires, environment.roster, home), now);
  say(values.json ? JSON.stringify({ token, ...entry }) : token);
  return 0;
}

function list(home: Home, now: Date, json: boolean, say: (line: string) => void): void {
  const tokens = listTokens(home);
  const uses = readLastUses(home);
  if (json) say(JSON.stringify({ tokens: tokens.map((token) => ({ ...token, last_used: uses[token.name] ?? null })) }));
  else if (tokens.length === 0) say("There are no tokens yet; butler up makes the first one.");
  else for (const token of tokens) say(tokenLine(token, uses, now));
}

function requestOf(
  name: string,
  flags: Flags,
  expires: string | undefined,
  roster: string | undefined,
  home: Home,
): TokenRequest {
  const butler = flags.butler ?? "*";
  const role = roleIn(flags);
  // A reader of everything, as --admin --reader has always made one.
  const every = role === "reader" && flags.admin === true ? [EVERY_SCOPE] : undefined;
  return {
    ...{ name, butler, role, expires },
    tenant: flags.tenant ?? tenantFor(roster, home, butler),
    scopes: flags.scope ?? every,
  };
}

function roleIn({ role, admin = false, reader = false }: Flags): TokenRole {
  const short = reader ? "reader" : admin ? "admin" : undefined;
  if (role === undefined) return short ?? "writer";
  const known = TOKEN_ROLES.find((one) => one === role);
  if (known === undefined) throw invalid("role", `--role is "${role}"; it must be one of ${TOKEN_ROLES.join(", ")}.`);
  if (short !== undefined && short !== known)
    throw invalid("role", `--role ${known} and --${short} contradict each other.`);
  return known;
}

/** The tenant of the butler that the token is for; with a token for every butler, each call gets the tenant of its butler. */
const tenantFor = (roster: string | undefined, { settingsFile }: Home, butler: string): string =>
  butler === "*" ? TENANT_OF_BUTLER : tenantOf(loadRoster(roster, settingsFile), butler);
