import {
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { parse } from "smol-toml";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AGENT_NAMES, type AgentName } from "../../src/hosts/hooks/dialects.ts";
import { applyInstall, prepareInstall } from "../../src/hosts/install/install.ts";
import { installFolder, readManifest } from "../../src/hosts/install/manifest.ts";
import type { InstallRequest, Scope } from "../../src/hosts/install/plan.ts";
import { agentStatus } from "../../src/hosts/install/status.ts";
import { applyUninstall, prepareUninstall } from "../../src/hosts/install/uninstall.ts";
import { plainWriting, settingsText, writing } from "../pure/install-material.ts";
import { makeWorld, type World } from "../pure/install-world.ts";

const NOW = new Date("2026-03-01T10:00:00Z");
let world: World;
beforeEach(() => {
  world = makeWorld();
});
afterEach(() => world.end());

function install(order: InstallRequest, force = false) {
  const prepared = prepareInstall(order, NOW, force);
  applyInstall(prepared);
  return prepared;
}

function uninstall({ places, agent, scope }: InstallRequest) {
  const undoing = prepareUninstall(places, agent, scope);
  applyUninstall(undoing);
  return undoing;
}

const everyOne = AGENT_NAMES.flatMap((agent) => (["user", "project"] as const).map((scope) => [agent, scope] as const));

const servers = fc.dictionary(fc.constantFrom("other", "files"), fc.record({ command: fc.string() }), { maxKeys: 2 });
const hookLists = fc.dictionary(
  fc.constantFrom("SessionStart", "Stop", "sessionStart", "mine"),
  fc.array(fc.jsonValue(), { maxLength: 2 }),
);
const settings = fc.record(
  {
    mcpServers: servers,
    mcp: servers,
    hooks: hookLists,
    autoMemoryEnabled: fc.boolean(),
    theme: fc.string(),
    enabledPlugins: fc.dictionary(fc.string(), fc.boolean()),
  },
  { requiredKeys: [] },
);
const toml = fc.constantFrom(
  "",
  'model = "x"\nnotify = ["say", "done"]\n',
  "# mine\n[mcp_servers.other]\ncommand = 'c'",
);

/** Random settings where this agent keeps them; undefined leaves a file out. */
function machine(order: InstallRequest): fc.Arbitrary<Map<string, string>> {
  const paths = prepareInstall(order, NOW, false).plan.host;
  const texts = paths.map((change) =>
    change.kind === "toml"
      ? fc.option(toml, { nil: undefined })
      : fc.option(
          fc
            .tuple(settings, change.strict ? plainWriting : writing)
            .map(([value, style]) => settingsText(value, style)),
          { nil: undefined },
        ),
  );
  return fc
    .tuple(...texts)
    .map(
      (all) => new Map(all.flatMap((text, index) => (text === undefined ? [] : [[paths[index]!.path, text] as const]))),
    );
}

describe.each(everyOne)("%s, for a %s", (agent: AgentName, scope: Scope) => {
  test("installed and taken out again, the disk is as it was; installed twice, nothing changes", () => {
    fc.assert(
      fc.property(machine(world.order(agent, scope)), (files) => {
        const own = makeWorld();
        try {
          const order = own.order(agent, scope);
          for (const [path, text] of files) own.write(path.replace(world.root, own.root), text);
          const before = own.snapshot();
          expect(install(order).changes).toBe(true);
          const once = own.snapshot();
          const again = install({ ...order });
          expect(again.changes).toBe(false);
          expect(again.writes).toEqual([]);
          expect(own.snapshot()).toEqual(once);
          uninstall(order);
          expect(own.snapshot()).toEqual(before);
        } finally {
          own.end();
        }
      }),
      { numRuns: 12 },
    );
  });

  test("a dry run touches nothing, and there is a backup of every file that is changed", () => {
    const order = world.order(agent, scope);
    const host = prepareInstall(order, NOW, false).plan.host;
    for (const change of host)
      world.write(change.path, change.kind === "toml" ? 'model = "x"\n' : '{\n\t"theme": "dark"\n}\n');
    const before = world.snapshot();
    const prepared = prepareInstall(order, NOW, false);
    expect(world.snapshot()).toEqual(before);
    applyInstall(prepared);
    const manifest = readManifest(prepared.folder)!;
    expect(manifest.host.map(({ path }) => path)).toEqual(host.map(({ path }) => path));
    for (const touched of manifest.host) {
      const backup = join(prepared.folder, touched.backup!);
      expect(`644 ${readFileSync(backup, "latin1")}`).toBe(before[touched.path.slice(world.root.length + 1)]);
      expect(statSync(backup).mode & 0o077).toBe(0);
    }
  });

  test("a newer version over an older one changes our parts only", () => {
    const order = world.order(agent, scope);
    install(order);
    const newer = install({ ...order, version: "1.1.0", butler: "health" });
    expect(newer.changes).toBe(true);
    expect(readManifest(newer.folder)).toMatchObject({ version: "1.1.0", butler: "health" });
    const everything = JSON.stringify(Object.entries(world.snapshot()).filter(([path]) => !path.includes("installs")));
    expect(everything).toContain("health");
    expect(everything).not.toContain("'general'");
    expect(everything).not.toMatch(/--butler[^a-z]*general/);
    uninstall(order);
    expect(Object.keys(world.snapshot())).toEqual(["/", "person/", "project/"]);
  });

  test("for a project nothing of this machine is written down", () => {
    const { writes } = prepareInstall(world.order(agent, scope), NOW, false);
    const text = writes.map(({ after }) => after).join("\n");
    const here = [world.root, process.execPath, "/opt/it"].filter((path) => text.includes(path));
    expect(here.length > 0).toBe(scope === "user");
  });
});

