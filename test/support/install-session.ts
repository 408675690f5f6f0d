/** A person at the command line of a small machine, anew for each test: their folder is HOME, and they stand in their project. */
import { afterEach, beforeEach } from "vitest";
import { makeWorld, type World } from "../pure/install-world.ts";

const MOVING = ["HOME", "BUTLER_HOME", "BUTLER_ROSTER", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"];

/** `unset`: variables that are taken away beside those that would move settings. Called once, at the top of a file. */
export function atInstallWorld(unset: readonly string[] = []): () => World {
  let world: World;
  const start = process.cwd();
  const names = [...MOVING, ...unset];
  const before = names.map((name) => [name, process.env[name]] as const);
  beforeEach(() => {
    world = makeWorld();
    for (const name of names) delete process.env[name];
    process.env.HOME = world.user;
    process.chdir(world.project);
  });
  // One by one: the system looks at its own list of variables, not at an object put in place of it.
  afterEach(() => {
    process.chdir(start);
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    world.end();
  });
  return () => world;
}
