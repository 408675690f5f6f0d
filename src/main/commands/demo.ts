import type { CommandModule } from "../program/command.ts";
import { runLab } from "../program/run-lab.ts";

export const usage = `butler demo [year] [--butler <name>] [--home <folder>] [--keep] [--json]

Lives six weeks of a butler in a few seconds, with the real store, model and tools and a clock that jumps: facts that
change, rules that prove themselves or turn into warnings, secrets that are taken out, things that are forgotten.
"butler demo year" moves the clock through 365 days, runs the jobs each night and shows what faded, rose and went.
It happens in a throw-away home; --keep leaves it there, --home says where (a folder without memories of that butler).`;

export const run: CommandModule["run"] = (args) => runLab(["demo", ...args]);