describe("the host's own memory", () => {
  test("is left alone", () => {
    const claude = join(world.user, ".claude");
    world.write(join(claude, "CLAUDE.md"), "# my rules\n");
    world.write(join(world.project, "CLAUDE.md"), "# our rules\n");
    world.write(join(world.project, "AGENTS.md"), "# agents\n");
    const theirs = { autoMemoryEnabled: true, autoMemoryDirectory: "/m", env: { A: "1" }, hooks: { Stop: [] } };
    world.write(join(claude, "settings.json"), JSON.stringify(theirs));
    for (const [agent, scope] of everyOne) install(world.order(agent, scope));
    expect(JSON.parse(readFileSync(join(claude, "settings.json"), "utf8"))).toEqual({
      ...theirs,
      hooks: {
        SessionStart: [expect.anything()],
        UserPromptSubmit: [expect.anything()],
        Stop: [expect.anything()],
        SessionEnd: [expect.anything()],
      },
    });
    const after = world.snapshot();
    expect(after["person/.claude/CLAUDE.md"]).toBe("644 # my rules\n");
    expect(after["project/CLAUDE.md"]).toBe("644 # our rules\n");
    expect(after["project/AGENTS.md"]).toBe("644 # agents\n");
  });

  test("notify of Codex stays as it is", () => {
    const config = world.write(join(world.user, ".codex", "config.toml"), 'notify = ["mine"]\n');
    install(world.order("codex", "user"));
    expect(parse(readFileSync(config, "utf8"))).toMatchObject({
      notify: ["mine"],
      mcp_servers: { "butler-memory": {} },
    });
  });
});

describe("what cannot be done is refused as a whole", () => {
  test.each([
    ["codex", ".codex/hooks.json", '{\n  "hooks": []\n}', "line 2"],
    ["codex", ".codex/hooks.json", "{\n  // x\n}", "line 2"],
    ["codex", ".codex/config.toml", "a = 1\n=\n", "line 2"],
    ["cursor", ".cursor/hooks.json", '{"hooks": {\n"stop": 1}}', "line 2"],
    ["cursor", ".cursor/mcp.json", '{"mcpServers": {"butler-memory": {"url": "x"}}}', "not ours"],
    ["gemini", ".gemini/extensions/butler-memory/gemini-extension.json", "{}", "not ours"],
    ["claude-code", ".claude.json", '{"mcpServers": {"butler-memory": {"url": "x"}}}', "not ours"],
    ["claude-code", ".claude/settings.json", '{"hooks": {\n"Stop": 1}}', "line 2"],
  ] as const)("%s with a bad %s", (agent, path, text, words) => {
    const file = world.write(join(world.user, path), text);
    const before = world.snapshot();
    const attempt = () => install(world.order(agent, "user"));
    expect(attempt).toThrow(words);
    expect(attempt).toThrow(file);
    expect(world.snapshot()).toEqual(before);
  });

  test("a file that cannot be written leaves the others as they were", () => {
    world.write(join(world.user, ".cursor", "mcp.json"), "{}");
    world.write(join(world.user, ".cursor", "skills"), "a file where a folder must be");
    const before = world.snapshot();
    expect(() => install(world.order("cursor", "user"))).toThrow(/skills/);
    expect(world.snapshot()).toEqual(before);
  });

  test("with force the other's entry gives way, and uninstall brings it back", () => {
    world.write(join(world.user, ".cursor", "mcp.json"), '{"mcpServers": {"butler-memory": {"url": "x"}}}');
    world.write(join(world.user, ".cursor", "skills", "butler-memory", "SKILL.md"), "theirs");
    const before = world.snapshot();
    install(world.order("cursor", "user"), true);
    expect(readFileSync(join(world.user, ".cursor", "mcp.json"), "utf8")).toContain("--project");
    uninstall(world.order("cursor", "user"));
    expect(world.snapshot()).toEqual(before);
  });

  test("nothing is uninstalled that was not installed", () => {
    expect(() => uninstall(world.order("codex", "user"))).toThrow("is not installed in Codex for you");
  });
});

