import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, inject, it } from "vitest";
import { KEY_LIMIT, pathKey, projectKey, remoteKey } from "../../src/doors/project-key.ts";
import { readGitConfig } from "../../src/hosts/projects/git-config.ts";
import { projectOf } from "../../src/hosts/projects/project.ts";

const scratch = realpathSync(mkdtempSync(join(tmpdir(), "butler-project-")));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const PLAIN = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
const ALLOW_FILES = ["-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main"];

function git(folder: string, ...args: string[]): void {
  execFileSync("git", [...ALLOW_FILES, ...args], { cwd: folder, stdio: "pipe", env: { ...process.env, ...PLAIN } });
}

function folderNamed(name: string): string {
  const folder = join(scratch, name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

function repository(name: string, remotes: Readonly<Record<string, string>> = {}): string {
  const folder = folderNamed(name);
  git(folder, "init", "-q");
  for (const [remote, url] of Object.entries(remotes)) git(folder, "remote", "add", remote, url);
  return folder;
}

function withCommit(folder: string): string {
  writeFileSync(join(folder, "readme"), "hello\n");
  git(folder, "add", ".");
  git(folder, "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-q", "-m", "first");
  return folder;
}

describe("the address of a remote", () => {
  it.each([
    ["git@github.com:Acme/App.git", "github.com/acme/app"],
    ["ssh://git@github.com:22/acme/app", "github.com/acme/app"],
    ["https://user:tok@github.com/acme/app.git/", "github.com/acme/app"],
    ["https://ghp_secret@github.com/acme/app", "github.com/acme/app"],
    ["HTTPS://GitHub.com/Acme/App.git", "github.com/acme/app"],
    ["git://github.com:9418/acme/app.git", "github.com/acme/app"],
    ["github.com:acme/app.git", "github.com/acme/app"],
    ["ssh://git@ssh.github.com:443/acme/app.git", "github.com/acme/app"],
    ["https://host.example:8443/acme/app.git", "host.example:8443/acme/app"],
    ["ssh://git@host.example:2222/acme/app.git", "host.example:2222/acme/app"],
    ["git@host.example:/srv/git/app.git", "host.example/srv/git/app"],
    ["git@[::1]:acme/app.git", "[::1]/acme/app"],
    ["ssh://git@[::1]:2222/acme/app.git", "[::1]:2222/acme/app"],
    ["https://host.example/acme/app.git?token=abc#main", "host.example/acme/app"],
    ["https://host.example//acme///app.git//", "host.example/acme/app"],
    ["hg::https://ada:pw@host.example/acme/app", "host.example/acme/app"],
    ["https://host.example/acme/größe app", "host.example/acme/gr%c3%b6%c3%9fe%20app"],
  ])("%s is %s", (address, key) => {
    expect(remoteKey(address)).toBe(key);
    expect(projectKey(key)).toBe(key);
  });

  it.each(["/srv/git/app.git", "../app", "./app:old", "file:///srv/git/app.git", "C:\\git\\app", "c:/git/app"])(
    "%s is a place on this machine",
    (address) => expect(remoteKey(address)).toBeUndefined(),
  );

  it.each([
    "https://ada:pa/ss@github.com/acme/app",
    "https://ada:pa?ss@github.com/acme/app",
    "https://ada:pa#ss@github.com/acme/app",
    "https://ad/a@github.com/acme/app",
    "https://ada/@github.com/acme/app",
    "ada:pass@github.com:acme/app",
  ])("%s, whose password cannot be told from the rest, is only a mark", (address) =>
    expect(remoteKey(address)).toMatch(/^remote:[0-9a-f]{16}$/),
  );
});

describe("a key", () => {
  const anyAddress = fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 300 }),
    fc.string({ unit: fc.constantFrom(..."aB:/@.-%?# ~[]*".split(""), ".git", "://", "::", "global"), maxLength: 60 }),
    fc.tuple(fc.constantFrom("https://", "ssh://", "git@", ""), fc.string(), fc.string()).map((all) => all.join("/")),
  );

  it("is printable, short, never empty, never a reserved word, and stays itself when it is given again", () => {
    fc.assert(
      fc.property(anyAddress, (address) => {
        for (const key of [projectKey(address), remoteKey(address), pathKey("folder", `/x/${address}`)]) {
          if (key === undefined) continue;
          expect(key).toMatch(/^[\x21-\x7e]+$/);
          expect(key.length).toBeLessThanOrEqual(KEY_LIMIT);
          expect(["global", "*", ""]).not.toContain(key);
          expect(projectKey(key)).toBe(key);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it("never holds the user or the password of an address", () => {
    // Both carry a word that stands nowhere else, among all the signs that take an address apart.
    const around = (word: string) =>
      fc
        .tuple(fc.string({ maxLength: 8 }), fc.string({ maxLength: 8 }))
        .map(([before, after]) => `${before}${word}${after}`.replace(/\s/g, ""));
    const scheme = fc.constantFrom("https://", "http://", "ssh://", "git+ssh://", "HTTPS://");
    fc.assert(
      fc.property(scheme, around("zquser"), around("zqpass"), (start, user, password) => {
        const rest = "git.example.org/acme/app.git";
        for (const who of [`${user}:${password}`, user, `:${password}`, `${user}:`])
          expect(remoteKey(`${start}${who}@${rest}`) ?? "").not.toMatch(/zquser|zqpass/i);
      }),
      { numRuns: 2_000 },
    );
  });

  it("of a place tells its last name and nothing of the way there", () => {
    expect(pathKey("folder", "/home/ada/secret-plans/app")).toMatch(/^folder:app-[0-9a-f]{8}$/);
    expect(pathKey("git", "/home/ada/app/.git")).toMatch(/^git:app-[0-9a-f]{8}$/);
    expect(pathKey("path", "/srv/app.git")).toMatch(/^path:app-[0-9a-f]{8}$/);
    expect(pathKey("folder", "/")).toMatch(/^folder:root-[0-9a-f]{8}$/);
    expect(pathKey("folder", "/a/app")).not.toBe(pathKey("folder", "/b/app"));
  });

  it("that is too long is cut, and two such stay two", () => {
    const long = `host.example/${"ö".repeat(100)}`;
    const [one, two] = [projectKey(`${long}/one`), projectKey(`${long}/two`)];
    expect(one).toHaveLength(one === undefined ? 0 : Math.min(one.length, KEY_LIMIT));
    expect(one).not.toBe(two);
  });
});

describe("a git configuration", () => {
  it("is read with its quotes, comments, continuations and cases", () => {
    const text = [
      "\uFEFF# a comment",
      "[Core]\r",
      "\tbare = false ; another",
      "\tlonely",
      '[remote "Up Stream"] URL = "https://host/a;b#c"  # why',
      "  fetch = +refs/*:refs/\\",
      "remotes/*   ",
      '[url "with \\"quotes\\" and \\\\"]',
      '  insteadOf = " kept " and   spaces',
      "[branch.Main]",
      "  merge = a\\tb\\\\c\\nd",
      "= nonsense",
      "[include]",
      "  path = ../other",
    ].join("\n");
    expect(readGitConfig(text)).toEqual([
      { section: "core", subsection: "", name: "bare", value: "false" },
      { section: "core", subsection: "", name: "lonely", value: "true" },
      { section: "remote", subsection: "Up Stream", name: "url", value: "https://host/a;b#c" },
      { section: "remote", subsection: "Up Stream", name: "fetch", value: "+refs/*:refs/remotes/*" },
      { section: "url", subsection: 'with "quotes" and \\', name: "insteadof", value: " kept  and   spaces" },
      { section: "branch", subsection: "main", name: "merge", value: "a\tb\\c\nd" },
      { section: "include", subsection: "", name: "path", value: "../other" },
    ]);
  });

  it("never makes the reader stumble", () => {
    const unit = fc.constantFrom(...'[]"\\=#; \n\tab.'.split(""), '[remote "o"]', "url");
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 80 }), (text) => {
        for (const { name } of readGitConfig(text)) expect(name).toMatch(/^[a-z][a-z0-9-]*$/);
      }),
    );
  });

  it("gives what git itself reads", () => {
    const folder = repository("as-git-reads");
    const odd = 'https://host.example/a b/"c";d#e\\f';
    git(folder, "config", "remote.origin.url", odd);
    const settings = readGitConfig(readFileSync(join(folder, ".git", "config"), "utf8"));
    expect(settings.find(({ name }) => name === "url")?.value).toBe(odd);
  });
});

describe.skipIf(inject("missingPrograms").includes("git"))("a folder", () => {
  it("in a repository is called after its remote, however deep it lies", () => {
    const root = repository("named", {
      upstream: "https://host.example/other/app",
      origin: "git@github.com:Acme/App.git",
    });
    const deep = folderNamed("named/src/deep");
    const expected = { key: "github.com/acme/app", from: "remote", root };
    expect(projectOf(root)).toEqual(expected);
    expect(projectOf(deep)).toEqual(expected);
    expect(projectOf(join(root, ".git", "refs")).key).toBe("github.com/acme/app");
  });

  it("without origin is called after the first remote", () => {
    const root = repository("other-name", { fork: "https://host.example/fork/app.git" });
    expect(projectOf(root)).toMatchObject({ key: "host.example/fork/app", from: "remote" });
  });

  it("is called what the caller says, then what its repository says", () => {
    const root = repository("configured", { origin: "https://host.example/acme/app" });
    git(root, "config", "butler.project", "Acme Shop");
    expect(projectOf(root)).toEqual({ key: "acme%20shop", from: "explicit", root });
    expect(projectOf(root, "mine")).toEqual({ key: "mine", from: "explicit", root });
    expect(projectOf(root, "git@github.com:acme/app.git").key).toBe("github.com/acme/app");
    expect(projectOf(root, "  ").key).toBe("acme%20shop");
    expect(projectOf(root, "global").key).toBe("project:global");
    expect(projectOf(root, "*").key).toBe("project:*");
  });

  it("shares its project with the other worktrees of its repository", () => {
    const main = withCommit(repository("shared"));
    git(main, "worktree", "add", "-q", join(scratch, "shared-tree"));
    const tree = projectOf(join(scratch, "shared-tree"));
    expect(tree).toMatchObject({ from: "git", root: join(scratch, "shared-tree") });
    expect(tree.key).toBe(projectOf(main).key);
    expect(tree.key).toMatch(/^git:shared-[0-9a-f]{8}$/);
  });

  it("that is a submodule is a project of its own", () => {
    const inner = withCommit(repository("inner"));
    const outer = withCommit(repository("outer", { origin: "https://host.example/acme/outer" }));
    git(outer, "submodule", "add", "-q", inner, "part");
    const part = projectOf(join(outer, "part"));
    expect(part).toMatchObject({ from: "remote", root: join(outer, "part") });
    expect(part.key).toBe(pathKey("path", inner));
    git(join(outer, "part"), "remote", "remove", "origin");
    expect(projectOf(join(outer, "part")).key).toMatch(/^git:part-/);
  });

  it("whose remote is a path or a file address is told by where that leads", () => {
    const target = folderNamed("far/app.git");
    const [one, two, three] = [target, `file://${target}`, "../far/app.git"].map((url, place) =>
      projectOf(repository(`local-${place}`, { origin: url })),
    );
    expect(one).toMatchObject({ key: pathKey("path", target), from: "remote" });
    expect([two?.key, three?.key]).toEqual([one?.key, one?.key]);
    expect(one?.key).not.toContain("far");
  });

  it("may be a bare repository", () => {
    const bare = folderNamed("bare.git");
    git(bare, "init", "-q", "--bare");
    expect(projectOf(bare)).toMatchObject({ from: "git", root: bare });
    git(bare, "remote", "add", "origin", "https://host.example/acme/bare");
    expect(projectOf(bare).key).toBe("host.example/acme/bare");
  });

  it("is the work tree around a bare repository that was checked out with it, whatever that one says of itself", () => {
    const tree = repository("with-embedded", { origin: "https://host.example/acme/outer" });
    const embedded = join(tree, "docs", "example");
    mkdirSync(embedded, { recursive: true });
    git(embedded, "init", "-q", "--bare");
    git(embedded, "remote", "add", "origin", "https://host.example/acme/victim");
    for (const folder of [embedded, join(embedded, "refs"), join(embedded, "not", "there")])
      expect(projectOf(folder)).toEqual({ key: "host.example/acme/outer", from: "remote", root: tree });
    git(embedded, "config", "butler.project", "github.com/acme/victim");
    expect(projectOf(embedded).key).toBe("host.example/acme/outer");
    // What lies in `.git` itself cannot have been checked out.
    expect(projectOf(join(tree, ".git", "refs")).key).toBe("host.example/acme/outer");
  });

  it("outside of any repository, or that is not there, is itself", () => {
    const plain = folderNamed("plain");
    mkdirSync(join(plain, ".git"));
    expect(projectOf(plain)).toEqual({ key: pathKey("folder", plain), from: "folder", root: plain });
    const missing = join(scratch, "nobody", "here");
    expect(projectOf(missing)).toEqual({ key: pathKey("folder", missing), from: "folder", root: missing });
    expect(projectOf("\0").from).toMatch(/folder|git|remote/);
  });

  it("under another name is the same project", () => {
    const plain = folderNamed("one-place");
    symlinkSync(plain, join(scratch, "other-name-of-it"));
    expect(projectOf(join(scratch, "other-name-of-it"))).toEqual(projectOf(plain));
  });

  it("with broken links, loops or unreadable files has an answer all the same", () => {
    const broken = folderNamed("broken");
    writeFileSync(join(broken, ".git"), "gitdir: ../gone/.git/worktrees/x\n");
    expect(projectOf(broken)).toMatchObject({ from: "folder", root: broken });
    const loop = folderNamed("loop");
    symlinkSync(join(loop, ".git"), join(loop, ".git"));
    expect(projectOf(join(loop, "below")).from).toBe("folder");
    symlinkSync(join(scratch, "ring-b"), join(scratch, "ring-a"));
    symlinkSync(join(scratch, "ring-a"), join(scratch, "ring-b"));
    expect(projectOf(join(scratch, "ring-a")).key).toMatch(/^folder:ring-a-/);
    const locked = repository("locked", { origin: "https://host.example/acme/locked" });
    rmSync(join(locked, ".git", "config"));
    execFileSync("sh", ["-c", 'mkfifo "$1"', "sh", join(locked, ".git", "config")]);
    expect(projectOf(locked).from).toBe("git");
    chmodSync(join(locked, ".git"), 0o000);
    expect(projectOf(locked).key).toMatch(/locked-/);
    chmodSync(join(locked, ".git"), 0o700);
  });
});
