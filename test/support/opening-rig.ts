/** Openings kept in a home as an owner keeps them, and the installed script that tells them. */
import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, vi } from "vitest";
import { type AgentName, HOOK_DIALECTS } from "../../src/hosts/hooks/dialects.ts";
import { encodeGiven, type Opening, openingFile, writeOpening } from "../../src/hosts/openings/opening-file.ts";
import { rootPlace } from "../../src/hosts/projects/project.ts";
import { type HookRig, hookRig, type Ran, type RunOptions } from "./hook-script.ts";
import { PATIENCE } from "./patience.ts";

export const IDS = ["0190a5b4-7c1e-7a3b-8c2d-000000000001", "0190a5b4-7c1e-7a3b-8c2d-000000000002"];
export const TEXT = "<butler-memory>\n# Always\n- Ada drinks green tea\n</butler-memory>\n";
export const OWN = "<butler-memory>\n- Ada lives in Oslo\n</butler-memory>\n";
export const QUIET = { code: 0, stdout: "", stderr: "" };
export const SLOW = { code: 0, stdout: '{"slow":true}\n', stderr: "" };
/** When the event was. */
export const SECONDS: string = expect.stringMatching(/^\d{10}$/);
export const GONE = ["--gone", SECONDS, "--given", encodeGiven({ ids: IDS, tokens: 42 })];

export interface Event {
  readonly agent?: AgentName;
  readonly moment?: "start" | "prompt";
  readonly session?: string;
  readonly folder?: string;
  readonly source?: string | undefined;
  readonly prompt?: string;
}

export interface OpeningRig {
  readonly rig: HookRig;
  /** A folder without a repository; events come from it unless they name another one. */
  readonly project: string;
  /** Keeps an opening as an owner does; `root` undefined is the butler's own. */
  keep(root: string | undefined, more?: Partial<Opening>, butler?: string): string;
  /** An event with the fields that the dialects read, in the order in which the agents send them. */
  fire(told?: Event, options?: RunOptions): Promise<Ran>;
  /** What the slow way was called with, beside the event. */
  slowArgs(): string[][];
  /** Waits until it was called so often, and with that. */
  handedOver(args: readonly string[][]): Promise<unknown>;
}

export function makeFolder(path: string): string {
  mkdirSync(path, { recursive: true });
  return path;
}

export function repository(folder: string): string {
  makeFolder(join(folder, ".git", "objects"));
  writeFileSync(join(folder, ".git", "HEAD"), "ref: refs/heads/main\n");
  writeFileSync(join(folder, ".git", "config"), "[core]\n");
  return folder;
}

export const eventOf = (agent: AgentName, moment: string): string =>
  Object.entries(HOOK_DIALECTS[agent].events).find(([, one]) => one === moment)?.[0] ?? "";

/** What a run printed when it told this text. */
export const told = (context: string) => ({
  code: 0,
  stdout: expect.stringContaining(JSON.stringify(context).slice(1, -1)),
  stderr: "",
});

/** A new one for each test of the file. */
export function openingRig(): OpeningRig {
  let rig: HookRig;
  let project: string;
  beforeEach(() => {
    rig = hookRig();
    project = makeFolder(join(realpathSync(rig.world.root), "work", "app"));
    for (const name of ["spool", "run"]) mkdirSync(join(rig.root, name), { mode: 0o700 });
    mkdirSync(rig.home.store("general"), { recursive: true });
  });
  afterEach(() => rig.end());
  const slowArgs = () => rig.slowCalls().map(({ args }) => args.slice(5));
  return {
    get rig() {
      return rig;
    },
    get project() {
      return project;
    },
    keep(root, more = {}, butler = "general") {
      const place = root === undefined ? undefined : rootPlace(root);
      const file = openingFile(rig.home, butler, place?.root);
      if (file === undefined) throw new Error(`no opening can be kept for ${root}`);
      const text = root === undefined ? OWN : TEXT;
      const usual = { roster: undefined, after: [], needs: [rig.home.store("general")] };
      // A moment later than what the test has just written.
      const began = new Date(Date.now() + 1_000);
      writeOpening(file, { text, ids: IDS, tokens: 42, place, began, ...usual, ...more });
      return file;
    },
    fire(event = {}, options = {}) {
      const { agent = "claude-code", moment = "start", session = "s-1", folder = project } = event;
      const name = eventOf(agent, moment);
      const where =
        agent === "cursor"
          ? { conversation_id: session, workspace_roots: [folder] }
          : { session_id: session, transcript_path: "/t.jsonl", cwd: folder, hook_event_name: name };
      const source = "source" in event ? event.source : agent === "cursor" ? undefined : "startup";
      const prompt = event.prompt ?? "why is the build red";
      const input = { ...where, ...(moment === "start" ? { source } : { prompt }) };
      return rig.run({ agent, event: name, input: JSON.stringify(input), ...options });
    },
    slowArgs,
    handedOver: (args) => vi.waitFor(() => expect(slowArgs()).toEqual(args), PATIENCE),
  };
}