describe("after the person has changed things", () => {
  test("exactly our part goes", () => {
    const order = world.order("claude-code", "user");
    const file = world.write(join(world.user, ".claude", "settings.json"), '{\n    "model": "opus"\n}\n');
    install(order);
    const changed = readFileSync(file, "utf8")
      .replace('"opus"', '"sonnet"')
      .replace('"Stop": [', '"Stop": [\n            { "mine": true },');
    writeFileSync(file, changed);
    uninstall(order);
    expect(readFileSync(file, "utf8")).toBe(
      '{\n    "model": "sonnet",\n    "hooks": {\n        "Stop": [\n            { "mine": true }\n        ]\n    }\n}\n',
    );
  });

  test("a file we made stays if it holds something of theirs, with what it needs", () => {
    const order = world.order("cursor", "user");
    install(order);
    const file = join(world.user, ".cursor", "hooks.json");
    const mine = JSON.parse(readFileSync(file, "utf8")) as { hooks: Record<string, unknown[]> };
    mine.hooks.stop!.push({ command: "say done" });
    writeFileSync(file, JSON.stringify(mine, undefined, 2));
    uninstall(order);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ version: 1, hooks: { stop: [{ command: "say done" }] } });
  });

  test("installed again over their changes, uninstalling still leaves just those", () => {
    const order = world.order("gemini", "project");
    const file = world.write(join(world.project, ".gemini", "settings.json"), '{ "a": 1 }\n');
    install(order);
    writeFileSync(file, readFileSync(file, "utf8").replace('"a": 1', '"a": 2'));
    install({ ...order, version: "2.0.0" });
    uninstall(order);
    expect(readFileSync(file, "utf8")).toBe('{ "a": 2 }\n');
  });

  test("a copy of their changes to a file of ours is kept", () => {
    const order = world.order("codex", "user");
    install(order);
    writeFileSync(join(world.user, ".agents", "skills", "butler-memory", "SKILL.md"), "better words");
    const { copies } = uninstall(order);
    expect([...copies.keys()].map((path) => readFileSync(path, "utf8"))).toEqual(["better words"]);
    expect(world.snapshot()["person/.agents/"]).toBeUndefined();
  });

  test("a file that was taken away is made anew", () => {
    const order = world.order("opencode", "user");
    install(order);
    const file = join(world.user, ".config", "opencode", "plugins", "butler-memory.js");
    unlinkSync(file);
    expect(agentStatus(order.places, "").find(({ agent }) => agent === "opencode")?.installed[0]?.complete).toBe(false);
    expect(install(order).writes.map(({ path }) => path)).toEqual([file]);
    expect(agentStatus(order.places, "").find(({ agent }) => agent === "opencode")?.installed[0]?.complete).toBe(true);
  });
});

