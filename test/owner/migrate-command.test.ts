/** `butler migrate` as a person runs it: to a server and back, beside an owner. Needs `npm run build`. */
import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, inject, test } from "vitest";
import { butler, cleanUp, emptyHome, seededHome, up } from "../support/owner-processes.ts";
import { administer } from "../support/postgres.ts";

const url = inject("postgresUrl");

describe.skipIf(url === undefined)("butler migrate", () => {
  const name = `m${randomBytes(4).toString("hex")}`;
  afterAll(async () => {
    await cleanUp();
    await administer(url ?? "", (client) => client.query(`drop database if exists "butler_${name}" with (force)`));
  });

  test("moves a memory to a server and back, says what it does, and refuses what it must not do", async () => {
    const home = await seededHome();
    const roster = join(emptyHome(), "roster");
    mkdirSync(join(roster, name), { recursive: true });
    writeFileSync(join(roster, name, "butler.toml"), `[butler]\nname = "${name}"\n[modules.memory]\n`);
    const embedded = { BUTLER_ROSTER: roster };
    const served = { ...embedded, BUTLER_DATABASE_URL: url ?? "" };
    const to = ["migrate", "--to", url ?? ""];
    for (const words of ["Molly", "Rome"])
      await butler(home, ["remember", words, "--fact", "cat", words.toLowerCase()], embedded);

    expect((await butler(home, ["migrate"], embedded)).code).toBe(2);
    expect((await butler(home, ["migrate", "--to", "mysql://x"], embedded)).stderr).toContain("postgres://");
    expect((await butler(home, ["migrate", "--to", home], embedded)).stderr).toContain("is already");
    const dry = await butler(home, [...to, "--dry-run"], embedded);
    expect([dry.code, dry.stdout]).toEqual([0, expect.stringMatching(/rows would be moved\.\nNothing was changed/)]);

    const moved = await butler(home, to, embedded);
    expect([moved.code, moved.stdout], moved.stderr).toEqual([0, expect.stringContaining("compared and the same")]);
    expect(moved.stdout).toContain("BUTLER_DATABASE_URL");
    expect(moved.stdout + moved.stderr).not.toContain(new URL(url ?? "").password);
    expect(moved.stderr).toMatch(/copying .*\n[\s\S]*comparing .*\n[\s\S]*replaying events/);
    const again = await butler(home, [...to, "--json"], embedded);
    expect([again.code, JSON.parse(again.stdout).error]).toMatchObject([2, { message: /holds other memories/ }]);

    expect((await butler(home, ["search", "Molly", "--json"], served)).stdout).toContain("Molly");
    await butler(home, ["remember", "Tibbles", "--fact", "dog", "name"], served);
    const running = await up(home, [], served);
    expect((await butler(home, ["migrate", "--to", emptyHome()], served)).stderr).toContain("butler stop");
    running.child.kill("SIGTERM");
    await running.ended;

    const back = emptyHome();
    const returned = await butler(home, ["migrate", "--to", back, "--json"], served);
    expect([returned.code, JSON.parse(returned.stdout)], returned.stderr).toMatchObject([
      0,
      { to: "folder", butlers: [{ butler: name, start: "new" }] },
    ]);
    const found = await butler(back, ["search", "Tibbles", "--json"], embedded);
    expect(found.stdout).toContain("Tibbles");
    expect((await butler(back, ["replay", "--verify"], embedded)).code).toBe(0);
  });
});
