/** Which opening a session is told, when, and what its owner hears of it. */
import {
  chmodSync,
  chownSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, inject, test, vi } from "vitest";
import { HOOK_DIALECTS } from "../../src/hosts/hooks/dialects.ts";
import { decodeGiven } from "../../src/hosts/openings/opening-file.ts";
import { rootPlace } from "../../src/hosts/projects/project.ts";
import { GONE, IDS, makeFolder, OWN, openingRig, QUIET, repository, SLOW, TEXT, told } from "../support/opening-rig.ts";
import { PATIENCE } from "../support/patience.ts";

const hooks = openingRig();
const { keep, fire, slowArgs, handedOver } = hooks;

const curl = !inject("missingPrograms").includes("curl");

describe("whose opening it is", () => {
  test("a sub-folder has that of its repository; two projects are never mixed", async () => {
    const app = repository(hooks.project);
    const other = repository(makeFolder(join(hooks.project, "..", "other")));
    keep(app, { text: "app" });
    keep(other, { text: "other" });
    const deep = makeFolder(join(app, "src", "deep"));
    expect(await fire({ folder: deep })).toEqual(told("app"));
    expect(await fire({ folder: other })).toEqual(told("other"));
    // A folder within that is a repository of its own.
    const inner = repository(makeFolder(join(app, "vendor", "inner")));
    expect((await fire({ folder: inner })).stdout).toBe(SLOW.stdout);
    // Reached by another name.
    symlinkSync(deep, join(hooks.project, "..", "elsewhere"));
    expect(await fire({ folder: join(hooks.project, "..", "elsewhere") })).toEqual(told("app"));
  });

  test("a folder that was never seen gets the butler's own; one that cannot be told from here is left to the owner", async () => {
    keep(undefined);
    keep(hooks.project);
    const fresh = makeFolder(join(hooks.project, "..", "fresh"));
    expect(await fire({ folder: fresh, session: "s-2" })).toEqual(told(OWN));
    const bare = makeFolder(join(hooks.project, "..", "bare.git"));
    makeFolder(join(bare, "objects"));
    writeFileSync(join(bare, "HEAD"), "ref: refs/heads/main\n");
    expect(rootPlace(bare)).toBeUndefined();
    expect((await fire({ folder: bare })).stdout).toBe(SLOW.stdout);
    const inside = join(repository(makeFolder(join(hooks.project, "..", "repo"))), ".git", "objects");
    expect((await fire({ folder: inside })).stdout).toBe(SLOW.stdout);
    const linked = makeFolder(join(hooks.project, "..", "linked"));
    symlinkSync(join(hooks.project, "..", "repo", ".git"), join(linked, ".git"));
    expect(rootPlace(linked)).toBeUndefined();
    expect((await fire({ folder: linked })).stdout).toBe(SLOW.stdout);
    expect((await fire({ folder: join(hooks.project, "not-there") })).stdout).toBe(SLOW.stdout);
  });

  test("a worktree has one of its own, for as long as its link and the shared settings stay", async () => {
    const main = repository(hooks.project);
    const tree = makeFolder(join(hooks.project, "..", "tree"));
    const shared = makeFolder(join(main, ".git", "worktrees", "tree"));
    writeFileSync(join(shared, "HEAD"), "ref: refs/heads/x\n");
    writeFileSync(join(shared, "commondir"), "../..\n");
    writeFileSync(join(tree, ".git"), `gitdir: ${shared}\n`);
    const file = keep(tree);
    expect(await fire({ folder: tree })).toEqual(told(TEXT));
    const later = new Date(Date.now() + 60_000);
    utimesSync(join(tree, ".git"), later, later);
    expect((await fire({ folder: tree })).stdout).toBe(SLOW.stdout);
    utimesSync(file, later, later);
    expect(await fire({ folder: tree })).toEqual(told(TEXT));
    utimesSync(join(main, ".git", "config"), new Date(Date.now() + 120_000), new Date(Date.now() + 120_000));
    expect((await fire({ folder: tree })).stdout).toBe(SLOW.stdout);
  });

  test("changed git settings, a new repository, one that is gone: each may be another project", async () => {
    keep(hooks.project);
    repository(hooks.project);
    expect((await fire()).stdout).toBe(SLOW.stdout);
    keep(hooks.project);
    expect(await fire()).toEqual(told(TEXT));
    const later = new Date(Date.now() + 60_000);
    utimesSync(join(hooks.project, ".git", "config"), later, later);
    expect((await fire()).stdout).toBe(SLOW.stdout);
    keep(hooks.project);
    rmSync(join(hooks.project, ".git"), { recursive: true });
    expect((await fire()).stdout).toBe(SLOW.stdout);
  });

  test("another butler, another roster, changed settings of the butler, another clock, project or database: the owner is asked", async () => {
    const roster = makeFolder(join(hooks.rig.root, "roster", "general"));
    const settings = join(roster, "butler.toml");
    writeFileSync(settings, "");
    const folder = join(hooks.rig.root, "roster");
    const script = hooks.rig.install("roster", { roster: folder });
    keep(hooks.project, { roster: folder, after: [settings] });
    expect(await fire({}, { script })).toEqual(told(TEXT));
    expect((await fire({}, { script, env: { BUTLER_ROSTER: "/mine" } })).stdout).toBe(SLOW.stdout);
    for (const name of ["BUTLER_NOW", "BUTLER_PROJECT", "BUTLER_DATABASE_URL"])
      expect((await fire({}, { script, env: { [name]: "2026-01-01" } })).stdout, name).toBe(SLOW.stdout);
    utimesSync(settings, new Date(Date.now() + 60_000), new Date(Date.now() + 60_000));
    expect((await fire({}, { script })).stdout).toBe(SLOW.stdout);
    rmSync(settings);
    expect((await fire({}, { script })).stdout).toBe(SLOW.stdout);
    keep(hooks.project, {}, "another");
    rmSync(join(hooks.rig.home.openings, "general"), { recursive: true });
    expect((await fire()).stdout).toBe(SLOW.stdout);
  });

  test.skipIf(process.getuid?.() !== 0)("files and folders of another user are not told (needs root)", async () => {
    const file = keep(hooks.project);
    chownSync(file, 12_345, 12_345);
    expect((await fire()).stdout).toBe(SLOW.stdout);
    chownSync(file, 0, 0);
    expect(await fire()).toEqual(told(TEXT));
    chownSync(hooks.rig.home.openings, 12_345, 12_345);
    expect((await fire()).stdout).toBe(SLOW.stdout);
  });
});

