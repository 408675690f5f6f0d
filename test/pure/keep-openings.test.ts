/** When openings are written, renewed and removed, with a memory of the test's own behind them. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { defaultButler } from "../../src/daemon/config/config.ts";
import { homeAt } from "../../src/daemon/home.ts";
import { silentLog } from "../../src/engine/adapters/log.ts";
import { keepOpenings, type Openings, removeAllOpenings } from "../../src/hosts/openings/keep-openings.ts";
import { decodeGiven, encodeGiven, openingFile, readOpeningTime } from "../../src/hosts/openings/opening-file.ts";
import { projectOf } from "../../src/hosts/projects/project.ts";

const ID = "0190a5b4-7c1e-7a3b-8c2d-000000000001";

let root: string;
let now: number;
let names: string[];
let composed: string[];
/** What each butler knows; a project is told it with its key. */
let known: Record<string, string>;
let gate: Promise<void> | undefined;
let openings: Openings;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "openings-")));
  now = Date.parse("2026-03-01T10:00:00Z");
  names = ["general", "other"];
  composed = [];
  known = { general: "tea", other: "coffee" };
  gate = undefined;
  openings = make();
});
afterEach(async () => {
  await openings.stop();
  rmSync(root, { recursive: true, force: true });
});

const home = () => homeAt(join(root, "home"));

function make(): Openings {
  return keepOpenings({
    home: home(),
    clock: { now: () => new Date(now), fixed: false },
    log: silentLog,
    butlers: () => names.map((name) => defaultButler(name)),
    roster: undefined,
    quietMs: 3_600_000,
    async compose(butler, project) {
      composed.push(`${butler} ${project ?? "own"}`);
      const text = known[butler];
      await gate;
      if (text === undefined) throw new Error("memory does not answer");
      return { text: `${text} ${project ?? "own"}`, tokens: 7, told: [ID] };
    },
  });
}

function folder(name: string): string {
  const path = join(root, "work", name);
  mkdirSync(path, { recursive: true });
  return path;
}

const textOf = (butler: string, place?: string): string | undefined => {
  const file = openingFile(home(), butler, place);
  return file !== undefined && statSync(file, { throwIfNoEntry: false })?.isFile()
    ? /^text (.*)$/m.exec(readFileSync(file, "utf8"))?.[1]
    : undefined;
};

