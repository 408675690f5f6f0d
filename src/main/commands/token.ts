import { type Home, homeAt, prepareHome } from "../../daemon/home.ts";
import { loadRoster, tenantOf } from "../../daemon/roster/roster.ts";
import { createToken, listTokens, revokeToken, type TokenInfo } from "../../daemon/tokens/tokens.ts";
import { TENANT_OF_BUTLER } from "../../doors/backend.ts";
import type { ExitCode } from "../../doors/failures.ts";
import { systemClock } from "../../engine/adapters/clock.ts";
import { invalid } from "../../engine/domain/errors.ts";
import { type Context, readOptions } from "../program/command.ts";

export const usage = `butler token create --name <name> [--butler <name>|*] [--tenant <tenant>] [--admin] [--reader] [--json]
butler token list [--json]
butler token revoke <name> [--json]

Whoever calls over HTTP needs a token. A token for one butler (the default is every butler, "*") cannot call another one;
an admin token sees every scope of its tenant; with --reader a token may look and change nothing (for Prometheus).
Without --tenant it is the butler's own, as its butler.toml says.
A token is shown once, when it is created: only its hash is kept.
A revoked token is refused from that moment on, also by an owner that is running.`;

const options = {
  name: { type: "string" },
  butler: { type: "string" },
  tenant: { type: "string" },
  admin: { type: "boolean" },
  reader: { type: "boolean" },
  json: { type: "boolean" },
} as const;

export async function run(args: readonly string[], { environment, say }: Context): Promise<ExitCode> {
  const { values, positionals } = readOptions(args, options, true);
  const [verb, named, ...more] = positionals;
  if (more.length > 0) throw invalid("arguments", `"${more.join(" ")}" is too much.`);
  const home = homeAt(environment.home);
  const name = values.name ?? named;

  if (verb === "list") {
    const tokens = listTokens(home);
    if (values.json) say(JSON.stringify({ tokens }));
    else if (tokens.length === 0) say("There are no tokens yet; butler up makes the first one.");
    else for (const token of tokens) say(line(token));
    return 0;
  }
  if (verb !== "create" && verb !== "revoke") throw invalid("arguments", "butler token create, list or revoke?");
  if (name === undefined) throw invalid("name", `Which token? butler token ${verb} --name <name>.`);
  prepareHome(home);
  if (verb === "revoke") {
    await revokeToken(home, name);
    say(values.json ? JSON.stringify({ revoked: name }) : `The token "${name}" is revoked.`);
    return 0;
  }
  const asked = {
    name,
    butler: values.butler ?? "*",
    tenant: values.tenant ?? tenantFor(environment.roster, home, values.butler ?? "*"),
    admin: values.admin ?? false,
    ...(values.reader ? { reader: true } : {}),
  };
  const { token, entry } = await createToken(home, asked, systemClock.now());
  say(values.json ? JSON.stringify({ token, ...entry }) : token);
  return 0;
}

/** The tenant of the butler that the token is for; with a token for every butler, each call gets the tenant of its butler. */
const tenantFor = (roster: string | undefined, { settingsFile }: Home, butler: string): string =>
  butler === "*" ? TENANT_OF_BUTLER : tenantOf(loadRoster(roster, settingsFile), butler);

function line({ name, butler, tenant, admin, reader, created }: TokenInfo): string {
  const whom = butler === "*" ? "every butler" : butler;
  const whose = tenant === TENANT_OF_BUTLER ? "the butler's tenant" : `tenant ${tenant}`;
  return `${name.padEnd(20)} ${whom.padEnd(16)} ${whose}${admin ? ", admin" : ""}${reader ? ", reader" : ""}, since ${created.slice(0, 10)}`;
}
