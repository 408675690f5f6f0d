/** Everything that lies in a home is for its owner alone, whatever the umask of whoever starts us. */
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { unpackSnapshot } from "../../src/engine/adapters/db/unpack-snapshot.ts";
import { openPaths } from "../../src/engine/adapters/files/private-files.ts";
import { openMemory } from "../../src/main/library.ts";
import { installHooks } from "../support/agent-hooks.ts";
import { butler, cleanUp, emptyHome } from "../support/owner-processes.ts";
import { transcript } from "../support/transcript.ts";

const umask = process.umask();
// Children take it along.
beforeAll(() => void process.umask(0));
afterAll(async () => {
  process.umask(umask);
  await cleanUp();
});

const modesIn = (root: string) =>
  [...openPaths(root)].map((path) => `${(statSync(path).mode & 0o777).toString(8)} ${path}`);

test("what a store, an install, hooks and sessions leave has no right for anybody else", async () => {
  const home = emptyHome();
  const hooks = await installHooks(home);
  expect(await butler(home, ["remember", "the tea is in the blue tin"])).toMatchObject({ code: 0 });
  const said = transcript(join(home, "one.jsonl"), "one", hooks.project);
  const common = { session_id: "one", transcript_path: said.path };
  await hooks.fire("SessionStart", { ...common, source: "startup" });
  await hooks.fire("Stop", common);
  expect(existsSync(join(home, "butlers", "general", "store", "PG_VERSION"))).toBe(true);
  for (const name of ["butlers", "installs", "logs", "models", "plugins", "run", "spool", "token", "tokens.json"])
    expect(modesIn(join(home, name))).toEqual([]);
  await butler(home, ["stop"]);
});

test("the first store of a home is a copy of the one that the build has made", async () => {
  const home = emptyHome();
  expect(await butler(home, ["stats"])).toMatchObject({ code: 0 });
  await butler(home, ["stop"]);
  const built = emptyHome();
  const archive = fileURLToPath(new URL("../../dist/empty-store.tar.gz", import.meta.url));
  unpackSnapshot(gunzipSync(readFileSync(archive)), built);
  // The file begins with a number that PostgreSQL draws whenever it makes a store from nothing.
  const numberOf = (store: string) => readFileSync(join(store, "global", "pg_control")).readBigUInt64LE();
  expect(numberOf(join(home, "butlers", "general", "store"))).toBe(numberOf(built));
});

test("what was open is closed by the next start, told by the doctor, and files that are not ours are left alone", async () => {
  const home = emptyHome();
  expect(await butler(home, ["remember", "the tea is in the blue tin"])).toMatchObject({ code: 0 });
  await butler(home, ["stop"]);
  const store = join(home, "butlers", "general", "store");
  const opened = [join(store, "PG_VERSION"), join(store, "base"), join(home, "logs", "owner.log")];
  for (const path of opened) chmodSync(path, 0o777);
  mkdirSync(join(home, "pictures"));
  writeFileSync(join(home, "pictures", "cat.jpg"), "meow");
  const doctor = await butler(home, ["doctor", "--json"]);
  const { checks } = JSON.parse(doctor.stdout) as {
    checks: { check: string; state: string; found: string; remedy: string }[];
  };
  const told = checks.find(({ check }) => check === "home");
  expect(told).toMatchObject({
    state: "warn",
    found: expect.stringContaining("rights on"),
    remedy: expect.stringContaining("chmod"),
  });
  expect(await butler(home, ["search", "tea"])).toMatchObject({ code: 0, stdout: expect.stringContaining("blue tin") });
  for (const name of ["butlers", "logs"]) expect(modesIn(join(home, name))).toEqual([]);
  expect(statSync(join(home, "pictures", "cat.jpg")).mode & 0o777).toBe(0o666);
  await butler(home, ["stop"]);
});

test("a store of the library is private too, in a folder that is not", async () => {
  const folder = join(emptyHome(), "memory");
  mkdirSync(folder);
  const memory = await openMemory({ folder, fetchModel: false });
  expect(await memory.call("memory_stats", {})).toMatchObject({ ok: true });
  await memory.close();
  expect(modesIn(join(folder, "store"))).toEqual([]);
});