describe("a session", () => {
  test("is told once: a prompt returns at once, and names what was told when an owner is there", async () => {
    keep(hooks.project);
    await fire();
    await handedOver([GONE]);
    expect(await fire({ moment: "prompt" })).toEqual(QUIET);
    expect(slowArgs()).toEqual([GONE]);
    // Later than an owner takes to start, another one is called.
    writeFileSync(join(hooks.rig.root, "run", "called"), `${Math.floor(Date.now() / 1000) - 60}\n`);
    expect(await fire({ moment: "prompt" })).toEqual(QUIET);
    await handedOver([GONE, GONE]);
    expect(readdirSync(join(hooks.rig.root, "spool"))).toEqual(["given.general.claude-code.s-1"]);
    expect(lstatSync(join(hooks.rig.root, "spool", "given.general.claude-code.s-1")).mode & 0o777).toBe(0o600);
  });

  test("whose start was lost is told with its prompt; another session, agent or butler is another one", async () => {
    keep(hooks.project);
    expect(await fire({ moment: "prompt" })).toEqual(told(TEXT));
    expect(await fire({ moment: "prompt" })).toEqual(QUIET);
    expect(await fire({ moment: "prompt", session: "s-2" })).toEqual(told(TEXT));
    expect(await fire({ moment: "prompt", agent: "codex" })).toEqual(told(TEXT));
  });

  test("is told again after a clearing or a compaction, and not when it is resumed", async () => {
    keep(hooks.project);
    await fire();
    expect(await fire({ source: "resume" })).toEqual(QUIET);
    for (const source of ["clear", "compact"]) expect(await fire({ source })).toEqual(told(TEXT));
    // One that was never seen here may have been told by another owner, who knows.
    expect((await fire({ source: "resume", session: "s-9" })).stdout).toBe(SLOW.stdout);
  });

  test.each(["", ".", "..", "../x", "a/b", 'a"b', "a\nb", "ä", "x".repeat(101)])(
    "called %j is left to the owner, and no file is named after it",
    async (session) => {
      keep(hooks.project);
      expect((await fire({ session })).stdout).toBe(SLOW.stdout);
      expect(readdirSync(join(hooks.rig.root, "spool"))).toEqual([]);
    },
  );

  test("that cannot be noted gets its opening from the owner", async () => {
    keep(hooks.project);
    rmSync(join(hooks.rig.root, "spool"), { recursive: true });
    expect(await fire()).toEqual(SLOW);
  });

  test("hears once that no owner could be started, and goes on", async () => {
    keep(hooks.project);
    await fire();
    await handedOver([GONE]);
    writeFileSync(join(hooks.rig.root, "run", "owner.error"), '{"reason":"no"}');
    expect(await fire({ moment: "prompt" })).toEqual(SLOW);
    expect(slowArgs().at(-1)).toEqual(["--late"]);
    expect(await fire({ moment: "prompt" })).toEqual(QUIET);
  });

  test("is told that memory is out of reach where no owner may be started", async () => {
    keep(hooks.project);
    for (const value of ["0", "off", "false"])
      expect(await fire({}, { env: { BUTLER_AUTOSTART: value } })).toEqual(SLOW);
  });
});

