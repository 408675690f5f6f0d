import { homeAt } from "../../daemon/home.ts";
import type { ExitCode } from "../../doors/failures.ts";
import { systemClock } from "../../engine/adapters/clock.ts";
import type { ModelVariant } from "../../engine/adapters/model/catalogue.ts";
import type { Finding } from "../doctor/finding.ts";
import {
  checkDaemonToml,
  checkDisk,
  checkHome,
  checkNode,
  checkOpenings,
  checkRoster,
  checkSpool,
  checkTokens,
} from "../doctor/home-checks.ts";
import { checkIsolation } from "../doctor/isolation-check.ts";
import { checkModel } from "../doctor/model-check.ts";
import { checkPort } from "../doctor/port-check.ts";
import {
  checkDatabaseRights,
  checkDatabaseServer,
  checkOwner,
  checkReplica,
  checkStore,
} from "../doctor/store-checks.ts";
import type { Environment } from "../environment.ts";
import { type Context, readOptions } from "../program/command.ts";
import { version } from "../version.ts";

export const usage = `butler doctor [--json]

Looks at everything a butler needs and says what is wrong and what to do: Node, the home and who may read it, disk,
roster, model, owner, stores and their health, keys of encryption, tokens, port, what waits to be stored and
which openings lie ready. Nothing is changed. Exit code 1 when something failed.`;

export async function run(args: readonly string[], { environment, say }: Context): Promise<ExitCode> {
  const { values } = readOptions(args, { json: { type: "boolean" } });
  const healthy = (findings: readonly Finding[]) => findings.every(({ state }) => state !== "fail");
  if (values.json) {
    const findings: Finding[] = [];
    for await (const finding of examine(environment)) findings.push(finding);
    say(JSON.stringify({ ok: healthy(findings), version, checks: findings }, null, 2));
    return healthy(findings) ? 0 : 1;
  }
  const colour = environment.colour && process.stdout.isTTY === true;
  const findings: Finding[] = [];
  // Told one by one: opening stores takes seconds.
  for await (const finding of examine(environment)) {
    findings.push(finding);
    say(line(finding, colour));
  }
  say("");
  say(summary(findings));
  return healthy(findings) ? 0 : 1;
}

async function* examine(environment: Environment): AsyncGenerator<Finding> {
  const home = homeAt(environment.home);
  yield checkNode();
  const homeFindings = checkHome(home);
  yield* homeFindings;
  yield await checkDisk(home);
  yield checkTokens(home, systemClock.now());
  yield checkDaemonToml(home);
  yield checkSpool(home);
  yield checkOpenings(home, systemClock.now());
  const { finding, roster } = checkRoster(environment.roster, home.settingsFile);
  yield finding;

  const folders = { modelDir: environment.modelDir, cacheDir: home.models };
  const variants = new Set<ModelVariant>(roster?.map(({ memory }) => memory.embedding_variant) ?? ["int8"]);
  for (const variant of variants) yield await checkModel(folders, variant);

  if (homeFindings.some(({ state }) => state === "fail")) return;
  const ownership = await checkOwner(home, version);
  try {
    yield ownership.finding;
    yield await checkPort(environment.host, environment.port, ownership.owner);
    if (environment.databaseUrl !== undefined) {
      yield await checkDatabaseServer(environment.databaseUrl);
      for (const url of environment.readUrls) yield await checkReplica(url);
    }
    for (const butler of roster ?? []) {
      yield* await checkStore({ home, databaseUrl: environment.databaseUrl, ownership }, butler);
      const rights = environment.databaseUrl && (await checkDatabaseRights(environment.databaseUrl, butler));
      if (rights) yield rights;
      if (environment.databaseUrl !== undefined) yield* await checkIsolation(environment.databaseUrl, butler);
    }
  } finally {
    await ownership.lock?.release();
  }
}

const SIGNS = { ok: ["✓", 32], warn: ["!", 33], fail: ["✗", 31] } as const;
const CHECK_WIDTH = 16;

function line({ check, state, found, remedy }: Finding, colour: boolean): string {
  const [sign, code] = SIGNS[state];
  const painted = colour ? `\u001b[${code}m${sign}\u001b[0m` : sign;
  const indent = " ".repeat(CHECK_WIDTH + 3);
  const told = found.replaceAll("\n", `\n${indent}`);
  return `${painted} ${check.padEnd(CHECK_WIDTH)} ${told}${remedy === undefined ? "" : `\n${indent}→ ${remedy}`}`;
}

function summary(findings: readonly Finding[]): string {
  const count = (state: Finding["state"]) => findings.filter((finding) => finding.state === state).length;
  const [failed, warned] = [count("fail"), count("warn")];
  if (failed > 0) return `${failed} of ${findings.length} checks failed.`;
  return warned > 0 ? `Nothing failed; ${warned} of ${findings.length} could be better.` : "All is well.";
}
