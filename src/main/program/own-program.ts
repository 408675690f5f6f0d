/** `butler own` as clients start it. The build makes a few files of this and of all that it imports: 800 files take a quarter of a second of CPU time more. */
import { run, usage } from "../commands/own.ts";
import { runProgram } from "./run-program.ts";

const own = { run, usage };
await runProgram({ command: async () => own, otherwise: async () => 2 }, process.argv.slice(2));
