/** What a person reads when the program cannot start: one sentence that says what to do, no stack, the right exit code. */
import { spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { startServer } from "../../scripts/postgres/server.ts";
import { homeAt } from "../../src/daemon/home.ts";
import { openPglite } from "../../src/engine/adapters/db/pglite.ts";
import { butler, cleanUp, type Ended, emptyHome, seededHome, type Variables } from "../support/owner-processes.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});
afterAll(cleanUp);

/** An owner that a command started must not outlive its test: the next one may need another database. */
async function run(home: string, args: readonly string[], more: Variables = {}): Promise<Ended> {
  const ended = await butler(home, args, more);
  closing.push(() => butler(home, ["stop"]));
  return ended;
}

function expectSentence({ code, stdout, stderr }: Ended, exit: number, ...words: RegExp[]): void {
  expect(stdout).toBe("");
  for (const word of words) expect(stderr).toMatch(word);
  expect(stderr).not.toMatch(/\n\s+at |node:internal|\.[jt]s:\d+|\[object|Error:/);
  // The sentence, and at most one line of advice under it.
  expect(stderr.trim().split("\n").length).toBeLessThanOrEqual(2);
  expect(code).toBe(exit);
}

describe("the home", () => {
  it("below a file", async () => {
    const file = join(emptyHome(), "file");
    writeFileSync(file, "");
    for (const command of [["stats"], ["up"], ["mcp"]]) {
      expectSentence(
        await butler(join(file, "home"), command),
        1,
        /cannot be written/,
        /set BUTLER_HOME to a folder of yours/,
      );
    }
    const { code, stdout } = await butler(join(file, "home"), ["stats", "--json"]);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      error: { code: "unavailable", message: expect.stringContaining("BUTLER_HOME") },
    });
  });

  it("with a store of a newer version", async () => {
    const home = await seededHome();
    const db = await openPglite({ dir: homeAt(home).store("general") });
    await db.query("insert into mem_migrations (name, timestamp) values ('mem_9999_tomorrow', '2030-01-01')");
    await db.close();
    expectSentence(
      await run(home, ["stats"]),
      1,
      /made by a newer butler-memory/,
      /upgrade butler-memory, or use another BUTLER_HOME/,
    );
  });
});

/** A file system of its own; undefined where this user may not mount one. */
function mounted(options: string): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "bm-"));
  if (spawnSync("/bin/mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder]).status !== 0) {
    rmdirSync(folder);
    return undefined;
  }
  closing.push(() => {
    spawnSync("/bin/umount", ["--lazy", folder]);
    rmdirSync(folder);
  });
  return folder;
}

/** Writes until nothing more fits. */
function fillUp(file: string): void {
  for (const size of [1_048_576, 4_096]) {
    try {
      for (;;) appendFileSync(file, Buffer.alloc(size));
    } catch (error) {
      expect(error).toMatchObject({ code: "ENOSPC" });
    }
  }
}

const probe = mounted("size=1m");
for (const close of closing.splice(0)) close();
if (probe === undefined)
  process.stderr.write("\n!! Tests on a full and on a read-only disk are SKIPPED: this user may not mount a tmpfs\n\n");

describe.skipIf(probe === undefined)("the disk", () => {
  it("read-only", async () => {
    const disk = mounted("ro,size=1m");
    expectSentence(await butler(join(disk ?? "", "home"), ["stats"]), 1, /cannot be written/, /BUTLER_HOME/);
  });

  it("too small for a new store", async () => {
    const disk = mounted("size=3m");
    expectSentence(await run(join(disk ?? "", "home"), ["stats"]), 1, /is full: free some space/);
  });

  it("full later: writes are refused, and go on once there is room", async () => {
    const disk = mounted("size=200m") ?? "";
    const home = join(disk, "home");
    const episode = (n: number) =>
      JSON.stringify({
        content: `${n} ${Array.from({ length: 9_000 }, (_, i) => (i * 7_919 * n).toString(36)).join(" ")}`,
      });
    // The owner stays until it is told to go, however slow the commands are.
    const stays = { BUTLER_IDLE_SECONDS: "3600" };
    expect((await run(home, ["remember", "Before the disk was full."], stays)).code).toBe(0);
    fillUp(join(disk, "fill"));
    const refused: unknown[] = [];
    for (let n = 1; n <= 8 && refused.length === 0; n++) {
      const { code, stdout } = await butler(home, ["call", "memory_store_episode", "--json", episode(n)], stays);
      if (code !== 0) refused.push({ code, ...JSON.parse(stdout) });
    }
    expect(refused).toEqual([
      { code: 1, error: { code: "unavailable", message: expect.stringMatching(/free some (?:disk )?space/) } },
    ]);
    await butler(home, ["stop"]);
    fillUp(join(disk, "fill"));
    expectSentence(await run(home, ["stats"], stays), 1, /disk.* is full: free some (?:disk )?space/);
    rmSync(join(disk, "fill"));
    expect(await butler(home, ["remember", "After there was room again."], stays)).toMatchObject({ code: 0 });
    const found = await butler(home, ["search", "disk room", "--mode", "keyword", "--json"]);
    expect(
      JSON.parse(found.stdout)
        .results.map((r: { content: string }) => r.content)
        .toSorted(),
    ).toEqual(["After there was room again.", "Before the disk was full."]);
  });
});