describe("how files are written", () => {
  test("through a link, with the mode they had, and not at all when nothing changes", () => {
    const real = world.write(join(world.root, "dotfiles", "claude.json"), '{"a": 1}');
    chmodSync(real, 0o600);
    mkdirSync(join(world.user, ".claude"));
    const link = join(world.user, ".claude", "settings.json");
    symlinkSync(real, link);
    const before = world.snapshot();
    const order = world.order("claude-code", "user");
    install(order);
    expect(world.snapshot()["person/.claude/settings.json"]).toBe(`-> ${real}`);
    expect(statSync(real).mode & 0o777).toBe(0o600);
    expect(readFileSync(real, "utf8")).toContain("claude-code SessionEnd");
    utimesSync(real, 1000, 1000);
    install(order);
    expect(statSync(real).mtimeMs).toBe(1_000_000);
    uninstall(order);
    expect(world.snapshot()).toEqual(before);
  });

  test("a link that leads nowhere is refused", () => {
    mkdirSync(join(world.user, ".claude"));
    symlinkSync(join(world.root, "gone"), join(world.user, ".claude", "settings.json"));
    expect(() => install(world.order("claude-code", "user"))).toThrow("leads nowhere");
  });

  test.each([...AGENT_NAMES])("%s: nothing is written through a link that leaves the project", (agent) => {
    const order = world.order(agent, "project");
    const plain = install(order).writes.map(({ path }) => path);
    uninstall(order);
    const outside = join(world.root, "outside");
    for (const path of plain) {
      for (let linked = path; linked !== world.project; linked = dirname(linked)) {
        const file = world.write(join(outside, "file"), "{}");
        mkdirSync(dirname(linked), { recursive: true });
        symlinkSync(linked === path ? file : outside, linked);
        const before = world.snapshot();
        expect(() => install(order)).toThrow(/leads out of the project.*Nothing was changed/);
        expect(() => install(order, true)).toThrow("leads out of the project");
        expect(world.snapshot()).toEqual(before);
        for (const folder of [world.project, outside]) rmSync(folder, { recursive: true });
        mkdirSync(world.project);
      }
    }
  });

  test("a link that was put there after the installation leads no uninstall out of the project", () => {
    const order = world.order("claude-code", "project");
    install(order);
    const folder = join(world.project, ".claude");
    renameSync(folder, join(world.root, "moved"));
    symlinkSync(join(world.root, "moved"), folder);
    const before = world.snapshot();
    expect(() => uninstall(order)).toThrow("leads out of the project");
    expect(world.snapshot()).toEqual(before);
  });

  test("a link inside the project is followed", () => {
    const order = world.order("claude-code", "project");
    const real = world.write(join(world.project, "settings", "claude.json"), "{}");
    mkdirSync(join(world.project, ".claude"));
    symlinkSync(real, join(world.project, ".claude", "settings.json"));
    install(order);
    expect(readFileSync(real, "utf8")).toContain("claude-code SessionEnd");
  });

  test("what is no file is refused without a look inside", () => {
    const settings = join(world.project, ".claude", "settings.json");
    mkdirSync(settings, { recursive: true });
    expect(() => install(world.order("claude-code", "project"))).toThrow("is no file");
  });

  test("Codex is asked for no more time than it gives", () => {
    install(world.order("codex", "user"));
    const { hooks } = JSON.parse(readFileSync(join(world.user, ".codex", "hooks.json"), "utf8")) as {
      hooks: Record<string, { hooks: { timeout: number }[] }[]>;
    };
    const seconds = Object.entries(hooks).map(([event, [group]]) => [event, group?.hooks[0]?.timeout]);
    expect(Object.fromEntries(seconds)).toEqual({ SessionStart: 5, UserPromptSubmit: 5, Stop: 5, SessionEnd: 3 });
  });

  test("a byte order mark, a blank file and CRLF survive", () => {
    const order = world.order("cursor", "user");
    world.write(join(world.user, ".cursor", "mcp.json"), '\uFEFF{\r\n  "a": 1\r\n}\r\n');
    world.write(join(world.user, ".cursor", "hooks.json"), "\n");
    const before = world.snapshot();
    install(order);
    expect(readFileSync(join(world.user, ".cursor", "mcp.json"), "utf8")).not.toMatch(/[^\r]\n/);
    uninstall(order);
    expect(world.snapshot()).toEqual(before);
  });

  test("the agents' own variables move their settings", () => {
    const moved = makeWorld({
      CLAUDE_CONFIG_DIR: join(world.root, "c"),
      CODEX_HOME: join(world.root, "x"),
      XDG_CONFIG_HOME: join(world.root, "g"),
    });
    for (const agent of ["claude-code", "codex", "opencode"] as const) install(moved.order(agent, "user"));
    for (const path of ["c/.claude.json", "x/config.toml", "g/opencode/opencode.json"])
      expect(world.snapshot()[path]).toContain("butler-memory");
    moved.end();
  });

  test("two scopes of one agent do not disturb each other", () => {
    const before = world.snapshot();
    for (const scope of ["user", "project"] as const) install(world.order("codex", scope));
    expect(installFolder(world.order("codex", "user").places, "codex", "project")).not.toBe(
      installFolder(world.order("codex", "user").places, "codex", "user"),
    );
    for (const scope of ["project", "user"] as const) uninstall(world.order("codex", scope));
    expect(world.snapshot()).toEqual(before);
  });
});
