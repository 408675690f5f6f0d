/** Set-up of the projects whose tests open stores and models, or kill scripts of `test/support`. */
import { compileScripts } from "../compiled.ts";
import { once } from "./once.ts";

export async function setup(): Promise<void> {
  await once("scripts", compileScripts);
}
