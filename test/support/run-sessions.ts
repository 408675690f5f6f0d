/** A stage for `butler run`: two scripted agents on the PATH, rosters, and a home for what agents keep. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { butler, cleanUp, type Ended, type Variables } from "./owner-processes.ts";
import { type ScriptedAgent, type Start, scriptedAgent } from "./scripted-agent.ts";

export const BUTLER = fileURLToPath(new URL("../../dist/main/butler.js", import.meta.url));
export const TOML = '[butler]\nname = "general"\n[modules.memory]\n';

export interface Stage {
  readonly scratch: string;
  readonly agent: ScriptedAgent;
  readonly helper: ScriptedAgent;
  variables(more?: Variables): Variables;
  run(home: string, args: readonly string[], more?: Variables): Promise<Ended>;
  /** How the last one was started first. */
  firstStart(of?: ScriptedAgent): Start;
  rosterWith(toml: string, instructions?: string): string;
  close(): Promise<void>;
}

export function stage(): Stage {
  const scratch = mkdtempSync(join(tmpdir(), "butler-run-test-"));
  const agent = scriptedAgent("claude");
  const helper = scriptedAgent("helper");
  const variables = (more: Variables = {}) => ({
    PATH: `${agent.bin}:${helper.bin}:${process.env.PATH}`,
    HOME: scratch,
    ...more,
  });
  return {
    scratch,
    agent,
    helper,
    variables,
    run: (home, args, more = {}) => butler(home, ["run", ...args], variables(more)),
    firstStart: (of = agent) => of.starts()[0] as Start,
    rosterWith(toml, instructions) {
      const roster = mkdtempSync(join(scratch, "roster-"));
      mkdirSync(join(roster, "general"));
      writeFileSync(join(roster, "general", "butler.toml"), toml);
      if (instructions !== undefined) writeFileSync(join(roster, "general", "CLAUDE.md"), instructions);
      return roster;
    },
    async close() {
      await cleanUp();
      for (const one of [agent, helper]) one.close();
      rmSync(scratch, { recursive: true, force: true });
    },
  };
}
