/** Set-up of the projects whose tests kill scripts of `test/support`. */
import { compileVictims } from "../compiled.ts";

export function setup(): void {
  compileVictims();
}
