/** The commands and the daemon, as a person meets them. */
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, inject, test } from "vitest";
import { agent, butler, cleanUp, emptyHome, ownerNote, seededHome, up } from "../support/owner-processes.ts";
import { administer } from "../support/postgres.ts";

afterAll(cleanUp);

const remember = (text: string) => ["remember", text, "--json"];
const parsed = (stdout: string) => JSON.parse(stdout) as Record<string, unknown>;

async function count(home: string, more = {}): Promise<unknown> {
  const { stdout } = await butler(home, ["stats", "--json"], more);
  return (parsed(stdout) as { episodes: { total: number } }).episodes.total;
}

describe("butler up", () => {
  test("takes over from an owner that a client started, while agents go on", async () => {
    const home = await seededHome();
    const one = await agent(home);
    await one.call("memory_store_episode", { butler: "general", content: "before the daemon" });
    const before = ownerNote(home);
    expect(before?.mode).toBe("auto");
    const daemon = await up(home);
    expect(ownerNote(home)).toMatchObject({ mode: "up", pid: daemon.child.pid, address: daemon.address });
    await one.call("memory_store_episode", { butler: "general", content: "after the daemon" });
    expect(await count(home)).toBe(2);

    const second = await butler(home, ["up"]);
    expect(second.code).toBe(1);
    expect(second.stderr).toContain(`already running (process ${daemon.child.pid}) at ${daemon.address}`);

    expect((await butler(home, ["stop"])).stdout).toBe(`Stopped (process ${daemon.child.pid}).\n`);
    expect((await daemon.ended).code).toBe(0);
    await one.call("memory_store_episode", { butler: "general", content: "without the daemon" });
    expect(await count(home)).toBe(3);
    await one.close();
  });

  test("asks for a token, takes the one it wrote, and refuses a revoked one at once", async () => {
    const home = await seededHome();
    const daemon = await up(home);
    const ask = (token?: string) =>
      fetch(`${daemon.address}/api/butlers`, {
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      });
    expect((await ask()).status).toBe(401);
    expect((await ask("bm_wrong")).status).toBe(401);
    expect(statSync(join(home, "token")).mode & 0o777).toBe(0o600);
    expect((await ask(readFileSync(join(home, "token"), "utf8").trim())).status).toBe(200);

    const created = await butler(home, ["token", "create", "--name", "laptop", "--butler", "general", "--json"]);
    const { token } = parsed(created.stdout) as { token: string };
    expect((await ask(token)).status).toBe(200);
    expect((await butler(home, ["token", "list"])).stdout).toMatch(/laptop +writer +general/);
    expect((await butler(home, ["token", "revoke", "laptop"])).code).toBe(0);
    expect((await ask(token)).status).toBe(401);
    expect((await butler(home, ["token", "revoke", "laptop"])).code).toBe(3);
    daemon.child.kill("SIGTERM");
    expect((await daemon.ended).code).toBe(0);
    expect(ownerNote(home)).toBeUndefined();
  });

  test("answers under the names that it was told, and says to all others where a name is listed", async () => {
    const home = await seededHome();
    const daemon = await up(home, [], { BUTLER_ALLOWED_HOSTS: "butler, memory.example.org" });
    const ask = (host: string) =>
      new Promise<{ status: number | undefined; text: string }>((done, failed) => {
        const outgoing = request(`${daemon.address}/healthz`, { headers: { host } }, async (incoming) => {
          let text = "";
          for await (const chunk of incoming) text += chunk;
          done({ status: incoming.statusCode, text });
        });
        outgoing.on("error", failed).end();
      });
    for (const host of ["butler:4270", "Memory.Example.org", new URL(daemon.address).host])
      expect((await ask(host)).status).toBe(200);
    for (const host of ["evil.example:80", "memory.example.org.", "x.memory.example.org"]) {
      const { status, text } = await ask(host);
      expect([status, text]).toEqual([403, expect.stringContaining("BUTLER_ALLOWED_HOSTS")]);
    }
    expect((await butler(home, ["stop"])).code).toBe(0);
    await daemon.ended;
    const { code, stderr } = await butler(home, ["up"], { BUTLER_ALLOWED_HOSTS: "evil.example:80" });
    expect([code, stderr]).toEqual([2, expect.stringContaining('BUTLER_ALLOWED_HOSTS names "evil.example:80"')]);
  });

  test("says in one sentence that its port is taken", async () => {
    const home = emptyHome();
    const other = createServer();
    await new Promise<void>((done) => other.listen(0, "127.0.0.1", done));
    const { port } = other.address() as { port: number };
    const { code, stderr } = await butler(home, ["up", "--port", String(port)]);
    other.close();
    expect(code).toBe(1);
    expect(stderr.split("\n")[0]).toBe(
      `Port ${port} on 127.0.0.1 is in use; choose another with --port or BUTLER_PORT.`,
    );
  });

  test("tells a fault in a butler.toml and does not start", async () => {
    const home = emptyHome();
    mkdirSync(join(home, "r", "cook"), { recursive: true });
    writeFileSync(join(home, "r", "cook", "butler.toml"), '[butler]\nname = "cook"\nrole = "chef"\n');
    const { code, stderr } = await butler(home, ["up", "--roster", join(home, "r")]);
    expect(code).toBe(2);
    expect(stderr).toContain('cook/butler.toml:3: butler.role: found "chef", expected one of "butler", "memory".');
  });
});

