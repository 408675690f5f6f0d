/** The project of a command: the one that was named, that of this folder (`auto`), or none. */
import { projectOf } from "../../hosts/projects/project.ts";
import type { Environment } from "../environment.ts";

export function chosenProject(asked: string | undefined, environment: Environment): string | undefined {
  if (asked === "none" || (asked === undefined && environment.project === undefined)) return undefined;
  return projectOf(process.cwd(), asked === "auto" || asked === undefined ? environment.project : asked).key;
}
