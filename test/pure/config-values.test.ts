/** Where each value came from, what is only suspicious, and what must not be shown. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { checkButlerToml, defaultButler } from "../../src/daemon/config/config.ts";
import { faultText } from "../../src/daemon/config/faults.ts";
import { butlerValues } from "../../src/daemon/config/values.ts";
import { warningsOf } from "../../src/daemon/config/warnings.ts";
import { readRoster } from "../../src/daemon/roster/roster.ts";
import { jobs } from "../../src/engine/memory/keep/jobs.ts";
import { readEnvironment } from "../../src/main/environment.ts";
import { environmentValues } from "../../src/main/words/environment-values.ts";

const presets = Object.fromEntries(jobs.map(({ name, cron }) => [name, cron]));

function valuesOf(text: string) {
  const checked = checkButlerToml(text, "some/where/butler.toml");
  if (!checked.ok) throw new Error(checked.faults.map(faultText).join("\n"));
  return butlerValues(checked.config, checked.written, presets);
}

const shown = (text: string) =>
  valuesOf(text)
    .filter(({ differs }) => differs)
    .map(({ key, value, source }) => [key, value, source]);

describe("the values of a butler", () => {
  test("come from a line of butler.toml or from the default", () => {
    const values = valuesOf('[butler]\nname = "x"\n\n[modules.memory]\nmid.ttl_days = 30\nlong = { ttl_days = 1 }');
    const of = (key: string) => values.find((value) => value.key === key);
    expect(of("butler.name")).toMatchObject({ value: "x", source: "butler.toml:2", differs: true });
    expect(of("butler.tenant")).toMatchObject({ value: "default", source: "default", differs: false });
    expect(of("modules.memory.mid.ttl_days")).toMatchObject({ value: 30, source: "butler.toml:5", differs: false });
    expect(of("modules.memory.long.ttl_days")).toMatchObject({ value: 1, source: "butler.toml:6", differs: true });
    expect(of("modules.memory.eden.ttl_hours")).toMatchObject({ value: undefined, source: "default", differs: false });
    expect(of("modules.memory.enabled")).toMatchObject({ value: true, source: "default", differs: false });
  });

  test("have the schedule that runs, written or not", () => {
    const values = valuesOf(
      '[butler]\nname = "x"\n[butler.schedule]\npromote = { cron = "5 * * * *" }\n[modules.memory]',
    );
    const of = (key: string) => values.find((value) => value.key === `butler.schedule.${key}`);
    expect(of("promote.cron")).toMatchObject({ value: "5 * * * *", source: "butler.toml:4", differs: true });
    expect(of("promote.enabled")).toMatchObject({ value: true, source: "default", differs: false });
    expect(of("decay_sweep.cron")).toMatchObject({ value: "0 3 * * *", source: "default", differs: false });
    expect(of("reembed.cron")).toMatchObject({ value: undefined, source: "default" });
    expect(of("reembed.enabled")).toMatchObject({ value: false, source: "default" });
  });

  test("without memory, that is what is usual for who did not ask for it", () => {
    expect(shown('[butler]\nname = "x"')).toEqual([["butler.name", "x", "butler.toml:2"]]);
    expect(valuesOf('[butler]\nname = "x"').find(({ key }) => key === "modules.memory.enabled")?.value).toBe(false);
  });

  test("of a butler that nobody wrote down are all usual", () => {
    const values = butlerValues(defaultButler("general"), undefined, presets);
    expect(values.filter(({ differs, source }) => differs || source !== "default")).toEqual([]);
    expect(values.length).toBeGreaterThan(70);
  });

  test("do not show secrets", () => {
    const text = `[butler]
name = "x"
[butler.runtime]
args = ["--db", "postgres://bob:hunter2@h/x"]
env = { API_TOKEN = "hunter2", LANG = "C" }
[modules.memory]
service_token_env = "MY_TOKEN"
[modules.memory.extractor]
base_url = "https://bob:hunter2@example.org/v1"`;
    expect(shown(text)).toEqual([
      ["butler.name", "x", "butler.toml:2"],
      ["butler.runtime.args", ["--db", "postgres://***@h/x"], "butler.toml:4"],
      ["butler.runtime.env.API_TOKEN", "***", "butler.toml:5"],
      ["butler.runtime.env.LANG", "C", "butler.toml:5"],
      ["modules.memory.service_token_env", "MY_TOKEN", "butler.toml:7"],
      ["modules.memory.extractor.base_url", "https://***@example.org/v1", "butler.toml:9"],
    ]);
  });
});

describe("the values of flags and environment", () => {
  test("come from a flag, the environment or the default, in this order", () => {
    const variables = {
      BUTLER_PORT: "5000",
      BUTLER_HOST: "::1",
      BUTLER_ALLOWED_HOSTS: "Butler, memory.example.org",
      BUTLER_LOG: "warn",
      BUTLER_ROSTER: "",
      BUTLER_DATABASE_URL: "postgres://bob:hunter2@db.example.org/postgres",
    };
    const environment = { ...readEnvironment(variables), port: 6000 };
    const values = environmentValues(environment, { port: "--port" }, variables);
    const rows = Object.fromEntries(values.map(({ key, value, source, differs }) => [key, [value, source, differs]]));
    expect(rows).toMatchObject({
      port: [6000, "--port", true],
      host: ["::1", "BUTLER_HOST", true],
      allowed_hosts: ["butler memory.example.org", "BUTLER_ALLOWED_HOSTS", true],
      log: ["warn", "BUTLER_LOG", false],
      roster: [undefined, "default", false],
      database: ["postgres://***@db.example.org/postgres", "BUTLER_DATABASE_URL", true],
      idle_seconds: [36_000, "default", false],
    });
    expect(Object.keys(rows)).toEqual(expect.arrayContaining(["home", "model_dir", "now"]));
  });
});

describe("what is surely not meant", () => {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "roster-"));
    mkdirSync(join(folder, "x"));
    writeFileSync(join(folder, "x", "CLAUDE.md"), "# X\n");
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function warnings(text: string, variables: Record<string, string> = {}): string[] {
    writeFileSync(join(folder, "x", "butler.toml"), `[butler]\nname = "x"\n${text}`);
    return readRoster(folder).flatMap(({ checked }) => {
      if (!checked.ok) throw new Error(checked.faults.map(faultText).join("\n"));
      return warningsOf(checked.config, checked.written, variables).map((warning) =>
        faultText(warning).replace(`${folder}/x/`, ""),
      );
    });
  }

  test("nothing, in a plain butler", () => {
    expect(warnings("")).toEqual([]);
    expect(warnings("[modules.memory]")).toEqual([]);
  });

  test("a command that is not there", () => {
    const runtime = (command: string, more = "") => `[butler.runtime]\ncommand = "${command}"\n${more}`;
    const words = (command: string, why: string) => [
      `butler.toml:4: butler.runtime.command: found "${command}", which ${why}; butler run needs it.`,
    ];
    const program = join(folder, "agent");
    writeFileSync(program, "#!/bin/sh\n");
    expect(warnings(runtime("agent"), { PATH: folder })).toEqual(words("agent", "is not on the PATH"));
    expect(warnings(runtime(program))).toEqual(words(program, "cannot be run"));
    chmodSync(program, 0o755);
    expect(warnings(runtime("agent"), { PATH: `/nowhere:${folder}` })).toEqual([]);
    expect(warnings(runtime(program))).toEqual([]);
    expect(warnings(runtime("agent", `env = { PATH = "${folder}" }`))).toEqual([]);
    expect(warnings(runtime("agent"))).toEqual(words("agent", "is not on the PATH"));
    expect(warnings(runtime("x"), { PATH: folder })).toEqual(words("x", "is not on the PATH"));
  });

  test("a service without a token", () => {
    const service = '[modules.memory]\nservice = "http://127.0.0.1:4270/butlers/memory"\n';
    expect(warnings(service)).toEqual([
      "butler.toml:4: modules.memory.service: no token is to be found: BUTLER_SERVICE_TOKEN is not set here, and there is no service_token_file.",
    ]);
    expect(warnings(service, { BUTLER_SERVICE_TOKEN: "t" })).toEqual([]);
    expect(warnings(`${service}service_token_env = "T"`, { T: "t" })).toEqual([]);
    const file = `${service}service_token_file = "token"`;
    const token = join(folder, "x", "token");
    const place = "butler.toml:5: modules.memory.service_token_file:";
    expect(warnings(file, { BUTLER_SERVICE_TOKEN: "t" })).toEqual([`${place} ${token} cannot be read.`]);
    writeFileSync(token, " \n", { mode: 0o600 });
    expect(warnings(file)).toEqual([`${place} ${token} is empty.`]);
    writeFileSync(token, "secret\n");
    expect(warnings(file)).toEqual([]);
    chmodSync(token, 0o644);
    expect(warnings(file)).toEqual([`${place} ${token} can be read by others; chmod 600 it.`]);
  });

  test("a schedule that runs nothing, and a Memory Butler that keeps nothing", () => {
    const schedule = '[butler.schedule]\npromote = { cron = "0 * * * *" }\n';
    expect(warnings(schedule)).toEqual([
      "butler.toml:3: butler.schedule: nothing runs without memory; [modules.memory] switches it on.",
    ]);
    expect(warnings(`${schedule}[modules.memory]`)).toEqual([]);
    const service = '[modules.memory]\nservice = "http://h/mcp"';
    expect(warnings(`${schedule}${service}`, { BUTLER_SERVICE_TOKEN: "t" })).toEqual([
      "butler.toml:3: butler.schedule: nothing runs here; the shared Memory Butler has a schedule of its own.",
    ]);
    expect(warnings('role = "memory"')).toEqual([
      "butler.toml:3: butler.role: a Memory Butler without [modules.memory] keeps nothing.",
    ]);
  });

  test("a butler without instructions", () => {
    rmSync(join(folder, "x", "CLAUDE.md"));
    expect(warnings("")).toEqual([
      "CLAUDE.md: it is not there; an agent that is started as this butler gets no instructions.",
    ]);
  });
});