describe("the database", () => {
  const at = (url: string) => run(emptyHome(), ["stats"], { BUTLER_DATABASE_URL: url });

  it("at a closed port, at an unknown host, at no address at all", async () => {
    expectSentence(
      await at("postgres://ada:hidden-word@127.0.0.1:1/x"),
      1,
      /No PostgreSQL answers at 127\.0\.0\.1:1/,
      /correct host and port/,
    );
    expectSentence(await at("postgres://ada:hidden-word@no-such-host.invalid/x"), 1, /no-such-host\.invalid/);
    expectSentence(
      await at("hidden-word"),
      1,
      /cannot be read: write it as postgres:\/\/user:password@host:5432\/database/,
    );
    const { stdout, stderr } = await at("postgres://ada:hidden-word@127.0.0.1:1/x");
    expect(stdout + stderr).not.toContain("hidden-word");
  });

  const server = inject("postgresUrl");

  it.skipIf(server === undefined)("with a wrong password, on PostgreSQL", async () => {
    const url = new URL(server ?? "");
    url.password = "hidden-word";
    const ended = await at(url.href);
    expectSentence(ended, 1, /refused the user "postgres"/, /correct user and password/);
    expect(ended.stderr).not.toContain("hidden-word");
  });

  it.skipIf(server === undefined)("without pgvector, on PostgreSQL", async () => {
    // Its extensions are looked for where there are none.
    const bare = await startServer({ extension_control_path: join(tmpdir(), "no-extensions-here") });
    closing.push(() => bare.stop());
    expectSentence(await at(bare.url), 1, /has no pgvector/, /install postgresql-\S+-pgvector/);
  });
});

describe("what was asked for", () => {
  it.each([
    [["frobnicate"], /no command or tool "frobnicate"; butler --help lists them/],
    [["up", "--frob"], /--frob/],
    [["up", "--port", "high"], /--port is "high"; it must be a port/],
    [["mcp", "--tools", "half"], /it must be core or full/],
    [["call"], /Which tool\?/],
    [["call", "memory_search", "--frob", "x"], /no flag --frob/],
    [["search"], /What should I look for\?/],
    [["remember", "x", "--fact", "Ada"], /--fact needs a subject and a predicate/],
  ])("%j is wrong usage", async (args, words) => {
    expectSentence(await butler(emptyHome(), args), 2, words);
  });

  it("with --json the same stands in JSON on stdout", async () => {
    const { code, stdout, stderr } = await butler(emptyHome(), ["call", "memory_search", "--json", "{"]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({
      error: { code: "invalid_input", field: "json", message: expect.stringContaining("not valid JSON") },
    });
  });

  it.each([
    [{ BUTLER_PORT: "high" }, /BUTLER_PORT is "high"/],
    [{ BUTLER_NOW: "soon" }, /BUTLER_NOW is "soon"; it must be an ISO time/],
    [{ BUTLER_LOG: "loud" }, /BUTLER_LOG is "loud"; it must be one of/],
    [{ BUTLER_ALLOWED_HOSTS: "butler *" }, /BUTLER_ALLOWED_HOSTS names "\*"; each entry must be one whole host name/],
  ])("%j is wrong usage", async (variables, words) => {
    expectSentence(await butler(emptyHome(), ["stats"], variables), 2, words);
  });

  it("a broken butler.toml is named with its line", async () => {
    const home = emptyHome();
    const roster = join(home, "roster");
    mkdirSync(join(roster, "cook"), { recursive: true });
    writeFileSync(join(roster, "cook", "butler.toml"), '[butler]\nname = "cook"\nrole = [\n');
    const variables = { BUTLER_ROSTER: roster };
    expectSentence(await butler(home, ["up"], variables), 2, /cook\/butler\.toml:\d+:\d+: this is not TOML/);
    const behind = await butler(home, ["stats"], variables);
    expect(behind.code).not.toBe(0);
    expectSentence(behind, behind.code ?? 0, /could not start: .*cook\/butler\.toml:\d+/);
    expectSentence(
      await butler(home, ["up"], { BUTLER_ROSTER: join(home, "nowhere") }),
      2,
      /nowhere is not a folder; BUTLER_ROSTER must name one/,
    );
  });
});