describe("openings", () => {
  it("are kept for the folders that sessions were in, and for the butler itself; private, and dated", async () => {
    const app = folder("app");
    openings.seen("general", app);
    expect(openings.busy()).toBe(true);
    await openings.flush();
    expect(openings.busy()).toBe(false);
    expect(textOf("general")).toBe("tea own");
    expect(textOf("general", app)).toBe(`tea ${projectOf(app).key}`);
    expect(textOf("other")).toBeUndefined();
    const file = openingFile(home(), "general", app)!;
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(file, "..")).mode & 0o777).toBe(0o700);
    expect(readOpeningTime(file)?.getTime()).toBe(now);
    expect(readFileSync(file, "utf8")).toContain(`\nneeds ${home().store("general")}\n`);
  });

  it("are written once after many changes, and not for a butler without hooks", async () => {
    openings.changed("general");
    expect(openings.busy()).toBe(false);
    openings.seen("general", folder("app"));
    await openings.flush();
    for (let n = 0; n < 5; n++) openings.changed("general");
    expect(existsSync(join(home().openings, "general", "changing"))).toBe(true);
    known.general = "cocoa";
    composed.length = 0;
    await openings.flush();
    expect(composed).toHaveLength(2);
    expect(textOf("general")).toBe("cocoa own");
    expect(existsSync(join(home().openings, "general", "changing"))).toBe(false);
    openings.changed("nobody");
    openings.seen("nobody", folder("app"));
    expect(openings.busy()).toBe(false);
  });

  it("are gone before something is taken out, and a text that was made before is not written after", async () => {
    const app = folder("app");
    openings.seen("general", app);
    await openings.flush();
    let open: () => void = () => undefined;
    gate = new Promise((done) => (open = done));
    openings.changed("general");
    const writing = openings.flush();
    await expect.poll(() => composed.length).toBe(3);
    const taken = openings.taking("general");
    expect([textOf("general"), textOf("general", app)]).toEqual([undefined, undefined]);
    known.general = "nothing";
    open();
    await writing;
    // It was read before the memory was taken out, or while that was under way.
    expect([textOf("general"), textOf("general", app)]).toEqual([undefined, undefined]);
    taken();
    taken();
    await openings.flush();
    expect(textOf("general")).toBe("nothing own");
  });

  it("of 30 projects are kept, those that were used last", async () => {
    const folders = Array.from({ length: 32 }, (_, n) => folder(`p${n}`));
    for (const one of folders) openings.seen("general", one);
    await openings.flush();
    expect(folders.filter((one) => textOf("general", one) === undefined)).toEqual(folders.slice(0, 2));
    openings.seen("general", folders[2]!);
    openings.seen("general", folders[0]!);
    await openings.flush();
    expect(textOf("general", folders[3])).toBeUndefined();
    expect(textOf("general", folders[2])).toBeDefined();
    expect(existsSync(join(home().openings, "general", "at", folders[3]!))).toBe(false);
  });

  it("are renewed after half a day, and by the next owner", async () => {
    openings.seen("general", folder("app"));
    await openings.flush();
    openings.seen("general", folder("app"));
    expect(openings.busy()).toBe(false);
    now += 13 * 3_600_000;
    openings.seen("general", folder("app"));
    await openings.flush();
    expect(composed).toHaveLength(4);
    await openings.stop();
    openings = make();
    openings.changed("general");
    await openings.flush();
    expect(composed).toHaveLength(6);
  });

  it("that cannot be made are removed; a stop writes what is due", async () => {
    const app = folder("app");
    openings.seen("general", app);
    await openings.stop();
    expect(textOf("general", app)).toBeDefined();
    openings = make();
    delete known.general;
    openings.changed("general");
    await openings.flush();
    expect([textOf("general"), textOf("general", app)]).toEqual([undefined, undefined]);
  });

  it("follow their folder: one that is gone, or belongs to a repository now, has none of its own", async () => {
    const [app, gone] = [folder("top/app"), folder("gone")];
    openings.seen("general", app);
    openings.seen("general", gone);
    await openings.flush();
    rmSync(gone, { recursive: true });
    const top = join(root, "work", "top");
    mkdirSync(join(top, ".git"));
    writeFileSync(join(top, ".git", "HEAD"), "ref: refs/heads/main\n");
    writeFileSync(join(top, ".git", "config"), "");
    openings.changed("general");
    await openings.flush();
    expect([textOf("general", app), textOf("general", gone)]).toEqual([undefined, undefined]);
    openings.seen("general", app);
    await openings.flush();
    expect(textOf("general", top)).toContain("tea git:top");
    expect(readFileSync(openingFile(home(), "general", top)!, "utf8")).toContain(
      `after ${join(top, ".git", "config")}\n`,
    );
  });

  it("end with their butler, and with whoever removes them", async () => {
    openings.seen("general", folder("app"));
    openings.seen("other", folder("app"));
    await openings.flush();
    names = ["general"];
    openings.reloaded();
    expect(existsSync(join(home().openings, "other"))).toBe(false);
    expect(textOf("general")).toBeUndefined();
    await openings.flush();
    expect(textOf("general")).toBe("tea own");
    removeAllOpenings(home());
    openings.changed("general");
    await openings.flush();
    expect(existsSync(home().openings)).toBe(false);
    openings.seen("general", folder("app"));
    await openings.flush();
    expect(textOf("general", folder("app"))).toBeDefined();
  });

  it("are left out where a folder stands in the way, and the others are kept", async () => {
    const [app, odd] = [folder("app"), folder("app/.opening")];
    openings.seen("general", app);
    openings.seen("general", odd);
    await openings.flush();
    expect([textOf("general", app), textOf("general", odd)].filter((text) => text !== undefined)).toHaveLength(1);
    expect(textOf("general")).toBe("tea own");
    openings.seen("general", folder('a"b'));
    openings.seen("general", folder("a\nb"));
    expect(openings.busy()).toBe(false);
  });
});

describe("what a session was given", () => {
  it("comes back as it was written, and anything else is nothing", () => {
    const given = { ids: [ID, ID], tokens: 42 };
    expect(decodeGiven(encodeGiven(given))).toEqual(given);
    expect(decodeGiven("0:")).toEqual({ ids: [], tokens: 0 });
    for (const odd of [undefined, "", "42", `x:${ID}`, `1:${ID};`, `1:${"x".repeat(36)}`])
      expect(decodeGiven(odd)?.ids ?? [], odd).toEqual([]);
  });
});
