/** A small machine for installers: a person's folder, a project, and everything on its disk as one value. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { homeAt } from "../../src/daemon/home.ts";
import type { AgentName } from "../../src/hosts/hooks/dialects.ts";
import { placesOf } from "../../src/hosts/install/agents/agents.ts";
import type { InstallRequest, Scope } from "../../src/hosts/install/plan.ts";

/** Taken now: a test may go elsewhere. */
const templates = resolve("plugins");

export interface World {
  readonly root: string;
  readonly user: string;
  readonly project: string;
  order(agent: AgentName, scope: Scope, more?: Partial<InstallRequest>): InstallRequest;
  write(path: string, text: string): string;
  snapshot(): Record<string, string>;
  end(): void;
}

export function makeWorld(variables: Record<string, string> = {}): World {
  const root = mkdtempSync(join(tmpdir(), "install-"));
  const user = join(root, "person");
  const project = join(root, "project");
  for (const folder of [user, project]) mkdirSync(folder);
  const places = placesOf(homeAt(join(user, ".butler")), user, project, variables);
  return {
    root,
    user,
    project,
    order: (agent, scope, more) => ({
      agent,
      scope,
      butler: "general",
      places,
      program: { node: process.execPath, entry: "/opt/it's here/butler.js" },
      version: "1.0.0",
      templates,
      ...more,
    }),
    write(path, text) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
      return path;
    },
    snapshot: () => Object.fromEntries(walk(root, "")),
    end: () => rmSync(root, { recursive: true, force: true }),
  };
}

function* walk(root: string, path: string): Generator<[string, string]> {
  const place = join(root, path);
  if (!existsSync(place)) return;
  const found = lstatSync(place);
  const mode = (found.mode & 0o777).toString(8);
  if (found.isSymbolicLink()) yield [path, `-> ${readlinkSync(place)}`];
  else if (!found.isDirectory()) yield [path, `${mode} ${readFileSync(place, "latin1")}`];
  else {
    yield [`${path}/`, mode];
    for (const name of readdirSync(place).sort()) yield* walk(root, join(path, name));
  }
}