describe.skipIf(!curl)("with an owner", () => {
  test("the opening is told at once, and the owner hears of it in the background", async () => {
    keep(hooks.project);
    const asked = await hooks.rig.owner((response) => response.writeHead(204).end());
    expect(await fire()).toEqual(told(TEXT));
    await vi.waitFor(() => expect(asked).toHaveLength(1), PATIENCE);
    expect(asked[0]?.url).toMatch(/^\/hooks\/claude-code\/SessionStart\?butler=general&gone=\d{10}$/);
    expect(decodeGiven(asked[0]?.headers["x-butler-given"] as string)).toEqual({ ids: IDS, tokens: 42 });
    expect(slowArgs()).toEqual([]);
  });

  test("that never answers, a start is told and a prompt is warned once", async () => {
    keep(hooks.project);
    await hooks.rig.owner(() => undefined);
    expect(await fire()).toEqual(told(TEXT));
    expect(await fire({ moment: "prompt" })).toEqual(SLOW);
    expect(slowArgs()).toEqual([["--late"]]);
  });

  test("that died, a start is told, a prompt goes on, and another owner is started", async () => {
    keep(hooks.project);
    // A socket that nobody listens on any more.
    const dead = createServer().listen(hooks.rig.home.socket);
    await new Promise((done) => dead.once("listening", done));
    renameSync(hooks.rig.home.socket, `${hooks.rig.home.socket}.kept`);
    await new Promise((done) => dead.close(done));
    renameSync(`${hooks.rig.home.socket}.kept`, hooks.rig.home.socket);
    expect(await fire()).toEqual(told(TEXT));
    await handedOver([GONE]);
    expect(await fire({ moment: "prompt" })).toEqual(QUIET);
  });

  test("in a folder that was never seen it is asked, for it may know the project by its remote", async () => {
    keep(undefined);
    const line = JSON.stringify(HOOK_DIALECTS["claude-code"].answer("SessionStart", { context: "from the owner" }));
    const asked = await hooks.rig.owner((response) => response.end(line));
    expect(await fire()).toEqual({ ...QUIET, stdout: `${line}\n` });
    expect(asked.map(({ url }) => url)).toEqual(["/hooks/claude-code/SessionStart?butler=general"]);
    // It was told by the owner, who knows what.
    expect(readFileSync(join(hooks.rig.root, "spool", "given.general.claude-code.s-1"), "utf8")).toBe("\n");
  });

  test("after a clearing or a compaction it is asked, for it knows what the session said itself", async () => {
    keep(hooks.project);
    const line = JSON.stringify(HOOK_DIALECTS["claude-code"].answer("SessionStart", { context: "without your words" }));
    const asked = await hooks.rig.owner((response) => response.end(line));
    for (const source of ["resume", "clear", "compact"])
      expect(await fire({ source })).toEqual({ ...QUIET, stdout: `${line}\n` });
    expect(asked).toHaveLength(3);
  });

  test("that leaves or gives up after a clearing, the file is told", async () => {
    keep(hooks.project);
    await hooks.rig.owner((response) => response.writeHead(503).end("{}"));
    expect(await fire({ source: "clear" })).toEqual(told(TEXT));
  });

  test("that is too busy to answer only says so, and the file is told instead", async () => {
    keep(undefined);
    const asked = await hooks.rig.owner((response) => response.end('{"systemMessage":"late"}'));
    const started = await fire();
    expect(started).toEqual(told(OWN));
    expect(started.stdout).not.toContain("late");
    // It hears what the session was given.
    await vi.waitFor(
      () => expect(asked.map(({ headers }) => headers["x-butler-given"])).toEqual([undefined, GONE[3]]),
      PATIENCE,
    );
  });

  test("a prompt brings what it says, and says what the session was given", async () => {
    keep(hooks.project);
    await fire();
    await handedOver([GONE]);
    const line = JSON.stringify(HOOK_DIALECTS["claude-code"].answer("UserPromptSubmit", { context: "fits" }));
    const asked = await hooks.rig.owner((response) => response.end(line));
    // It listens, but its memory is not open yet.
    expect(await fire({ moment: "prompt" })).toEqual(QUIET);
    expect(await fire({ agent: "gemini", moment: "prompt" })).toEqual(told(TEXT));
    expect(asked).toEqual([]);
    unlinkSync(join(hooks.rig.root, "run", "called"));
    expect(await fire({ moment: "prompt" })).toEqual({ ...QUIET, stdout: `${line}\n` });
    expect(asked[0]?.url).toBe("/hooks/claude-code/UserPromptSubmit?butler=general");
    expect(asked[0]?.headers["x-butler-given"]).toBe(GONE[3]);
  });

  test("a warning is no opening: the next prompt without an owner brings it", async () => {
    keep(hooks.project);
    await hooks.rig.owner((response) => response.end('{"systemMessage":"unavailable"}'));
    expect((await fire({ moment: "prompt" })).stdout).toContain("unavailable");
    unlinkSync(hooks.rig.home.socket);
    expect(await fire({ moment: "prompt" })).toEqual(told(TEXT));
  });

  test("moments that bring nothing wait for nobody", async () => {
    await hooks.rig.owner(() => undefined);
    expect(await fire({ agent: "gemini" })).toEqual(QUIET);
    expect(await fire({ agent: "cursor", moment: "prompt" })).toEqual({ ...QUIET, stdout: '{"continue":true}\n' });
  });

  test("a home that others may write into does not stop a start", async () => {
    keep(hooks.project);
    chmodSync(join(hooks.rig.root, "run"), 0o500);
    expect(await fire()).toEqual(told(TEXT));
    chmodSync(join(hooks.rig.root, "run"), 0o700);
  });
});