describe("several butlers", () => {
  test("must be told apart, and each has its own memory", async () => {
    const home = emptyHome();
    const more = { BUTLER_ROSTER: "roster" };
    const which = await butler(home, ["stats"], more);
    expect(which.code).toBe(2);
    expect(which.stderr).toContain("general, health, memory");
    await butler(home, [...remember("a long run"), "--butler", "health"], more);
    const totals = await Promise.all(
      ["general", "health"].map(
        async (name) => parsed((await butler(home, ["stats", "--json", "--butler", name], more)).stdout).episodes,
      ),
    );
    expect(totals).toMatchObject([{ total: 0 }, { total: 1 }]);
    const wrong = await butler(home, ["stats", "--butler", "cook"], more);
    expect(wrong.code).toBe(3);
    await butler(home, ["stop"]);
  });
});

describe("a PostgreSQL server", () => {
  const url = inject("postgresUrl");

  test.skipIf(url === undefined)("keeps each butler in its own database", async () => {
    const home = emptyHome();
    const name = `t${randomBytes(6).toString("hex")}`;
    mkdirSync(join(home, "r", name), { recursive: true });
    writeFileSync(join(home, "r", name, "butler.toml"), `[butler]\nname = "${name}"\n[modules.memory]\n`);
    const more = { BUTLER_DATABASE_URL: url ?? "", BUTLER_ROSTER: join(home, "r") };
    try {
      await butler(home, remember("kept on a server"), more);
      await butler(home, ["stop"], more);
      expect(await count(home, more)).toBe(1);
      const elsewhere = await butler(home, ["stats"], { BUTLER_DATABASE_URL: "postgres://127.0.0.1:1/x" });
      expect(elsewhere.stderr).toContain("uses another database");
      await butler(home, ["stop"], more);
    } finally {
      await administer(url ?? "", (client) => client.query(`drop database if exists "butler_${name}" with (force)`));
    }
  });
});

describe("a fixed clock", () => {
  const at = (now: string) => ({ BUTLER_NOW: now });

  test("belongs to the owner that was started with it, and each caller brings its own", async () => {
    const home = await seededHome();
    const first = await butler(home, remember("in march"), at("2026-03-01T00:00:00Z"));
    const later = await butler(home, remember("in april"), at("2026-04-01T00:00:00Z"));
    expect(parsed(first.stdout).expires_at).toBe("2026-03-08T00:00:00.000Z");
    expect(parsed(later.stdout).expires_at).toBe("2026-04-08T00:00:00.000Z");
    expect(ownerNote(home)?.fixed).toBe(true);
    await butler(home, ["stop"]);
  });

  test("is refused by an owner on real time, in words", async () => {
    const home = await seededHome();
    expect((await butler(home, ["stats"])).code).toBe(0);
    const refused = await butler(home, remember("in the past"), at("2020-01-01T00:00:00Z"));
    expect(refused.code).not.toBe(0);
    expect(refused.stdout).toContain("BUTLER_NOW");
    expect(await count(home)).toBe(0);
    await butler(home, ["stop"]);
  });
});

describe("what cannot work", () => {
  test("a home that cannot be written is told at once, not after a wait", async () => {
    const home = emptyHome();
    writeFileSync(join(home, "file"), "");
    const { code, stderr } = await butler(join(home, "file", "home"), ["stats"]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^The home .*file\/home cannot be written .*BUTLER_HOME/);
  });

  test("an owner that cannot start passes its reason on to whoever waits for it", async () => {
    const home = emptyHome();
    const more = { BUTLER_ROSTER: join(home, "nowhere") };
    const ends = await Promise.all(Array.from({ length: 3 }, () => butler(home, ["stats"], more)));
    for (const { code, stderr } of ends) {
      expect(code).toBe(1);
      expect(stderr).toMatch(/The owner of the memory could not start: The roster .*nowhere is not a folder/);
    }
  });

  test("a database that cannot be reached is unavailable, without its password", async () => {
    const home = emptyHome();
    const more = { BUTLER_DATABASE_URL: "postgres://ann:s3cret@127.0.0.1:1/postgres" };
    const { code, stdout } = await butler(home, ["stats", "--json"], more);
    expect(code).toBe(1);
    expect(parsed(stdout)).toMatchObject({ error: { code: "unavailable" } });
    expect(stdout).not.toContain("s3cret");
    await butler(home, ["stop"]);
  });

  test("wrong usage ends with 2", async () => {
    const home = emptyHome();
    for (const args of [
      ["cook"],
      ["up", "--colour", "red"],
      ["mcp", "--tools", "some"],
      ["token", "shred"],
      ["call"],
    ]) {
      expect({ args, code: (await butler(home, args)).code }).toEqual({ args, code: 2 });
    }
    expect((await butler(home, ["stats"], { BUTLER_PORT: "many" })).stderr).toContain('BUTLER_PORT is "many"');
  });
});

test("--version and --help need no home", async () => {
  const home = "/nonexistent/home";
  expect((await butler(home, ["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+/);
  expect((await butler(home, ["--help"])).stdout).toContain("butler remember");
  expect((await butler(home, ["mcp", "--help"])).stdout).toContain("--tools core|full");
});
