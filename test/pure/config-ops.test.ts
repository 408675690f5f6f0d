/** The units in ops/ start this program, with what it takes, in a sandbox that it can live in. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readEnvironment } from "../../src/main/environment.ts";
import { commands } from "../../src/main/program/command-table.ts";

const SYSTEMD = "systemd-analyze";

type Directive = readonly [section: string, name: string, value: string];

function read(unit: string): Directive[] {
  let section = "";
  return readFileSync(join("ops", unit), "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .flatMap((line): Directive[] => {
      const header = /^\[(\w+)\]$/.exec(line);
      if (header) {
        section = header[1] ?? "";
        return [];
      }
      const [, name, value] = /^([A-Z]\w+)=(.*)$/.exec(line) ?? [];
      if (name === undefined || value === undefined) throw new Error(`${unit}: "${line}" is no directive`);
      return [[section, name, value]];
    });
}

const valuesOf = (directives: readonly Directive[], name: string) =>
  directives.filter(([, own]) => own === name).map(([, , value]) => value);

const environmentOf = (directives: readonly Directive[]) =>
  Object.fromEntries(valuesOf(directives, "Environment").map((pair) => pair.split(/=(.*)/s, 2) as [string, string]));

describe.each(["butler.service", "butler.user.service"])("ops/%s", (unit) => {
  const directives = read(unit);

  test("starts a command that exists, with flags that it takes", async () => {
    const [start] = valuesOf(directives, "ExecStart");
    const [program, command = "", ...flags] = (start ?? "").replace("/usr/bin/env ", "").split(" ");
    expect(program).toMatch(/^(?:\/usr\/local\/bin\/)?butler$/);
    const { usage } = (await commands[command]?.load()) ?? { usage: "" };
    expect(usage.split(" ").slice(0, 2)).toEqual(["butler", "up"]);
    for (const flag of flags.filter((word) => word.startsWith("--"))) expect(usage).toContain(flag);
  });

  test("sets variables that are read", () => {
    const given = environmentOf(directives);
    expect(Object.keys(given)).toContain("BUTLER_HOME");
    const environment = Object.values(readEnvironment(given));
    for (const value of Object.values(given)) expect(environment).toContainEqual(expect.stringContaining(value));
  });

  test("reloads by SIGHUP, comes back after a failure and has time to stop", () => {
    const service = Object.fromEntries(
      directives.filter(([section]) => section === "Service").map(([, n, v]) => [n, v]),
    );
    expect(service).toMatchObject({
      ExecReload: "/bin/kill -HUP $MAINPID",
      Restart: "on-failure",
      TimeoutStopSec: "30",
      UMask: "0077",
      NoNewPrivileges: "true",
    });
    // JavaScript and WebAssembly are compiled while they run; sockets are how everybody reaches the owner.
    expect(valuesOf(directives, "MemoryDenyWriteExecute")).toEqual([]);
    expect(service.RestrictAddressFamilies?.split(" ")).toEqual(
      expect.arrayContaining(["AF_UNIX", "AF_INET", "AF_INET6"]),
    );
    expect(service.PrivateNetwork).toBeUndefined();
  });

  test.skipIf(systemdVersion() === undefined)("is understood by systemd", () => {
    const folder = mkdtempSync(join(tmpdir(), "units-"));
    try {
      const file = join(folder, "butler.service");
      // The program is not installed where the unit looks for it; everything else is taken as it is.
      const text = readFileSync(join("ops", unit), "utf8").replaceAll("/usr/local/bin/butler", process.execPath);
      writeFileSync(file, text);
      const scope = unit.includes("user") ? ["--user"] : [];
      const variables = { PATH: process.env.PATH ?? "", HOME: folder, XDG_RUNTIME_DIR: folder };
      const args = ["verify", "--man=no", ...scope, file];
      const { status, stderr } = spawnSync(SYSTEMD, args, { env: variables, encoding: "utf8" });
      // A directive that it does not know is only told.
      expect(stderr.split("\n").filter((line) => line.includes("butler.service"))).toEqual([]);
      expect(status).toBe(0);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

test("the system's unit writes to its state alone, which is the home", () => {
  const directives = read("butler.service");
  const one = (name: string) => valuesOf(directives, name)[0];
  expect(one("User")).toBe("butler");
  expect(one("ProtectSystem")).toBe("strict");
  expect(environmentOf(directives).BUTLER_HOME).toBe(`/var/lib/${one("StateDirectory")}`);
  expect(one("ReadWritePaths")).toBeUndefined();
});

function systemdVersion(): string | undefined {
  try {
    return execFileSync(SYSTEMD, ["--version"], { encoding: "utf8", stdio: "pipe" });
  } catch {
    // No systemd on this machine: the directives are checked without it.
    return undefined;
  }
}
