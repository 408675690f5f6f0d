/** `butler config` as people run it: exit codes, what is said, and what machines read. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { butler, cleanUp, emptyHome, type Variables } from "../support/owner-processes.ts";

afterAll(cleanUp);

function rosterOf(files: Readonly<Record<string, string>>): string {
  const roster = emptyHome();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(roster, name));
    writeFileSync(join(roster, name, "butler.toml"), text);
    writeFileSync(join(roster, name, "CLAUDE.md"), `# ${name}\n`);
  }
  return roster;
}

const ANN = '[butler]\nname = "ann"\n\n[modules.memory]\n\n[modules.memory.retrieval]\ndefault_limit = 5\n';
const home = emptyHome();
const run = (args: readonly string[], more: Variables = {}) => butler(home, ["config", ...args], more);

describe("butler config check", () => {
  test("0 when all is well, also for the butlers that come with the package", async () => {
    const none = await run(["check"]);
    expect([none.code, none.stderr]).toEqual([0, ""]);
    expect(none.stdout).toContain("There is no roster: one butler, at its defaults.\n\n✓ general ok\n\nAll is well.");
    const own = await run(["check", "--json"], { BUTLER_ROSTER: "roster" });
    expect(own.code).toBe(0);
    expect(JSON.parse(own.stdout)).toMatchObject({
      ok: true,
      butlers: ["general", "health", "memory"].map((name) => ({ name, ok: true, faults: [], warnings: [] })),
    });
  });

  test("without a roster the butler.toml of the home is checked and shown", async () => {
    const own = emptyHome();
    const file = join(own, "butler.toml");
    const said = (args: readonly string[]) => butler(own, ["config", ...args]);
    writeFileSync(file, '[butler]\nname = "general"\n\n[modules.memory.extractor]\nprovider = "claude-cli"\n');
    const well = await said(["check"]);
    expect([well.code, well.stdout]).toEqual([
      0,
      `There is no roster: one butler, with ${file}.\n\n✓ general ok\n\nAll is well.\n`,
    ]);
    expect((await said(["show"])).stdout).toMatch(/extractor\.provider\s+"claude-cli"\s+butler\.toml:5/);
    writeFileSync(file, '[butler]\nname = "general"\n\n[modules.memory.extractor]\nprovider = "cloud"\n');
    const ill = await said(["check"]);
    expect(ill.code).toBe(2);
    expect(ill.stdout).toContain(`✗ general ${file}:5: modules.memory.extractor.provider: found "cloud"`);
    expect((await said(["show"])).code).toBe(2);
  });

  test("the daemon's own settings are checked with them", async () => {
    const own = emptyHome();
    const file = join(own, "daemon.toml");
    writeFileSync(file, "[limits]\ncalls_per_minute = 600\n");
    const said = (...args: readonly string[]) => butler(own, ["config", "check", ...args]);
    const ill = await said();
    const told = JSON.parse((await said("--json")).stdout);
    expect([ill.code, told.ok, told.daemon.faults[0].line]).toEqual([2, false, 2]);
    expect(ill.stdout).toContain(
      `✗ daemon.toml ${file}:2: limits.calls_per_minute: found a key that is not known here.`,
    );
    expect(ill.stdout).toContain("1 fault in 1 of 2 files.");
    writeFileSync(file, "[limits]\n");
    expect(await said()).toMatchObject({ code: 0, stdout: expect.stringContaining("✓ daemon.toml ok") });
  });

  test("2 with the faults of every butler, and those that are fine are named too", async () => {
    const roster = rosterOf({
      ann: ANN,
      bob: '[butler]\nname = "bob"\nrole = "cook"\ntenat = "acme"\n',
      eve: '[butler]\nname = "eve\n',
    });
    const { code, stdout, stderr } = await run(["check", "--roster", roster]);
    expect([code, stderr]).toEqual([2, ""]);
    expect(stdout.split("\n")).toEqual([
      `The roster ${roster}`,
      "",
      "✓ ann ok",
      `✗ bob ${roster}/bob/butler.toml:3: butler.role: found "cook", expected one of "butler", "memory".`,
      `      ${roster}/bob/butler.toml:4: butler.tenat: found a key that is not known here, expected one of name, role, tenant, description, schedule, runtime; did you mean "tenant"?`,
      `✗ eve ${roster}/eve/butler.toml:2:12: this is not TOML: control characters are not allowed in strings.`,
      "",
      "3 faults in 2 of 3 butlers.",
      "",
    ]);
    const told = await run(["check", "--json"], { BUTLER_ROSTER: roster });
    expect(told.code).toBe(2);
    const { ok, butlers } = JSON.parse(told.stdout);
    expect([ok, butlers.map((one: { ok: boolean }) => one.ok)]).toEqual([false, [true, false, false]]);
    expect(butlers[1].faults[0]).toEqual({
      file: `${roster}/bob/butler.toml`,
      line: 3,
      key: "butler.role",
      message: 'found "cook", expected one of "butler", "memory".',
    });
  });

  test("0 with what is only suspicious", async () => {
    const roster = rosterOf({ ann: `${ANN}[butler.runtime]\ncommand = "no-such-agent"\n` });
    const { code, stdout } = await run(["check", "--roster", roster]);
    expect(code).toBe(0);
    expect(stdout).toContain(
      `! ann ${roster}/ann/butler.toml:9: butler.runtime.command: found "no-such-agent", which is not on the PATH`,
    );
    expect(stdout).toContain("Nothing is wrong; 1 could be better.");
  });

  test("2 for a roster that is none", async () => {
    const nowhere = await run(["check", "--roster", join(home, "nowhere")]);
    expect([nowhere.code, nowhere.stdout]).toEqual([2, ""]);
    expect(nowhere.stderr).toContain("nowhere is not a folder");
  });
});

describe("butler config show", () => {
  test("tells what differs from the defaults, and where it was said", async () => {
    const roster = rosterOf({ ann: ANN });
    const database = "postgres://bob:hunter2@127.0.0.1:1/x";
    const { code, stdout } = await run(["show", "--port", "5000", "--roster", roster], {
      BUTLER_DATABASE_URL: database,
      BUTLER_PORT: "6000",
    });
    expect(code).toBe(0);
    const rows = stdout.split("\n").map((line) => line.trim().split(/ {2,}/));
    expect(rows).toContainEqual(["port", "5000", "--port"]);
    expect(rows).toContainEqual(["roster", JSON.stringify(roster), "--roster"]);
    expect(rows).toContainEqual(["home", JSON.stringify(home), "BUTLER_HOME"]);
    expect(rows).toContainEqual(["database", '"postgres://***@127.0.0.1:1/x"', "BUTLER_DATABASE_URL"]);
    expect(rows).toContainEqual(["ann", "memory on", `${roster}/ann/butler.toml`]);
    expect(rows).toContainEqual(["modules.memory.retrieval.default_limit", "5", "butler.toml:7"]);
    expect(stdout).toMatch(/\n {2}\d+ more at their defaults\n$/);
    expect(stdout).not.toContain("hunter2");
    expect(stdout).not.toContain("default_mode");
    expect(stdout).not.toContain("\u001b");
  });

  test("tells everything when asked, and machines the same", async () => {
    const roster = rosterOf({ ann: ANN, bob: '[butler]\nname = "bob"\n' });
    const all = await run(["show", "--all", "--butler", "ann"], { BUTLER_ROSTER: roster });
    expect(all.stdout).toMatch(/modules\.memory\.retrieval\.default_mode +"hybrid" +default\n/);
    expect(all.stdout).toMatch(/butler\.schedule\.decay_sweep\.cron +"0 3 \* \* \*" +default\n/);
    expect(all.stdout).not.toContain("bob");
    const told = JSON.parse((await run(["show", "--json"], { BUTLER_ROSTER: roster })).stdout);
    expect(told.house.values).toContainEqual({ key: "roster", value: roster, source: "BUTLER_ROSTER" });
    expect(told.butlers).toMatchObject([
      { name: "ann", memory: "on", file: `${roster}/ann/butler.toml` },
      { name: "bob", memory: "off", values: [{ key: "butler.name", value: "bob", source: "butler.toml:2" }] },
    ]);
    const whole = JSON.parse((await run(["show", "--json", "--all"], { BUTLER_ROSTER: roster })).stdout);
    const { values, at_default } = whole.butlers[1];
    expect(values.length).toBe(at_default + 1);
    expect(values).toContainEqual({ key: "modules.memory.enabled", value: false, source: "default" });
  });

  test("one that is right can be shown beside one that is wrong", async () => {
    const roster = rosterOf({ ann: ANN, bob: "[butler]\n" });
    const variables = { BUTLER_ROSTER: roster };
    expect((await run(["show", "--butler", "ann"], variables)).code).toBe(0);
    const wrong = await run(["show"], variables);
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain("bob/butler.toml:1: butler.name: found nothing, expected a string.");
    const unknown = await run(["show", "--butler", "an"], variables);
    expect(unknown.code).toBe(3);
    expect(unknown.stderr).toContain('There is no butler "an"; did you mean "ann"?');
  });
});

describe("butler config", () => {
  test("prints the JSON schema of butler.toml", async () => {
    const { code, stdout } = await run(["schema"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      title: "butler.toml",
      required: ["butler"],
      additionalProperties: false,
    });
  });

  test("says what it can do", async () => {
    const help = await run(["--help"]);
    expect([help.code, help.stdout.split("\n")[0]]).toEqual([0, "butler config check [--roster <folder>] [--json]"]);
    for (const args of [[], ["chek"], ["check", "--fast"], ["show", "--port", "high"]])
      expect((await run(args)).code).toBe(2);
  });
});
