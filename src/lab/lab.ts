/**
 * The program behind `butler bench` and `butler demo`: measurements and demonstrations, started as a process of its own and loaded
 * by nothing else. It stands above the commands, whose parts (options, progress, opening a store) it uses.
 */
import type { CommandModule } from "../main/program/command.ts";
import { runProgram } from "../main/program/run-program.ts";

const commands: Readonly<Record<string, () => Promise<CommandModule>>> = {
  bench: () => import("./bench.ts"),
  demo: () => import("./demo/demo.ts"),
};

await runProgram(
  {
    command: async (name) => (Object.hasOwn(commands, name) ? commands[name]?.() : undefined),
    otherwise: async (name) => {
      throw new Error(`The lab has no command "${name}".`);
    },
  },
  process.argv.slice(2),
);
